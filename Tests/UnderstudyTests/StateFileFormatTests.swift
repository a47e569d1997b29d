import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

/// State files of a release, and the consequences of damage to them.
@Suite("State files")
struct StateFileFormatTests {
    /// A file written by a release of the first format, with data of every vendor. Its keys are invented.
    private static let formatOne =
        (try? String(contentsOfFile: Repository.root + "/Tests/UnderstudyTests/States/format-1.json", encoding: .utf8))
        ?? ""

    private static func emulator() throws -> Emulator {
        var settings = Settings()
        // As the file's server was started; the clock is frozen then, so that no session ends in between.
        settings.seed = 7
        return try Emulator(fixtures: Repository.fixtures, settings: settings)
    }

    private static func parsed(_ text: String) throws -> JSON {
        try JSON.parse(Array(text.utf8), maximumDepth: Emulator.documentDepth)
    }

    /// The export without the members that differ in every export.
    private static func export(_ emulator: Emulator) -> JSON {
        var document = emulator.exportState().object ?? [:]
        document["saved_at"] = nil
        return .object(document)
    }

    @Test("of the first format are read, and written again in the latest")
    func formatOneIsRead() throws {
        let emulator = try Self.emulator()
        let file = try Self.parsed(Self.formatOne)
        let restored = try emulator.restoreState(file, from: "state.json")
        #expect(restored.sandboxes == 1)
        #expect(restored.setAside.map(\.description) == [])
        #expect(Self.export(emulator)["understudy_state"] == 2)
        #expect(Self.export(emulator)["sandboxes"] == file["sandboxes"])
    }

    @Test("of a later format are refused as a whole")
    func later() throws {
        let later = try Self.parsed(#"{"understudy_state":3,"sandboxes":[]}"#)
        let emulator = try Self.emulator()
        #expect(
            throws: FixtureProblem(
                file: "state.json",
                message: "understudy_state: the file has another form than 1 to 2, which this release reads")
        ) { try emulator.restoreState(later, from: "state.json") }
    }

    /// A change to the file, and the location and problem it causes.
    struct Damage: Sendable, CustomStringConvertible {
        let old: String
        let new: String
        let place: String
        let problem: String

        var description: String { place }
    }

    private static let path = "sandboxes[0].state."
    private static let damages = [
        Damage(
            old: #""partner_entity_id": "rua-1002""#, new: #""partner_entity_id": 7"#,
            place: "sandbox default, rezolve, customers[0]",
            problem: "rezolve.customers[0].partner_entity_id: found the number 7; expected a string"),
        Damage(
            old: #""state": "enrolled""#, new: #""state": "lost""#, place: "sandbox default, ims, users[0]",
            problem: "ims.users[0].state: “lost” is not one of enrolled, active, deactivated"),
        Damage(
            old: #""number": 4"#, new: #""number": -4"#,
            place: "sandbox default, bloomreach, projects[0].customers[1]",
            problem: "bloomreach.projects[0].customers[1].number: -4 is not between 0 and 4503599627370496"),
        Damage(
            old:
                #""timestamp": 1800000000.5,\#n                      "properties": {\#n                        "total_price": 12"#,
            new: #""timestamp": "x", "properties": {"total_price": 12"#,
            place: "sandbox default, bloomreach, projects[0].customers[0].events[0]",
            problem:
                "bloomreach.projects[0].customers[0].events[0].timestamp: found the string “x”; expected a number"
        ),
        Damage(
            old: #""revision": 2"#, new: #""revision": 9223372036854775807"#,
            place: "sandbox default, comapi, spaces[0].profiles[0]",
            problem: "comapi.spaces[0].profiles[0].revision: 9223372036854775807 is not between 1 and 4503599627370496"),
        Damage(
            old: #""mint_mark": "first""#, new: #""mint_mark": 1"#, place: "sandbox default, comapi",
            problem: "comapi.mint_mark: found the number 1; expected a string; write it in quotes"),
        Damage(
            old: #""bloomreach": {"#, new: #""bloomerang": {"#, place: "sandbox default, bloomerang",
            problem: "bloomerang: no vendor is called bloomerang"),
    ]

    @Test("with a damaged record lose no other one, and keep it as it stood", arguments: damages)
    func damage(_ damage: Damage) throws {
        let text = Self.formatOne.replacing(damage.old, with: damage.new)
        try #require(text != Self.formatOne)
        let file = try Self.parsed(text)
        let emulator = try Self.emulator()
        let parts = try emulator.restoreState(file, from: "state.json").setAside.map(\.description)
        #expect(parts.first?.hasPrefix("\(damage.place): \(Self.path)\(damage.problem)") == true, "\(parts)")
        // Undamaged vendors keep all their data.
        let (old, new) = (file["sandboxes"]?[0]?["state"], Self.export(emulator)["sandboxes"]?[0]?["state"])
        let vendor = damage.place.split(separator: ", ")[1]
        for member in old?.object ?? [:] where member.name != vendor {
            #expect(new?[member.name] == member.value, "\(member.name)")
        }
        // Restarting again from the exported file keeps what was set aside.
        let exported = Self.export(emulator)
        #expect(exported["set_aside"]?.array?.count == parts.count)
        let next = try Self.emulator()
        #expect(try next.restoreState(exported, from: "next.json").setAside.map(\.description) == parts)
        #expect(Self.export(next) == exported)
    }

    @Test("keep what was set aside byte for byte")
    func verbatim() throws {
        let emulator = try Self.emulator()
        let file = try Self.parsed(
            #"{"understudy_state":2,"sandboxes":[{"name":"No Name","state":{"a":1,"a":[1e400]}},{"name":"b"},7]}"#)
        let parts = try emulator.restoreState(file, from: "f").setAside
        #expect(
            parts.map(\.description) == [
                "sandbox No Name: sandboxes[0]: “No Name” is not a sandbox name, or occurs twice",
                "sandbox b: sandboxes[1]: member “state” is missing",
                "sandbox without a name: sandboxes[2]: found the number 7; expected a mapping",
            ])
        #expect(Self.export(emulator)["set_aside"]?.array?.map { $0["value"] } == file["sandboxes"]?.array)
    }

    @Test("say in health what was set aside, and never a secret")
    func health() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let text = Self.formatOne.replacing(#""password": "qa-pass-1""#, with: #""password": 4711"#)
        _ = try stage.emulator.restoreState(try Self.parsed(text), from: "state.json")
        let health = try await World(on: stage, at: nil).control(.get, "health")
        #expect(
            health.json["set_aside"] == [
                "count": 1,
                "parts": [
                    [
                        "sandbox": "default", "vendor": "rezolve", "record": "users[0]",
                        "problem":
                            "sandboxes[0].state.rezolve.users[0].password: is not what a secret of that name looks like; what stands there is not told",
                    ]
                ],
            ])
        #expect(!health.text.contains("4711"))
    }

    @Test("PUT state stays strict: the first problem is told, and nothing has changed")
    func strict() async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/comapi").text
        let answer = try await world.control(
            .put, "state/comapi", #"{"contents":[],"sessions":[{"id":1}],"mint_mark":"other"}"#)
        answer.expectProblem(
            400, "invalid", "sessions[0].id: found the number 1; expected a string; write it in quotes")
        #expect(try await world.control(.get, "state/comapi").text == before)
    }
}
