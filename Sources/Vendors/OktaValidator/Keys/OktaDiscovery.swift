import Emulation
import JSON
import Tokens

/// Finds a key by the issuer's discovery document.
///
/// Source: documented, validator page; that status and content type are unread, observed, jwt.
struct OktaDiscovery: Sendable {
    /// The issuer without a slash at its end.
    let issuer: String
    let profile: BehaviourProfile
    let fetch: OktaKeys.Fetch

    func document() async throws(OktaKeyProblem) -> JSONObject {
        try await object(at: issuer + "/.well-known/openid-configuration", orFail: .noWellKnown)
    }

    /// The published key with that name.
    func key(named kid: String) async throws(OktaKeyProblem) -> VerificationKey {
        let document = try await document()
        guard let url = document["jwks_uri"]?.string else {
            throw OktaKeyProblem(.noKeysURL, "the discovery document of \(issuer) has no jwks_uri")
        }
        let set = try await object(at: url, orFail: .noKey)
        guard let entries = set["keys"]?.array else {
            throw OktaKeyProblem(.noKey, "\(url) has no array “keys”")
        }
        for (index, entry) in entries.enumerated() {
            if profile == .observed { try checkStrings(of: entry, index, at: url) }
            guard let name = entry["kid"]?.string, name.hasSameBytes(as: kid) else { continue }
            do throws(KeyError) {
                return try VerificationKey.okta(entry, id: kid, profile)
            } catch {
                throw OktaKeyProblem(.key, "the key \(JSON.string(kid).text) of \(url) cannot be used: \(error)")
            }
        }
        throw OktaKeyProblem(.noKey, "\(url) has no key \(JSON.string(kid).text.prefix(200))")
    }

    /// The shipped library casts each entry up to the one that it wants to a dictionary of strings.
    private func checkStrings(of entry: JSON, _ index: Int, at url: String) throws(OktaKeyProblem) {
        let other = entry.object.map { $0.first { $0.value.string == nil }?.name }
        guard let name = other ?? "entry" else { return }
        var problem = OktaKeyProblem(
            .noKey, "\(name) of key \(index) of \(url) is not a string: the shipped library stops the app here")
        problem.stopsShippedApp = true
        throw problem
    }

    private func object(at url: String, orFail failure: OktaTokenFailure) async throws(OktaKeyProblem) -> JSONObject {
        switch await fetch(KeyRequest(url: url)) {
        case .failed(let problem):
            let named: OktaTokenFailure =
                switch problem {
                case .slow, .connectionLost: .offline
                default: failure
                }
            throw OktaKeyProblem(named, "GET \(url): \(problem)")
        case .answered(let status, _, let body):
            if profile == .documented, status.code != 200 {
                throw OktaKeyProblem(failure, "GET \(url): \(KeyFetchProblem.status(status.code))")
            }
            guard body.count <= KeyRequest.longestBody else {
                throw OktaKeyProblem(failure, "GET \(url): \(KeyFetchProblem.tooLarge)")
            }
            do throws(JSONError) {
                if let object = try JSON.parse(body).object { return object }
            } catch {
                throw OktaKeyProblem(failure, "GET \(url): \(KeyFetchProblem.notJSON("\(error)"))")
            }
            throw OktaKeyProblem(failure, "GET \(url): \(KeyFetchProblem.otherForm("an object"))")
        }
    }
}

extension VerificationKey {
    /// The RSA key of a JWK; only `kty`, `n` and `e` are read, and in the observed profile only the numbers.
    static func okta(_ jwk: JSON, id: String?, _ profile: BehaviourProfile) throws(KeyError) -> VerificationKey {
        let read = ["kty", "n", "e"]
        // Repeated members stay, so that they are refused.
        var members = JSONObject(
            (jwk.object ?? [:]).filter { read.contains($0.name) }.map { ($0.name, $0.value) })
        if profile == .observed {
            members["kty"] = "RSA"
            for name in ["n", "e"] {
                guard let bytes = members[name]?.string.flatMap({ Base64URL.decodeLeniently($0.utf8) }) else {
                    continue
                }
                members[name] = .string(Base64URL.encode(bytes))
            }
        }
        guard let type = members["kty"] else { throw .member("kty", "is absent") }
        guard type.string?.hasSameBytes(as: "RSA") == true else { throw .member("kty", "is \(type.text), not \"RSA\"") }
        var key = try Self.jwk(.object(members))
        key.id = id
        return key
    }
}
