public import JSON
import Tokens

extension IssuerKeys {
    /// The keys as JSON that ``imported(from:_:)`` reads: public parts, and with ``StateExtent/changes`` the private
    /// ones too.
    public func export(_ extent: StateExtent) -> JSON {
        let keys = published.map { entry -> JSON in
            var members: JSONObject = [
                "kid": JSON(entry.key.id), "role": .string(entry.role.rawValue),
                "jwk": entry.key.publicJWK(algorithm: algorithm) ?? .null,
            ]
            if extent == .changes { members["private_key"] = JSON(entry.key.privatePEM) }
            return .object(members)
        }
        return ["issuer": .string(name), "broken": .bool(isBroken), "fetches": JSON(fetchCount), "keys": .array(keys)]
    }

    /// These keys as an export describes them; a key without its private part is one of these, found by its id.
    ///
    /// - Throws: the first problem with the export, such as a key whose private part is unknown.
    public func imported(from node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> IssuerKeys {
        let record = try node.mapping("issuer", "broken", "fetches", "keys")
        var (signing, next, old): (SigningKey?, SigningKey?, [SigningKey]) = (nil, nil, [])
        let entries = try record.required("keys")
        for element in try entries.elements() {
            let entry = try element.mapping("kid", "role", "jwk", "private_key")
            let key = try key(entry)
            switch try entry.required("role").choice(of: Published.Role.self) {
            case .signing:
                if signing != nil { throw element.problem("a second key that signs; expected one") }
                signing = key
            case .next:
                if next != nil { throw element.problem("a second key that signs next; expected one at most") }
                next = key
            case .old: old.append(key)
            }
        }
        guard let signing else { throw entries.problem("no key has the role signing") }
        var keys = self
        try keys.replace(
            signing: signing, next: next, old: old, isBroken: record["broken"]?.bool() ?? isBroken,
            fetchCount: record["fetches"]?.int(in: 0...Ordinal.largest) ?? fetchCount)
        return keys
    }

    private func key(_ entry: FixtureMapping) throws(FixtureProblem) -> SigningKey {
        let name = try entry.required("kid")
        let id = try name.json().isNull ? nil : try name.string()
        guard let text = entry["private_key"] else {
            guard let known = published.first(where: { $0.key.id == id })?.key else {
                throw name.problem("no private key of the name \(id ?? "null") is known, and the export has none")
            }
            return known
        }
        let pem = try text.string()
        do throws(KeyError) {
            var key = try SigningKey.pem(pem)
            key.id = id
            return key
        } catch {
            throw text.problem("is no private key in PEM: \(error)")
        }
    }
}
