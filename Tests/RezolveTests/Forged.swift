import JSON
import Tokens

/// Tokens with freely chosen text, for what no minting call would make.
enum Forged {
    /// The header of a login JWT.
    static let loginHeader = #"{"auth":"v2","alg":"HS512","typ":"JWT"}"#
    /// The header of a registration JWT.
    static let registrationHeader = #"{"alg":"HS512","typ":"JWT"}"#

    /// A token with these two JSON texts, correctly signed with that secret.
    static func token(
        secret: String = Example.secret, header: String = loginHeader, claims: String
    ) throws -> String {
        try token(secret: secret, header: Array(header.utf8), claims: Array(claims.utf8))
    }

    /// A login JWT with these claims, signed with that secret.
    static func token(claims: String, by secret: String) throws -> String { try token(secret: secret, claims: claims) }

    /// A token with these bytes, correctly signed with that secret.
    static func token(secret: String = Example.secret, header: [UInt8], claims: [UInt8]) throws -> String {
        try signed(Base64URL.encode(header) + "." + Base64URL.encode(claims), secret: secret)
    }

    /// Any text followed by its signature.
    static func signed(_ input: String, secret: String = Example.secret) throws -> String {
        let key = try SigningKey.secret(secret)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs512))
    }

    /// Ada's claims; each parameter is JSON text, and `nil` omits the member.
    static func adaClaims(
        entity: String? = #""entity123""#, user: String? = #""user-1001""#, exp: String? = "1800001800",
        device: String? = #""wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a""#
    ) -> String {
        let members = [
            ("rezolve_entity_id", entity), ("partner_entity_id", user), ("exp", exp), ("device_id", device),
        ]
        return "{" + members.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }.joined(separator: ",")
            + "}"
    }

    /// The claims of a registration JWT; each parameter is JSON text.
    static func registrationClaims(user: String = #""user-3001""#, exp: String = "1800001800") -> String {
        adaClaims(entity: #"":NONE:""#, user: user, exp: exp, device: nil)
    }
}
