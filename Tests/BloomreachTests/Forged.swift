import JSON
import Tokens

/// Tokens with freely chosen text, for what no minting call would make.
enum Forged {
    static let customerHeader = #"{"alg":"HS256","typ":"JWT","kid":"privkey-demo-1"}"#
    static let streamHeader = #"{"alg":"HS512","typ":"JWT","kid":"signkey-demo-1"}"#
    static let anaClaims = #"{"sub":{"registered":"ana@example.test"},"exp":1800003600}"#
    static let streamClaims = #"{"exp":1800000900,"ids":{"registered":"ana@example.test"}}"#

    /// A customer token with these two JSON texts, correctly signed with that secret.
    static func customer(
        header: String = customerHeader, claims: String = anaClaims, secret: String = Example.secret,
        _ algorithm: Algorithm = .hs256
    ) throws -> String {
        try signed(header, claims, secret, algorithm)
    }

    /// A stream token with these two JSON texts, correctly signed with that secret.
    static func stream(
        header: String = streamHeader, claims: String = streamClaims, secret: String = Example.streamSecret,
        _ algorithm: Algorithm = .hs512
    ) throws -> String {
        try signed(header, claims, secret, algorithm)
    }

    private static func signed(
        _ header: String, _ claims: String, _ secret: String, _ algorithm: Algorithm
    ) throws -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let key = try SigningKey.secret(secret)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: algorithm))
    }
}
