import Expectations
import JSON
import TestKeys
import Testing
import Tokens

/// One way to deceive a verifier: how to make the token, and the check that must fail.
struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let check: String
    let algorithm: Algorithm
    let token: @Sendable (Algorithm) throws -> String

    init(
        _ name: String, _ check: String, _ algorithm: Algorithm = .hs256,
        _ token: @escaping @Sendable (Algorithm) throws -> String
    ) {
        (self.name, self.check, self.algorithm, self.token) = (name, check, algorithm, token)
    }

    var testDescription: String { name }

    static let moment = 1_800_000_000.0
    static let claims: JSONObject = ["sub": "mira", "exp": 1_800_001_800]

    /// The findings of a server that expects this algorithm and its own key.
    func judge() throws -> [Finding] {
        let token = CompactToken(try token(algorithm))
        return token.structure + [
            token.algorithm(is: algorithm), token.type(is: "JWT"), token.critical(),
            token.signature(by: try Self.key(for: algorithm).verificationKey, algorithm: algorithm),
            token.claim("sub", is: .nonEmptyString), token.claim("exp", is: .number),
            token.expiry(at: Self.moment, leeway: 0),
        ]
    }

    static func key(for algorithm: Algorithm) throws -> SigningKey {
        switch (algorithm.family, algorithm) {
        case (.hmac, _): try .secret("understudy-test-secret-of-thirty-two-bytes-and-more")
        case (.rsaPKCS1, _), (.rsaPSS, _): try .pem(TestPEM.rsaPrivate)
        case (.edwards, _): try .pem(TestPEM.edwardsPrivate)
        case (.ecdsa, .es384): try p384.get()
        case (.ecdsa, .es512): try p521.get()
        case (.ecdsa, _): try .pem(TestPEM.ecPrivate)
        }
    }

    private static let p384 = Result { () throws(KeyError) in try SigningKey.generateEC(.p384) }
    private static let p521 = Result { () throws(KeyError) in try SigningKey.generateEC(.p521) }

    /// A valid token with this header and payload text.
    static func sign(header: [UInt8], payload: [UInt8], _ algorithm: Algorithm) throws -> String {
        let input = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
        return "\(input).\(Base64URL.encode(try key(for: algorithm).sign(Array(input.utf8), algorithm: algorithm)))"
    }

    static func sign(_ header: [(String, JSON)], _ algorithm: Algorithm, payload: String? = nil) throws -> String {
        let payload = payload.map { Array($0.utf8) } ?? JSON.object(claims).bytes
        return try sign(header: JSON.object(JSONObject(header)).bytes, payload: payload, algorithm)
    }

    /// A valid token whose parts are changed afterwards.
    static func change(_ algorithm: Algorithm, _ change: ([String]) -> [String]) throws -> String {
        let token = try sign([("alg", .string(algorithm.rawValue))], algorithm)
        return change(token.split(separator: ".").map(String.init)).joined(separator: ".")
    }

    static func expiry(_ text: String) throws -> String {
        try sign([("alg", "HS256")], .hs256, payload: "{\"sub\":\"mira\",\"exp\":\(text)}")
    }

    static let all =
        algorithmAttacks + keyAttacks + signatureAttacks + saltAttacks + encodingAttacks + jsonAttacks + timeAttacks
}

/// A catalogue of attacks that have deceived token verifiers, each with the check that must refuse it.
@Suite("Attacks on verifiers of tokens") struct AttackTests {
    @Test("are refused by the check that names them", arguments: Attack.all) func refused(_ attack: Attack) throws {
        let findings = try attack.judge()
        let failed = findings.filter { $0.outcome == .failed }.map(\.check)
        #expect(failed.contains(attack.check), "failed: \(failed)")
    }

    @Test("have unique names, and the honest token beside each passes every check") func control() throws {
        expect(Set(Attack.all.map(\.name)).count, is: Attack.all.count)
        for algorithm in [Algorithm.hs256, .rs256, .ps256, .es256, .es384, .edDSA] {
            let honest = Attack("honest", "", algorithm) { try Attack.sign([("alg", .string(algorithm.rawValue))], $0) }
            expectEmpty(try honest.judge().filter { $0.outcome != .passed })
        }
        let salted = Attack("honest", "", .ps256) { _ in Attack.rightlySalted }
        expectEmpty(try salted.judge().filter { $0.outcome != .passed })
    }

    @Test("through key references are noted and change nothing", arguments: ["jwk", "jku", "x5u", "x5c"])
    func keyReferences(_ name: String) throws {
        let attacker = try SigningKey.generateEC(.p256)
        var header: JSONObject = ["alg": "ES256"]
        header[name] = name == "jwk" ? attacker.publicJWK() : "https://attacker.example/keys"
        let draft = TokenDraft(header: header, claims: Attack.claims)
        let token = CompactToken(try draft.mint(key: attacker, algorithm: .es256))
        expect(token.keyReferences()?.outcome, is: .noted)
        expect(token.keyReferences()?.found, is: .repeated([name]))
        expect(try token.signature(by: Attack.key(for: .es256).verificationKey, algorithm: .es256).outcome, is: .failed)
        expect(token.signature(by: attacker.verificationKey, algorithm: .es256).outcome, is: .passed)
    }

    @Test(
        "through key names find no key",
        arguments: [
            "../../../../dev/null", "/dev/null", "key-1\u{0}", "key-1' OR '1'='1", "KEY-1", "key-1 ", "",
            "ke\u{79}\u{301}-1", "https://attacker.example/key-1",
        ])
    func keyNames(_ name: String) throws {
        let set = KeySet(keys: [try .secret("understudy-test-secret", id: "key-1")])
        #expect(set.key(withID: "key-1") != nil)
        #expect(set.key(withID: name) == nil)
    }

    @Test(
        "through key names of other types are no names",
        arguments: [1, true, nil, ["key-1"], ["kid": "key-1"]] as [JSON])
    func keyNameTypes(_ name: JSON) throws {
        let token = CompactToken(try Attack.sign([("alg", "HS256"), ("kid", name)], .hs256))
        expect(token.headerMember("kid", is: .nonEmptyString, required: false).outcome, is: .failed)
    }

    @Test("with a public key never count as HMAC, even where the key is asked to") func publicKeyIsNoSecret() throws {
        let key = try Attack.key(for: .rs256)
        let pem = try #require(key.publicPEM)
        for secret in [pem, String(pem.dropLast()), pem.replacing("\n", with: "\r\n")] {
            let forged = try TokenDraft(header: ["alg": "HS256"], claims: Attack.claims)
                .mint(key: .secret(secret), algorithm: .hs256)
            let token = CompactToken(forged)
            for algorithm in Algorithm.allCases {
                expect(token.signature(by: key.verificationKey, algorithm: algorithm).outcome, is: .failed)
            }
            expect(try token.signature(by: .secret(secret), algorithm: .hs256).outcome, is: .passed)
        }
    }
}

/// Signatures of one valid token with the test key, with salt lengths that RFC 7518 section 3.5 does not allow;
/// made with another library, since ours makes none.
extension Attack {
    static let saltAttacks: [Attack] = [
        Attack("PS256 without a salt", "signature", .ps256) { _ in "\(salted).\(noSalt)" },
        Attack("PS256 with a salt of 20 bytes", "signature", .ps256) { _ in "\(salted).\(shortSalt)" },
        Attack("PS256 with the longest salt", "signature", .ps256) { _ in "\(salted).\(longSalt)" },
        Attack("PS256 with another hash in the mask", "signature", .ps256) { _ in "\(salted).\(otherMask)" },
    ]

    /// The same with the correct salt, so that the others fail only for their salt.
    static let rightlySalted = "\(salted).\(rightSalt)"

    private static let salted = "eyJhbGciOiJQUzI1NiJ9.eyJzdWIiOiJtaXJhIiwiZXhwIjoxODAwMDAxODAwfQ"

    private static let noSalt =
        "S8U_Kmb0m62j_vaLXKBlX4Yt2LU280TngvTZgFS1pNXc_Y4Z21GN1WbjkLThnNEDKVZ3F6-p0Ui59o0ZIAI9WhF5vzw23lV3"
        + "dGnMaLYuCEMdpSoomAMrpwFs1cj7mpA4A2bwWHLNioDrdU54x812aCDnC5f80G2FPejydCDGkF-SQ22IrY6rfoNw7rZvNVmf"
        + "-nY79XNNJf3oEXuIKsKm_I5cq3xut7jRQ6xI7DHeprRlQ7ekTL4mBhEQS72UVChoaJDwpTSOlR3DxPwYy1yUZbXqp64nCOMG"
        + "e-9BBie0_Mx0rL2KMlFgKIUS65ozS8zPRSujIzXCC1LrkYiejG1rLg"

    private static let shortSalt =
        "MRkElYHT9PpZPVat_wzQZdVLtAPtcF5gOke0aywi4YPtb-nibiwmDl5owOm_OOQF6JTMHGpmoJ3E8GwPpncx7TV0rZSUTOUF"
        + "X5kyUo-or43ZwVJPq_d7OCaN1fgr5qTw2gjrz4ezYkfOymsYCM6bA29gridBKGW5gN9d7YDUT-H5-jCGdVebPUx6tmUBsazS"
        + "KkJYlVEV_pn3Dc3yJNP1PKqyQYtPnPv_zfSmc03JbLxeBX40L5vOmzq1rbcI7iJgdzjnOCJEuIuNP3RX78pTgLcUvB_j-AAS"
        + "D_Vxe0xATPom8aNF4cf-hJDhQQXiKhPoc0c-Bz7ZFruBBVXNjRyXEA"

    private static let longSalt =
        "gOGTJIRf1ty6kZoO0nga17X3Lg0cKcSEHOV_PgfS0GXlWgSNWK38447tt95ddCoZ09dyxPNT_4LjGBKLix91ikIyNR9ZhnBo"
        + "RP7eJSKXr2AwXN5F2bKQXHX0c53Ed5Z4Jv3aE1Tan4okwXLebZPYNiZ_pj0_JtaDLm9Rm2EcJLtOAiI5OP9mczUXg3PAQ906"
        + "1RwgMom9JoNCWQyDMmBkoQd35kz3FmWtAXkjK0eUCJXePZ1qa0UqKHbHBxDb-nmZ4qJWzUi8oDBbeukhiMPCilAlP0nKRUxF"
        + "Z6PHu7hv5Fm13EVUEq3iTfwXEnMGRoG_WqiwWKOyfFLn5L_yl6F1cQ"

    private static let rightSalt =
        "POt7yhYtvOqrnUHR4C6nyaXRNeWEOrJwGCz5dZiiPAxS9cWCv2y_tn65ivpgF9thXzpm-XpgzNc6gR81c3UrNcfCsz7LvFM7"
        + "mIXWaALExz5drB-inBWyomsDHuCfCDIdwfIzfzuEOCE6OsBF8iFCDNbCNf7sxoKej4RnPnJnP9zOXbyPx0FflWpz9yPM6CF6"
        + "Cdk3eHs_WM4GSCy1JwS2kpXsnvKr-SD-ZCx8neDASYqtZxAws_1KPJ_qhZSUHAuHbD747rvI-_BK-jW2XLoIwSobYpmJ7Z-a"
        + "r37aSZUKq6luwecxlJ5OfJwMo6seyqTFHE2jAMSztb9JVqtmkDfWfA"

    private static let otherMask =
        "OqeBReid9UIfkCVHgeGGpmbnKeTUxYRFFt1xgGROjGEjL97R1FiU1wHuuzdn96YANh3tBmHGdRPMrhbKDyV0mxmjMIe4n7j_"
        + "Nzh7AKLTTLpmFxhhWNIlLCdwPCgGVu9StQAfYBzkHMJOufy1tlIVthSTEQfqB4Tve8MquInM3tmChrQT2QVlbs3Jj-x1kpbT"
        + "Rli8zuoADnrCe15mP7rN__s14P3BmjWNsGV2AwrZZ_JAvTxXsfllUZ3U0ob4CxSLOz7aBxuZKIHyCyEE14mXKtQaZhXqTdGq"
        + "2PDf9RllMtX7O-_07eNCZA_UzF8XcA1YRj5iSMBoNgIZjulicUxYYQ"
}

extension Attack {
    static let algorithmAttacks: [Attack] =
        ["none", "None", "NONE", "nOnE", "none ", " none", "nоne", "", "hs256", "HS256 ", "HS256\u{0}", "HS512"].flatMap
    { name in
        [
            Attack("alg “\(name)” with an empty signature", "algorithm") { _ in try unsigned(name) },
            Attack("alg “\(name)” with a good signature", "algorithm") { try sign([("alg", .string(name))], $0) },
        ]
    } + [
        Attack("alg absent", "algorithm") { try sign([("typ", "JWT")], $0) },
        Attack("alg null", "algorithm") { try sign([("alg", nil)], $0) },
        Attack("alg a number", "algorithm") { try sign([("alg", 256)], $0) },
        Attack("alg an array", "algorithm") { try sign([("alg", ["HS256"])], $0) },
        Attack("alg under another name", "algorithm") { try sign([("ALG", "HS256")], $0) },
        Attack("alg none with the signature stripped", "signature") { _ in try unsigned("none") },
        Attack("typ of another token", "type") { try sign([("alg", "HS256"), ("typ", "at+jwt")], $0) },
        Attack("crit with an unknown extension", "critical") {
            try sign([("alg", "HS256"), ("crit", ["b64"]), ("b64", false)], $0)
        },
        Attack("crit empty", "critical") { try sign([("alg", "HS256"), ("crit", [])], $0) },
        Attack("crit null", "critical") { try sign([("alg", "HS256"), ("crit", nil)], $0) },
    ]

    static let keyAttacks: [Attack] = [
        defect("HS256 with the public key as secret", "algorithm", .rs256, .publicKeyAsSecret),
        defect("HS256 with the public key as secret, as signature", "signature", .rs256, .publicKeyAsSecret),
        defect("HS256 with an EC public key as secret", "signature", .es256, .publicKeyAsSecret),
        defect("HS256 with an Ed25519 public key as secret", "signature", .edDSA, .publicKeyAsSecret),
        defect("signed with another secret", "signature", .hs256, .wrongSecret),
        defect("signed with another RSA key", "signature", .rs256, .wrongKey),
        defect("signed with another EC key", "signature", .es256, .wrongKey),
        defect("signed with another Ed25519 key", "signature", .edDSA, .wrongKey),
        Attack("signed with the key embedded as jwk", "signature", .es256) { _ in
            let attacker = try SigningKey.generateEC(.p256)
            let header: JSONObject = ["alg": "ES256", "jwk": attacker.publicJWK() ?? nil]
            return try TokenDraft(header: header, claims: claims).mint(key: attacker, algorithm: .es256)
        },
        Attack("an RS256 signature under PS256", "signature", .ps256) { _ in try sign([("alg", "PS256")], .rs256) },
        Attack("a PS256 signature under RS256", "signature", .rs256) { _ in try sign([("alg", "RS256")], .ps256) },
        Attack("an RS512 signature under RS256", "signature", .rs256) { _ in try sign([("alg", "RS256")], .rs512) },
        Attack("an HS512 signature under HS256", "signature", .hs256) { _ in try sign([("alg", "HS256")], .hs512) },
        Attack("an ES256 signature under ES384", "signature", .es384) { _ in try sign([("alg", "ES384")], .es256) },
        Attack("an ES512 signature under ES256", "signature", .es256) { _ in try sign([("alg", "ES256")], .es512) },
    ]

    static let signatureAttacks: [Attack] =
        [Algorithm.hs256, .hs384, .hs512, .rs256, .ps256, .es256, .es384, .es512, .edDSA].flatMap(attacks(on:)) + [
            altered("ES256 with r = 0", .es256) { [UInt8](repeating: 0, count: 32) + $0.suffix(32) },
            altered("ES256 with s = 0", .es256) { $0.prefix(32) + [UInt8](repeating: 0, count: 32) },
            altered("ES256 with r = s = the order of the curve", .es256) { _ in order + order },
            altered("ES256 with r = s = 1", .es256) { _ in one + one },
            altered("ES256 in DER", .es256) {
                [0x30, 0x44, 0x02, 0x20] + $0.prefix(32) + [0x02, 0x20] + $0.suffix(32)
            },
            altered("Ed25519 with s beyond the order", .edDSA) { addEdwardsOrder($0) },
            altered("RS256 with the modulus added to nothing", .rs256) { $0.map { _ in 0xFF } },
        ]

    private static func attacks(on algorithm: Algorithm) -> [Attack] {
        let name = algorithm.rawValue
        return [
            altered("\(name) stripped", algorithm) { _ in [] },
            altered("\(name) cut by a byte", algorithm) { $0.dropLast() },
            altered("\(name) cut to a byte", algorithm) { Array($0.prefix(1)) },
            altered("\(name) longer by a zero", algorithm) { $0 + [0] },
            altered("\(name) with a zero in front", algorithm) { [0] + $0 },
            altered("\(name) all zeros", algorithm) { $0.map { _ in 0 } },
            altered("\(name) last bit flipped", algorithm) { $0.dropLast() + [($0.last ?? 0) ^ 1] },
            defect("\(name) first bit flipped", "signature", algorithm, .badSignature),
            defect("\(name) over another payload", "signature", algorithm, .tamperedPayload),
            Attack("\(name) over another header", "signature", algorithm) {
                try change($0) { [Base64URL.encode(Array("{\"alg\":\"\(name)\" }".utf8)), $0[1], $0[2]] }
            },
        ]
    }

    /// A valid token whose signature is changed afterwards.
    private static func altered(
        _ name: String, _ algorithm: Algorithm, _ alter: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Attack {
        Attack(name, "signature", algorithm) { algorithm in
            try change(algorithm) { parts in
                [parts[0], parts[1], Base64URL.encode(alter(Base64URL.decodeLeniently(parts[2].utf8) ?? []))]
            }
        }
    }

    private static func defect(_ name: String, _ check: String, _ algorithm: Algorithm, _ defect: Defect) -> Attack {
        Attack(name, check, algorithm) { algorithm in
            try TokenDraft(header: ["alg": .string(algorithm.rawValue)], claims: claims)
                .mint(key: key(for: algorithm), algorithm: algorithm, defect: defect, at: moment)
        }
    }

    /// A token that names this algorithm and has an empty signature.
    private static func unsigned(_ name: String) throws -> String {
        let parts = try sign([("alg", .string(name))], .hs256).split(separator: ".")
        return "\(parts[0]).\(parts[1])."
    }

    private static let one = [UInt8](repeating: 0, count: 31) + [1]

    /// The order of P-256 (FIPS 186-4 appendix D.1.2.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// The order of Ed25519's group, least significant byte first (RFC 8032 section 5.1).
    private static let edwardsOrder: [UInt8] =
        [0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14]
        + [UInt8](repeating: 0, count: 15) + [0x10]

    /// An equivalent signature if a verifier does not check the range of s (RFC 8032 section 5.1.7 requires the check).
    private static func addEdwardsOrder(_ signature: [UInt8]) -> [UInt8] {
        var result = Array(signature.prefix(32))
        var carry = 0
        for (digit, added) in zip(signature.dropFirst(32), edwardsOrder) {
            let sum = Int(digit) + Int(added) + carry
            result.append(UInt8(sum & 0xFF))
            carry = sum >> 8
        }
        return result
    }
}
