import Expectations
import JSON
import Testing

@testable import Tokens

@Suite("Vectors of the RFCs") struct PublishedVectorTests {
    @Test("verify", arguments: PublishedVector.allCases) func verify(_ vector: PublishedVector) throws {
        let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        let token = CompactToken(vector.token)
        #expect(token.isWellFormed)
        expect(token.algorithm(is: vector.algorithm).outcome, is: .passed)
        expect(token.signature(by: key, algorithm: vector.algorithm).outcome, is: .passed)
    }

    @Test("do not verify with another algorithm", arguments: PublishedVector.allCases)
    func otherAlgorithm(_ vector: PublishedVector) throws {
        let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        let token = CompactToken(vector.token)
        for algorithm in Algorithm.allCases where algorithm != vector.algorithm {
            expect(token.algorithm(is: algorithm).outcome, is: .failed)
            expect(token.signature(by: key, algorithm: algorithm).outcome, is: .failed)
        }
    }

    @Test("do not verify with the key of another vector", arguments: PublishedVector.allCases)
    func otherKey(_ vector: PublishedVector) throws {
        let token = CompactToken(vector.token)
        let own = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        for other in PublishedVector.allCases {
            let key = try VerificationKey.jwk(other.jwk(), acceptsPrivate: true)
            guard try other.jwk()["n"] != vector.jwk()["n"] || key.thumbprint != own.thumbprint else { continue }
            if other == vector { continue }
            expect(token.signature(by: key, algorithm: vector.algorithm).outcome, is: .failed)
        }
    }

    @Test("are signed again to the byte where the algorithm is deterministic") func signAgain() throws {
        for vector in [PublishedVector.a1, .a2, .cookbook4, .edwards] {
            let token = CompactToken(vector.token)
            let jwk = try vector.jwk()
            let key = try SigningKey.jwk(jwk)
            expect(try key.sign(token.signingInput, algorithm: vector.algorithm), is: token.signature)
        }
    }

    @Test("of an unsecured JWS are refused by every key") func unsecured() throws {
        let token = CompactToken(PublishedVector.unsecured)
        #expect(token.isWellFormed)
        for vector in PublishedVector.allCases {
            let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
            expect(token.algorithm(is: vector.algorithm).outcome, is: .failed)
            expect(token.signature(by: key, algorithm: vector.algorithm).outcome, is: .failed)
        }
    }

    @Test("of thumbprints are met") func thumbprints() throws {
        let rsa = try VerificationKey.jwk(JSON.parse(PublishedVector.thumbprintKey.utf8))
        expect(rsa.thumbprint, is: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        let edwards = try VerificationKey.jwk(PublishedVector.edwards.jwk(), acceptsPrivate: true)
        expect(edwards.thumbprint, is: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let secret = try VerificationKey.secret("secret")
        expect(secret.thumbprint, is: nil)
    }
}

/// Test vectors published in RFCs: key (JWK), algorithm and token. The private parts are as public as the RFCs.
enum PublishedVector: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case a1 = "RFC 7515 A.1"
    case a2 = "RFC 7515 A.2"
    case a3 = "RFC 7515 A.3"
    case a4 = "RFC 7515 A.4"
    case cookbook1 = "RFC 7520 4.1"
    case cookbook2 = "RFC 7520 4.2"
    case cookbook3 = "RFC 7520 4.3"
    case cookbook4 = "RFC 7520 4.4"
    case edwards = "RFC 8037 A.4"

    var testDescription: String { rawValue }

    var algorithm: Algorithm {
        switch self {
        case .a1: .hs256
        case .a2: .rs256
        case .a3: .es256
        case .a4: .es512
        case .cookbook1: .rs256
        case .cookbook2: .ps384
        case .cookbook3: .es512
        case .cookbook4: .hs256
        case .edwards: .edDSA
        }
    }

    func jwk() throws -> JSON { try JSON.parse(parts.key.utf8) }

    var token: String { parts.token }

    private var parts: (key: String, token: String) {
        switch self {
        case .a1: (Self.a1Key, Self.a1Token)
        case .a2: (Self.a2Key, Self.a2Token)
        case .a3: (Self.a3Key, Self.a3Token)
        case .a4: (Self.a4Key, Self.a4Token)
        case .cookbook1: (Self.cookbook1Key, Self.cookbook1Token)
        case .cookbook2: (Self.cookbook2Key, Self.cookbook2Token)
        case .cookbook3: (Self.cookbook3Key, Self.cookbook3Token)
        case .cookbook4: (Self.cookbook4Key, Self.cookbook4Token)
        case .edwards: (Self.edwardsKey, Self.edwardsToken)
        }
    }

    /// RFC 7515 A.1
    static let a1Key = """
        {"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9\
        CAow"}
        """

    /// RFC 7515 A.1
    static let a1Token = """
        eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9\
        leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
        """

    /// RFC 7515 A.2
    static let a2Key = """
        {"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPM\
        EzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5\
        rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-D\
        WNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB","d":"Eq5xpGnNCivDflJsRQBXHx\
        1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoV\
        En2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2\
        QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjncz\
        T0QU91p1DhOVRuOopznQ","p":"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3K\
        hooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",\
        "q":"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_Y\
        wD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc","dp":"BwKfV3Akq5_MFZDF\
        ZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb3\
        4MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0","dq":"h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZj\
        eeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS\
        1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU","qi":"IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy\
        26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK\
        0JKSHuLFkuQ3U"}
        """

    /// RFC 7515 A.2
    static let a2Token = """
        eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
        yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt\
        _O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb\
        1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI\
        8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """

    /// RFC 7515 A.3
    static let a3Key = """
        {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue6\
        59LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
        """

    /// RFC 7515 A.3
    static let a3Token = """
        eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
        yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU\
        1Q
        """

    /// RFC 7515 A.4
    static let a4Key = """
        {"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jS\
        fS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh\
        9ubmf63e3kyMj2","d":"AY5pb7A0UFiB3RELSD64fTLOSV_jazdF7fLYyuTw8lOfRhWg6Y6rUrPAxerEzgdRhajnu0ferB0d53v\
        M9mE15j2C"}
        """

    /// RFC 7515 A.4
    static let a4Token = """
        eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2\
        SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXo\
        lLzeO_Jn
        """

    /// RFC 7520 4.1
    static let cookbook1Key = """
        {"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","n":"n4EPtAOCc9AlkeQHPzHStgAbgs7bTZL\
        wUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzc\
        Ee6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZC\
        uEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqg\
        c5gHdrNP5zw","e":"AQAB"}
        """

    /// RFC 7520 4.1
    static let cookbook1Token = """
        eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ\
        1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24\
        ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.MRj\
        dkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wn\
        B-BDkoBwA78185hX-Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadn\
        HXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrDaLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ\
        41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg
        """

    /// RFC 7520 4.2
    static let cookbook2Key = """
        {"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","n":"n4EPtAOCc9AlkeQHPzHStgAbgs7bTZL\
        wUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzc\
        Ee6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZC\
        uEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqg\
        c5gHdrNP5zw","e":"AQAB"}
        """

    /// RFC 7520 4.2
    static let cookbook2Token = """
        eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ\
        1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24\
        ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.cu2\
        2eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo\
        6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTr\
        xUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTO\
        cbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw
        """

    /// RFC 7520 4.3
    static let cookbook3Key = """
        {"kty":"EC","kid":"bilbo.baggins@hobbiton.example","use":"sig","crv":"P-521","x":"AHKZLLOsCOzz5cY97e\
        wNUajB957y-C-U88c3v13nmGZx6sYl_oJXu9A5RkTKqjqvjyekWF-7ytDyRXYgCF5cj0Kt","y":"AdymlHvOiLxXkEhayXQnNCv\
        DX4h9htZaCJN34kfmC6pV5OhQHiraVySsUdaQkAgDPrwQrJmbnX9cwlGfP-HqHZR1"}
        """

    /// RFC 7520 4.3
    static let cookbook3Token = """
        eyJhbGciOiJFUzUxMiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ\
        1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24\
        ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.AE_\
        R_YZCChjn4791jSQCrdPZCNYqHXCTZH0-JZGYNlaAjP2kqaluUIIUnC9qvbu9Plon7KRTzoNEuT4Va2cmL1eJAQy3mtPBu_u_sDD\
        yYjnAMDxXPn7XrT0lw-kvAD890jl8e2puQens_IEKBpHABlsbEPX6sFY8OcGDqoRuBomu9xQ2
        """

    /// RFC 7520 4.4
    static let cookbook4Key = """
        {"kty":"oct","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037","use":"sig","alg":"HS256","k":"hJtXIZ2uSN5\
        kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"}
        """

    /// RFC 7520 4.4
    static let cookbook4Token = """
        eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9.SXTigJlzIGEgZGFuZ2V\
        yb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHl\
        vdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB\
        0by4.s0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0
        """

    /// RFC 8037 A.4
    static let edwardsKey = """
        {"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7T\
        yWQHOg7hcvPapiMlrwIaaPcHURo"}
        """

    /// RFC 8037 A.4
    static let edwardsToken = """
        eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6\
        dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
        """

    /// RFC 7515 A.5
    static let unsecured = """
        eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19y\
        b290Ijp0cnVlfQ.
        """

    /// RFC 7638 section 3.1
    static let thumbprintKey = """
        {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6\
        tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2Qvz\
        qY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2\
        NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-0\
        4-29"}
        """
}
