import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// The documents with which clients find a server's endpoints and keys.
extension Okta {
    /// The query `client_id` is accepted and unread (ref).
    static func describeServer(_ call: inout OktaCall, _ state: inout State, isOAuth: Bool) throws(Refused) -> Reply {
        let server = try server(call)
        if let mistake = addressMistake(call) { call.findings.note(mistake) }
        let lacking: Set<String> = isOAuth ? ["userinfo_endpoint", "id_token_signing_alg_values_supported"] : []
        let document = OktaServerMetadata(server, at: call.arrival.base, call.switches).document
        var response = Response.json(
            .object(JSONObject(document.filter { !lacking.contains($0.name) }.map { ($0.name, $0.value) })))
        // Source: inferred, a lifetime of its own.
        response.fields[.cacheControl] = "max-age=86400, must-revalidate"
        return .respond(response)
    }

    /// Answers with a server's public keys: exactly six members each, since another type stops a documented client.
    static func publishKeys(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let known: IssuerKeys?
        do throws(ControlRefusal) {
            known = try call.vendor.keys(of: server.id, in: state)
        } catch {
            throw Refused(.internalError, because: error.description)
        }
        guard var keys = known else { throw Refused(.asNotFound, ["id": .string(server.id)]) }
        let isServed = keys.fetch() != nil
        state.changedKeys[server.id] = keys
        try Refused.require(
            isServed, .internalError,
            "the drill break has these keys answer 500; expected the drill repair before they are read")
        let entries = keys.published.compactMap { published($0.key, call.switches) }
        // Source: ref; the short one is from the page on key rotation.
        let lifetime =
            switch call.switches.keysCacheControl {
            case .long: "max-age=3832304, must-revalidate"
            case .short: "max-age=60, must-revalidate"
            case .none: "no-cache, no-store"
            }
        return .respond(.json(["keys": .array(entries)]).with(.cacheControl, lifetime))
    }

    private static func published(_ key: SigningKey, _ switches: OktaSwitches) -> JSON? {
        guard let jwk = key.publicJWK(algorithm: .rs256)?.object else { return nil }
        var members: JSONObject = [
            "alg": "RS256", "e": jwk["e"] ?? .null, "n": jwk["n"] ?? .null, "kid": JSON(key.id), "kty": "RSA",
            "use": "sig",
        ]
        if switches.modulusLeadingZero == .on, let text = jwk["n"]?.string,
            let modulus = try? Base64URL.decode(text.utf8)
        {
            members["n"] = .string(Base64URL.encode([0] + modulus))
        }
        if switches.keysExtraMembers == .on {
            members["x5c"] = .array([])
            members["key_ops"] = .array(["verify"])
        }
        return .object(members)
    }
}

/// A server's metadata, in the order of Okta's documents. It names only what is served (ours); names: ref, api.
struct OktaServerMetadata {
    private let issuer: String
    private let endpoints: String
    private let requiresPushedRequests: Bool

    init(_ server: OktaServer, at base: String, _ switches: OktaSwitches) {
        issuer = server.issuer(at: base)
        endpoints = base + server.path + "/v1/"
        requiresPushedRequests = switches.pushRequirement == .all
    }

    static let responseModes = ["query", "fragment", "form_post", "okta_post_message"]
    static let scopes = ["openid", "profile", "email", "address", "phone", "offline_access", "groups", "device_sso"]
    private static let methods = OktaClient.Method.allCases.map(\.rawValue)
    private static let claims = [
        "iss", "ver", "sub", "aud", "iat", "exp", "jti", "auth_time", "amr", "idp", "nonce", "name", "nickname",
        "preferred_username", "given_name", "middle_name", "family_name", "email", "email_verified", "profile",
        "zoneinfo", "locale", "address", "phone_number", "picture", "website", "gender", "birthdate", "updated_at",
        "at_hash", "c_hash",
    ]

    var document: JSONObject {
        var document: JSONObject = [
            "issuer": .string(issuer), "authorization_endpoint": endpoint("authorize"),
            "token_endpoint": endpoint("token"), "userinfo_endpoint": endpoint("userinfo"),
            "jwks_uri": endpoint("keys"),
            "response_types_supported": ["code"], "response_modes_supported": Self.list(Self.responseModes),
            "grant_types_supported": Self.list(OktaGrantType.allCases.map(\.rawValue)),
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": Self.list(Self.scopes),
            "token_endpoint_auth_methods_supported": Self.list(Self.methods),
            "claims_supported": Self.list(Self.claims), "code_challenge_methods_supported": ["S256"],
            "introspection_endpoint": endpoint("introspect"),
            "introspection_endpoint_auth_methods_supported": Self.list(Self.methods),
            "revocation_endpoint": endpoint("revoke"),
            "revocation_endpoint_auth_methods_supported": Self.list(Self.methods),
            "end_session_endpoint": endpoint("logout"), "request_parameter_supported": false,
            "device_authorization_endpoint": endpoint("device/authorize"),
            "pushed_authorization_request_endpoint": endpoint("par"),
        ]
        if requiresPushedRequests { document.append("require_pushed_authorization_requests", true) }
        document.append("dpop_signing_alg_values_supported", Self.list(OktaProof.algorithms.map(\.rawValue)))
        return document
    }

    private func endpoint(_ path: String) -> JSON { .string(endpoints + path) }

    private static func list(_ values: [String]) -> JSON { .array(values.map(JSON.string)) }
}
