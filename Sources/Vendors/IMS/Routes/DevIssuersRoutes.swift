import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// The keys of issuers for which this server signs, published as real issuers publish theirs (ours).
extension IMS {
    /// Answers with the keys as a JWKS (RFC 7517 section 5).
    static func publishKeySet(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        try publish(&call, &state) { keys throws(Refused) in
            ["keys": .array((keys.keySet["keys"]?.array ?? []).map(ordered))]
        }
    }

    /// A public key with its members in the contract's order (ours).
    private static func ordered(_ key: JSON) -> JSON {
        var members = JSONObject()
        for name in ["kty", "alg", "use", "kid", "n", "e"] { members[name] = key[name] }
        return .object(members)
    }

    /// Answers with the keys as a map of ids to self-signed certificates, the way Google publishes Firebase's.
    static func publishCertificates(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        try publish(&call, &state) { keys throws(Refused) in
            var map = JSONObject()
            // A map cannot hold a key without an id.
            for key in keys.published.map(\.key) where key.id != nil {
                guard let certificate = SelfSignedCertificate(of: key, name: key.id ?? "") else {
                    throw Refusal(.serviceUnavailable, because: "no certificate could be made of key \(key)")
                }
                map[key.id ?? ""] = .string(certificate.pem)
            }
            return .object(map)
        }
    }

    private static func publish(
        _ call: inout IMSCall, _ state: inout State, _ body: (IssuerKeys) throws(Refused) -> JSON
    ) throws(Refused) -> Reply {
        let name = call.parameters["name"]
        let found: IssuerKeys?
        do throws(MintRefusal) {
            found = try call.vendor.devKeys(of: name, in: state)
        } catch {
            throw Refusal(.serviceUnavailable, because: error.description)
        }
        guard var keys = found, let issuer = call.vendor.accounts.devIssuer(name) else {
            throw Refusal(
                .issuerNotFound,
                because: "no private key of an issuer \(name) is known here; expected a dev issuer of the fixtures")
        }
        let content = try body(keys)
        guard keys.fetch() != nil else {
            state.store(keys)
            call.findings.note(Finding("dev-issuer", .noted, note: "The drill break has this issuer answer 500."))
            return .respond(.empty(.internalServerError))
        }
        state.store(keys)
        var response = Response.json(content)
        // ours: ten minutes, unless the fixtures say something else.
        response.fields[.cacheControl] = issuer.cacheControl ?? "public, max-age=600"
        return .respond(response)
    }
}
