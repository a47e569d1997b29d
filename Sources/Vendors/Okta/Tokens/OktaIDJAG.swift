import Emulation
import JSON
import Tokens

/// An identity assertion of the org server with which a client gets a token of another server for the same user.
///
/// Source: guide:ai-agent-token-exchange; the claims follow from the failures (codes).
struct OktaIDJAG: Sendable {
    /// The `typ` of its header (observed, pyclient).
    static let type = "oauth-id-jag+jwt"
    static let tokenType = "urn:ietf:params:oauth:token-type:id-jag"
    /// In seconds. Source: codes, its longest lifetime.
    static let lifetime = 300

    let id: String
    let issuer: String
    /// The issuer of the server that it is for.
    let audience: String
    let userID: String
    let clientID: String
    let scopes: [String]
    let issued: Moment

    var claims: JSONObject {
        [
            "jti": .string(id), "iss": .string(issuer), "aud": .string(audience), "sub": .string(userID),
            "client_id": .string(clientID), "scope": .string(scopes.joined(separator: " ")),
            "iat": JSON(issued.wholeSeconds), "exp": JSON(issued.wholeSeconds + Self.lifetime),
        ]
    }

    static func header(_ key: SigningKey) -> JSONObject {
        var header = OktaTokenMaker.header(key)
        header.append("typ", .string(type))
        return header
    }
}
