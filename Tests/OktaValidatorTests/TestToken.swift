import Emulation
import JSON
import Tokens

@testable import OktaValidator

/// The ID and access token of the example world, with changes.
struct TestToken {
    static let now = 1_800_000_000
    static let client = "0oaunderstudynative1"

    var header: JSONObject = ["kid": JSON(TestKey.current.id), "alg": "RS256"]
    var claims: JSONObject

    static var id: TestToken {
        TestToken(claims: [
            "ver": 1, "jti": "ID.1", "iss": .string(TestIssuer.base), "aud": .string(client),
            "sub": "00uunderstudyada0001", "iat": JSON(now), "exp": JSON(now + 3600), "nonce": "n1", "amr": ["pwd"],
        ])
    }

    static var access: TestToken {
        TestToken(claims: [
            "ver": 1, "jti": "AT.1", "iss": .string(TestIssuer.base), "aud": "api://default", "sub": "ada@example.test",
            "iat": JSON(now), "exp": JSON(now + 3600), "cid": .string(client), "uid": "00uunderstudyada0001",
            "scp": ["openid", "profile"],
        ])
    }

    /// The token with another claim, or without it.
    func claim(_ name: String, _ value: JSON?) -> TestToken {
        var token = self
        token.claims[name] = value
        return token
    }

    /// The token with another member of the header, or without it.
    func header(_ name: String, _ value: JSON?) -> TestToken {
        var token = self
        token.header[name] = value
        return token
    }

    /// The token, signed.
    func signed(
        by key: SigningKey = TestKey.current, _ algorithm: Algorithm = .rs256, defect: Defect? = nil
    ) throws -> String {
        try TokenDraft(header: header, claims: claims).mint(
            key: key, algorithm: algorithm, defect: defect, at: Double(Self.now))
    }

    /// The token under the name of a key and signed by it.
    func signedAndNamed(by key: SigningKey, _ algorithm: Algorithm = .rs256) throws -> String {
        try header("kid", JSON(key.id)).header("alg", .string(algorithm.rawValue)).signed(by: key, algorithm)
    }
}

extension OktaValidatorOptions {
    /// Those that the ID token of the example world meets.
    static var id: OktaValidatorOptions {
        OktaValidatorOptions(issuer: TestIssuer.base, audience: TestToken.client, nonce: "n1")
    }

    static var access: OktaValidatorOptions {
        OktaValidatorOptions(issuer: TestIssuer.base, audience: "api://default")
    }

    func with(_ change: (inout OktaValidatorOptions) -> Void) -> OktaValidatorOptions {
        var options = self
        change(&options)
        return options
    }
}

extension OktaTokenValidator {
    /// A validator at a moment, with keys by discovery from an issuer unless others are given.
    init(
        _ options: OktaValidatorOptions = .id, _ profile: BehaviourProfile = .documented,
        issuer: TestIssuer = TestIssuer(), keys: OktaKeys? = nil, at seconds: Int = TestToken.now
    ) {
        self.init(
            options: options, keys: keys ?? .discovery(fetch: issuer.fetch),
            clock: { Moment(unixSeconds: Double(seconds)) }, profile: profile)
    }

    /// The name of the first failure; `nil` for a valid token.
    func failure(of token: String) async -> OktaTokenFailure? {
        do throws(OktaTokenError) {
            _ = try await validate(token)
            return nil
        } catch {
            return error.failure
        }
    }

    /// The error of a token that is not valid.
    func error(of token: String) async -> OktaTokenError? {
        do throws(OktaTokenError) {
            _ = try await validate(token)
            return nil
        } catch {
            return error
        }
    }
}
