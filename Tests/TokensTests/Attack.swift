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

    /// The server's key for an algorithm; all are invented test keys.
    static func key(for algorithm: Algorithm) throws -> SigningKey {
        switch algorithm.family {
        case .hmac: try .secret("understudy-test-secret-of-thirty-two-bytes-and-more")
        case .rsaPKCS1, .rsaPSS: try .pem(TestPEM.rsaPrivate)
        case .edwards: try .pem(TestPEM.edwardsPrivate)
        case .ecdsa:
            switch algorithm {
            case .es384: try p384.get()
            case .es512: try p521.get()
            default: try .pem(TestPEM.ecPrivate)
            }
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

    /// A valid token with another signature.
    static func signature(_ algorithm: Algorithm, _ change: ([UInt8]) -> [UInt8]) throws -> String {
        try Self.change(algorithm) { parts in
            let bytes = Base64URL.decodeLeniently(parts[2].utf8) ?? []
            return [parts[0], parts[1], Base64URL.encode(change(bytes))]
        }
    }

    /// A payload with this text as the value of `exp`.
    static func expiry(_ text: String) throws -> String {
        try sign([("alg", "HS256")], .hs256, payload: "{\"sub\":\"mira\",\"exp\":\(text)}")
    }

    static let all =
        algorithmAttacks + keyAttacks + signatureAttacks + saltAttacks + encodingAttacks + jsonAttacks + timeAttacks
}
