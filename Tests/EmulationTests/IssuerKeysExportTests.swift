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
