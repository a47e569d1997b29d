import Emulation
import JSON
import Testing
import Tokens

@Suite("Exported issuer keys")
struct IssuerKeysExportTests {
    private func keys() throws -> IssuerKeys {
        var keys = IssuerKeys(
            name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"),
            next: try .generateEC(.p256, id: "second"), spares: [try .generateEC(.p256, id: "third")])
        _ = keys.fetch()
        let drills = [KeyDrill.overlap, .break].map { keys.perform($0, with: nil, IdentifierSource(seed: 1)) }
        #expect(drills == [true, true])
        return keys
    }

    private func node(_ json: JSON) -> FixtureNode { FixtureNode(json, from: "export") }

    @Test("bring every key back with private parts, and name by name without")
    func roundTrip() throws {
        let before = try keys()
        let fresh = IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "else"))
        let after = try fresh.imported(from: node(before.export(.changes)), .changes)
        #expect(after.published.map(\.key.id) == ["second", "third", "first"])
        #expect(after.keySet == before.keySet)
        #expect(after.isBroken && after.fetchCount == 1)
        let whole = before.export(.whole)
        #expect(!whole.text.contains("PRIVATE"))
        #expect(try before.imported(from: node(whole), .whole).keySet == before.keySet)
    }

    @Test("without private parts bring the same keys back, whatever drills have done to their names")
    func sameName() throws {
        let before = try keys()
        let whole = before.export(.whole)
        var later = before
        for drill in [KeyDrill.sameKID, .replace] {
            _ = later.perform(drill, with: try .generateEC(.p256, id: "more"), IdentifierSource(seed: 1))
            #expect(later.keySet != before.keySet)
            #expect(try later.imported(from: node(whole), .whole).keySet == before.keySet)
        }
    }

    @Test("without private parts are read by those who have them, and refused by those with others of the same name")
    func otherKey() throws {
        let signing = try SigningKey.generateEC(.p256, id: "first")
        let fresh = IssuerKeys(name: "plain", algorithm: .es256, signing: signing)
        let same = IssuerKeys(name: "plain", algorithm: .es256, signing: signing)
        let other = IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"))
        #expect(try same.imported(from: node(fresh.export(.whole)), .whole).keySet == fresh.keySet)
        let unknown = #expect(throws: FixtureProblem.self) {
            try other.imported(from: node(fresh.export(.whole)), .whole)
        }
        #expect(unknown?.description.contains("no private key of the name first is known") == true)
        let broken = #expect(throws: FixtureProblem.self) {
            let key: JSON = ["kid": "first", "role": "signing", "jwk": ["kty": "EC"]]
            _ = try fresh.imported(from: node(["issuer": "plain", "keys": [key]]), .whole)
        }
        #expect(broken?.description.contains("keys[0].jwk: is not a public key as a JWK") == true, "\(broken as Any)")
    }

    @Test("draw no spare pair twice", arguments: [StateExtent.changes, .whole])
    func spares(_ extent: StateExtent) throws {
        let spares = try ["third", "fourth"].map { try SigningKey.generateEC(.p256, id: $0) }
        let fresh = IssuerKeys(
            name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"), spares: spares)
        var before = fresh
        _ = before.perform(.replace, with: nil, IdentifierSource(seed: 1))
        // Without private parts an export is read over the keys it came from.
        var after = try (extent == .changes ? fresh : before).imported(from: node(before.export(extent)), extent)
        for drill in [KeyDrill.replace, .replace] {
            #expect(after.mustWait(for: drill) == before.mustWait(for: drill))
            _ = before.perform(drill, with: nil, IdentifierSource(seed: 1))
            _ = after.perform(drill, with: nil, IdentifierSource(seed: 1))
            #expect(after.keySet == before.keySet)
        }
        #expect(after.mustWait(for: .overlap))
        // An earlier state has its spare pairs back.
        let earlier = try after.imported(from: node(fresh.export(.changes)), .changes)
        #expect(!earlier.mustWait(for: .overlap))
    }

    @Test("from releases that did not count spare pairs leave those that are published out")
    func uncountedSpares() throws {
        let spares = try ["second", "third"].map { try SigningKey.generateEC(.p256, id: $0) }
        let fresh = IssuerKeys(
            name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"), spares: spares)
        var before = fresh
        _ = before.perform(.sameKID, with: nil, IdentifierSource(seed: 1))
        var uncounted = before.export(.changes).object ?? [:]
        uncounted["used_spares"] = nil
        var after = try fresh.imported(from: node(.object(uncounted)), .changes)
        #expect(after.export(.changes) == before.export(.changes))
        _ = after.perform(.replace, with: nil, IdentifierSource(seed: 1))
        #expect(after.published.map(\.key.id) == ["third"])
    }

    @Test("from releases that kept sixteen old keys bring back the latest of them")
    func manyOld() throws {
        let fresh = IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first"))
        var many = fresh.export(.changes).object ?? [:]
        let old = try (1...16).map { count -> JSON in
            let key = try SigningKey.generateEC(.p256, id: "old-\(count)")
            return ["kid": JSON(key.id), "role": "old", "private_key": JSON(key.privatePEM)]
        }
        many["keys"] = .array((many["keys"]?.array ?? []) + old)
        let after = try fresh.imported(from: node(.object(many)), .changes)
        #expect(after.published.map(\.key.id) == ["first", "old-1"])
    }

    @Test("without a key that somebody knows are refused")
    func unknownKey() throws {
        let whole = try keys().export(.whole)
        let fresh = IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "else"))
        let problem = #expect(throws: FixtureProblem.self) { try fresh.imported(from: node(whole), .whole) }
        #expect(
            problem?.description.contains("no private key of the name second is known, and the export has none") == true
        )
    }

    @Test("need exactly one key that signs")
    func roles() throws {
        let keys = try keys()
        let key: JSON = ["kid": "first", "role": "signing"]
        #expect(throws: FixtureProblem.self) {
            try keys.imported(from: node(["issuer": "plain", "keys": [key, key]]), .whole)
        }
        #expect(throws: FixtureProblem.self) {
            try keys.imported(from: node(["issuer": "plain", "keys": []]), .whole)
        }
    }
}
