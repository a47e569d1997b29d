import JSON

/// Defects in the key or algorithm.
extension Defect {
    /// Changes key and algorithm, and the header's `alg` if the defect includes it.
    func change(_ order: inout SigningOrder, _ draft: inout TokenDraft) throws(MintError) {
        guard let key = order.key else { return }
        switch self {
        case .noAlgorithm:
            draft.header["alg"] = "none"
            order.key = nil
        case .wrongAlgorithm:
            let other = order.algorithm.neighbor
            draft.header["alg"] = .string(other.rawValue)
            if key.algorithms.contains(other) { order.algorithm = other }
        case .wrongSecret: order.key = try wrongSecret(for: key)
        case .wrongKey: order.key = try wrongKey(for: key)
        case .publicKeyAsSecret:
            guard let text = key.publicPEM else { throw .notApplicable(self, "a secret has no public key") }
            order.key = try secret(Array(text.utf8))
            order.algorithm = order.algorithm.sameHashHMAC
            draft.header["alg"] = .string(order.algorithm.rawValue)
        case .secretBase64Decoded:
            order.key = try decoded(key, "is not base64 text") { Base64URL.decodeLeniently($0) }
        case .secretHexDecoded:
            order.key = try decoded(key, "is not an even number of hexadecimal digits") { Hexadecimal.decode($0) }
        case .expired, .notYetValid, .missing, .tamperedPayload, .badSignature, .truncatedSignature, .paddedBase64,
            .twoParts, .fourParts, .milliseconds, .stringExpiry, .fractionalExpiry:
            break
        }
    }

    private func wrongSecret(for key: SigningKey) throws(MintError) -> SigningKey {
        guard let bytes = key.secretBytes else {
            throw .notApplicable(self, "the key is not a secret but an \(key.kind)")
        }
        // A different text for every secret, but always the same one.
        return try secret(bytes + Array("-but-wrong".utf8))
    }

    private func wrongKey(for key: SigningKey) throws(MintError) -> SigningKey {
        if key.secretBytes != nil { return try wrongSecret(for: key) }
        do {
            let other = try SpareKey.key(like: key.kind)
            guard other.thumbprint != key.thumbprint else {
                throw MintError.notApplicable(self, "the key is itself the one used as the wrong key")
            }
            return other
        } catch let error as MintError {
            throw error
        } catch {
            throw .notApplicable(self, "there is no other \(key.kind)")
        }
    }

    private func decoded(
        _ key: SigningKey, _ problem: String, _ decode: ([UInt8]) -> [UInt8]?
    ) throws(MintError) -> SigningKey {
        guard let bytes = key.secretBytes else {
            throw .notApplicable(self, "the key is not a secret but an \(key.kind)")
        }
        guard let decoded = decode(bytes), !decoded.isEmpty else { throw .notApplicable(self, "the secret \(problem)") }
        return try secret(decoded)
    }

    private func secret(_ bytes: [UInt8]) throws(MintError) -> SigningKey {
        do {
            return try .secret(bytes)
        } catch {
            throw .key(error)
        }
    }
}

extension SigningKey {
    /// The secret; `nil` for a private key.
    var secretBytes: [UInt8]? {
        if case .secret(let key) = material { key.secret } else { nil }
    }
}

extension Algorithm {
    /// Another algorithm, which the same key supports if possible.
    fileprivate var neighbor: Algorithm {
        switch self {
        case .hs256: .hs512
        case .hs384, .hs512: .hs256
        case .rs256: .rs512
        case .rs384, .rs512: .rs256
        case .ps256: .ps512
        case .ps384, .ps512: .ps256
        case .es256: .es384
        case .es384, .es512, .edDSA: .es256
        }
    }

    fileprivate var sameHashHMAC: Algorithm {
        switch hashByteCount {
        case 48: .hs384
        case 64: .hs512
        default: .hs256
        }
    }
}

/// Invented test keys. Every copy of this program has them, so they protect nothing: they sign tokens that should have
/// been signed with another key.
enum SpareKey {
    /// A key of the same kind; for RSA always 2048 bits.
    static func key(like kind: KeyKind) throws(KeyError) -> SigningKey {
        switch kind {
        case .rsa: try .pem(rsa)
        case .ec(.p256): try .pem(p256)
        case .ec(.p384): try .pem(p384)
        case .ec(.p521): try .pem(p521)
        case .ed25519: try .pem(ed25519)
        case .secret: try .secret("understudy-test-key-not-a-secret-and-wrong-as-well")
        }
    }

    /// Invented test key, not a secret.
    private static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC4KlLTu7TXirVO
        Q0xs2wlm6TtEAowHG/t20w4B1h5gj96KF0TIZnEjDEi5IiQhoiJWWXBzCCyXFBcx
        Ba0dsDXgEWdIlyBwFXC2AwndUxOLGshPSdOgiZ3cmXSM6Cb89/ZpKZMy0o0cVfUq
        eAD2PnNJqmNKHNQUeXeMvw5bGE5pBUHHbkFId45bAIE69P+0yhG9nHW7Sh9ogjlR
        MIR+HOShYuWGG6FX8ZIVhhCWmrlSa3tkV1y78h2AG8k64cBlnX16hCZWj686YL+x
        d2kwirjZWRq3hFI5ot97Nh9DlFdBdRsoPCspPxE0a8mD2VvbOgrxEmcAS1+a4nha
        Ln1MZd25AgMBAAECggEAAkg332YUD9KDAyFed/5QJ0vuvsdF14gP8He1tZcJAmlQ
        XPi6rnF623phHMCsGABUtvnAbZDP0yC9CbJd7nvsna/Q350wPL20PzMz89/Gshz2
        vZ0Aeo700DTU3qF66AouB9Uyirunrzu378AVlf599GyZZNz03Apco+mh9TSk38Wq
        on06w8OmYAPKDp8fLaQ+tSqPnaoittOv7LEinJfO+bUVcJTVNE28Elv0GhnhnLST
        bLDuFuM5D80fa9uIWjn+iFHS2zVptQ53MTohk2o+lY6xcImU1G/8sO7Upd8JZb1W
        fpc9J4e9UOJgA7iT6xGqklUjCO8CmiqjeTlw97BpgQKBgQDubiDQsVfux6xiMn0e
        9AUHXceY7lzqY7DKI9Wq82iMBDPj9Z/5p7mt+6X3Q1wTo22PIoiWqLhhaJaFelbg
        J924DrnIp/RAIctbE3UGiutj2btwbIUJWIK6RMld8bRznacO7qG+j5jgntX4zXgD
        W4VaITmBZhoxgeFPtV8UEjbJzwKBgQDFvIO9tD/efQpVwN83g/wJLgRts1xSKNUI
        ANrL8eHF3rLRtDsgT1Nx1t5Vtm+1duyR472biLl6Y4sZQOgD6ZWdbtA/rIu1IiOp
        ar8dw24JitWHo4kt998KNG244rToZ5yGjmyZsxjNfbDuanhttHi0uzggAhnqC9V2
        wvRGYhkp9wKBgCOSxs6cRxRXMj8MbWKa4c0xjsAggDhwW0YthomU+3o4fk16rj2f
        arKsoxx7Lle3wHbkniBsV+YgpqSPljqneAsoF0v60xRmdmLGSmWJgIlLSQ4DAu5c
        CFUmQi0EDPpbATvXGsbFwfdxe1c9wLQviXvjDSNjSnEsgaNU2jSyav49AoGBALXw
        P9N0H3RK3xCKN5iwI14a7k41w1OBaIpFpwwSUmerAiP7zo9rDd9oEgkRpPV2KDQQ
        NWz/v5HCN8GTvCelbFmAFbMQwzd14xRGOPVc1UmIafK04UrfkGSmWvLL/iL8+sPA
        FmLRrJee+AZXBtoCPTImNX0WEdwM6Wut8+8y4e5/AoGBAKnrhppiPTiNtEn+FE4j
        6CXG28x4AxxX6od37WCqtWJHQ/3cW+Umh3IBfCm7VQftoDCFu6mzVAwOfve9itPV
        YMk/9nU3+NwQkvc+Y4EL5lp7pt93BHBpQS4t6w5xZrNPwvXaypds/Ukt0dbEq6KO
        pm2E00cFUDpFuZoXuxQjlT8/
        -----END PRIVATE KEY-----
        """

    /// Invented test key, not a secret.
    private static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/yHBRrl1zik1M4Iq
        jbD8Yo35rn4xaRuUGuAD7e7Dnp+hRANCAAQdxapaZxC4eSEeK0Zl4lVt4bOeM+a4
        TE/rtPkUJmzmMEhiJQymvSSe0u79uavO1bnznAKPqVyyP44CZ5zkKvIT
        -----END PRIVATE KEY-----
        """

    /// Invented test key, not a secret.
    private static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBL2vwZujEsVW32M96z
        CVz8hxdkHXgO1e8cRiLLiSI2TkE0YfMBKUGZ/r0MVuiU19KhZANiAARk+cuVpDUy
        iQzHNSdNPYyZPmZmO+7Z7BuIH6X99ASznAKE6nCZ9q78mMUxxa+idYhMD5nF+4B4
        rkr16rePLbBW44zU15RfK4Iqk9y/yReRkdlBZ/oJn9EIUr8Ecszyufg=
        -----END PRIVATE KEY-----
        """

    /// Invented test key, not a secret.
    private static let p521 = """
        -----BEGIN PRIVATE KEY-----
        MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIAzuCW92UdVRizn5+R
        aiglV2a5WQu5+AsISlgUr6Tk8Rk/ML8WQVukgST5bbRcaTYLirF48IbXKxb5oXdv
        WT3NT5WhgYkDgYYABAAfJCNTq47Fo9Wwg3twiFRQddA2LuK+mKUdLnjW+Sp7sj2H
        YitMj04TjQCAp2iZo2suWo0yC2mOGJMg1PPb7KDcbwDjENjw8kXzUfkG6lP9gAKn
        lbsiAg/r2KWO7pS7GAS6UgNwUtN8RuMawkcpY2g61DnqQRG73uR+X9fsGPALlf4O
        vg==
        -----END PRIVATE KEY-----
        """

    /// Invented test key, not a secret.
    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJvzuNicplYPSh2/d1LgacHo6yzJkLxgiC0HGsiYVi5w
        -----END PRIVATE KEY-----
        """
}
