package import JSON
import Tokens

extension IssuerKeys {
    static let members = ["issuer", "broken", "fetches", "used_spares", "keys"]

    /// The keys as JSON that ``imported(from:_:)`` reads: public parts, and with ``StateExtent/changes`` the private
    /// ones too.
    package func export(_ extent: StateExtent) -> JSON {
        let keys = published.map { entry -> JSON in
            var members: JSONObject = [
                "kid": JSON(entry.key.id), "role": .string(entry.role.rawValue),
                "jwk": entry.key.publicJWK(algorithm: algorithm) ?? .null,
            ]
            if extent == .changes { members["private_key"] = JSON(entry.key.privatePEM) }
            return .object(members)
        }
        var record: JSONObject = ["issuer": .string(name), "broken": .bool(isBroken), "fetches": JSON(fetchCount)]
        if usedSpares > 0 { record["used_spares"] = JSON(usedSpares) }
        record["keys"] = .array(keys)
        return .object(record)
    }

    /// These keys as an export describes them; a key without its private part must be known here.
    ///
    /// - Throws: the first problem with the export, such as a key whose private part is unknown.
    package func imported(from node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> IssuerKeys {
        let record = try node.mapping(Self.members)
        var (signing, next, old): (SigningKey?, SigningKey?, SigningKey?) = (nil, nil, nil)
        let entries = try record.required("keys")
        for element in try entries.elements(atMost: 18) {
            let entry = try element.mapping("kid", "role", "jwk", "private_key")
            let role = try entry.required("role").choice(of: Published.Role.self)
            // Earlier releases kept sixteen old keys, latest first.
            if role == .old, old != nil { continue }
            let key = try key(entry)
            switch role {
            case .signing:
                if signing != nil { throw element.problem("a second key that signs; expected one") }
                signing = key
            case .next:
                if next != nil { throw element.problem("a second key that signs next; expected one at most") }
                next = key
            case .old: old = key
            }
        }
        guard let signing else { throw entries.problem("no key has the role signing") }
        var keys = self
        try keys.replace(
            signing: signing, next: next, old: old, isBroken: record["broken"]?.bool() ?? isBroken,
            fetchCount: record["fetches"]?.int(in: 0...Ordinal.largest) ?? fetchCount,
            usedSpares: record["used_spares"]?.int(in: 0...Ordinal.largest) ?? 0)
        return keys
    }

    private func key(_ entry: FixtureMapping) throws(FixtureProblem) -> SigningKey {
        let name = try entry.required("kid")
        let id = try name.json().isNull ? nil : try name.string()
        guard let text = entry["private_key"] else { return try known(id, entry["jwk"], name) }
        let pem = try text.string()
        do throws(KeyError) {
            var key = try SigningKey.pem(pem)
            key.id = id
            return key
        } catch {
            throw text.problem("is not a private key in PEM: \(error)")
        }
    }

    /// The known key with that public part, since a drill may have given its id to another one; without a public part
    /// the one with that id.
    private func known(
        _ id: String?, _ jwk: FixtureNode?, _ name: FixtureNode
    ) throws(FixtureProblem) -> SigningKey {
        let thumbprint = try jwk?.publicKey()?.thumbprint
        let found = known.first { key in
            if let thumbprint { return key.thumbprint == thumbprint }
            return key.id.map(ExactText.init) == id.map(ExactText.init)
        }
        guard var found else {
            throw name.problem("no private key of the name \(id ?? "null") is known, and the export has none")
        }
        found.id = id
        return found
    }
}

extension FixtureNode {
    /// The key of a public JWK; `nil` for `null`.
    fileprivate func publicKey() throws(FixtureProblem) -> VerificationKey? {
        let value = try json()
        if value.isNull { return nil }
        do throws(KeyError) {
            return try VerificationKey.jwk(value)
        } catch {
            throw problem("is not a public key as a JWK: \(error)")
        }
    }
}
