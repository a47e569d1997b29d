import Emulation
import JSON
import Support
import Synchronization
import Testing

@testable import Understudy

@Suite("Bounds of work")
struct WorkBoundsTests {
    /// Calls a route that accepts a megabyte; faults are judged regardless of the vendor's checks.
    private func track(_ world: World, _ more: String) async throws -> ReceivedAnswer {
        try await world.call(.post, "/track/v2/projects/demo-project-1/batch", [], #"{"commands":[],"more":\#(more)}"#)
    }

    @Test("a condition that takes too much does not hold, the vendor answers, and the journal tells")
    func condition() async throws {
        let world = try await World()
        let usual = try await track(world, "0")
        #expect(usual.status == 401)
        try await world.control(
            .put, "faults",
            #"{"route":"track.batch","times":"always","when":{"body":{"$..*":{"contains":"b"}}},"respond":{"status":418}}"#
        )
        // Each object is searched as text, including everything nested in it.
        let deep = (0..<58).reduce("\"\(String(repeating: "a", count: 900_000))\"") { inner, _ in #"{"a":\#(inner)}"# }
        let answer = try await track(world, deep)
        #expect(answer.status == usual.status && answer.text == usual.text, "\(answer.status) \(answer.text)")
        let note = answer.entry?.record.findings.first { $0.check == "conditions" }
        #expect(note?.note?.contains("those that were left did not hold") == true, "\(String(describing: note))")
        #expect(try await track(world, "\"abc\"").status == 418)
    }

    @Test(
        "an answer that would hold more than its bound is not given: the vendor answers, and the journal tells the bound",
        arguments: [
            (#"{"all":[BODIES]}"#, "more than 4194304 bytes"),
            (
                #""{{#request.body.more}}{{#request.body.more}}x{{/request.body.more}}{{/request.body.more}}""#,
                "more than 10000"
            ),
            (#"{"{{request.body.text}}":["{{request.body.text}} TEXTS"]}"#, "more than 4194304 bytes"),
            (#""{{#request.body.more}}STATIC{{/request.body.more}}""#, "more than 4194304 bytes"),
        ])
    func template(_ template: String, _ bound: String) async throws {
        let world = try await World()
        let usual = try await track(world, "0")
        let many = { (text: String, count: Int) in [String](repeating: text, count: count) }
        let body = template.replacing("BODIES", with: many(#""{{request.body}}""#, 200).joined(separator: ","))
            .replacing("TEXTS", with: many("{{request.body.text}}", 200).joined())
            .replacing("STATIC", with: String(repeating: "s", count: 100_000))
        let armed = try await world.control(
            .put, "faults", #"{"route":"track.batch","times":"always","respond":{"status":418,"body":\#(body)}}"#)
        #expect(armed.status == 200, "\(armed.text)")
        let list = "[" + many("1", 200).joined(separator: ",") + "]"
        let answer = try await track(world, list + #","text":"\#(String(repeating: "t", count: 50_000))""#)
        #expect(
            answer.status == usual.status && answer.text == usual.text, "\(answer.status) \(answer.text.prefix(200))")
        let told = answer.entry?.record.intervention
        #expect(told?.contains("respond was not done") == true && told?.contains(bound) == true, "\(told ?? "nothing")")
        // Within its bounds the answer is sent.
        if template.contains("request.body.more") { #expect(try await track(world, "[1]").status == 418) }
    }

    @Test("no more is done at one time than is allowed, and everything is done")
    func longWork() async {
        let work = LongWork(width: 2)
        let tally = Tally()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await work.run {
                        tally.begin()
                        // Long enough for others to run in between.
                        let work = (0..<1000).reduce(number) { ($0 &* 31 &+ $1) % 1000 }
                        tally.end()
                        return work >= 0 ? 1 : 0
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 200)
        #expect(tally.most <= 2)
        // The last work counts until it releases its thread.
        while work.count > 0 { await Task.yield() }
    }

    /// States of a vendor with one record more than the limit.
    private static func overfull(_ vendor: String, _ list: String, _ count: Int) -> String {
        let record: (Int) -> String =
            switch "\(vendor).\(list)" {
            case "comapi.sessions": { #"{"id":"s\#($0)","space":"x","profile":"p","started":1,"expires":2}"# }
            case "comapi.ended_sessions": { #"{"id":"s\#($0)","space":"x"}"# }
            case "comapi.challenges": { #"{"id":"c\#($0)","space":"x","nonce":"n","issued":1,"expires":2}"# }
            case "comapi.contents":
                { #"{"id":"c\#($0)","space":"x","name":"n","type":"t","data":"aaaa"}"# }
            case "comapi.pushes": { "\($0)" }
            case "ims.token_uses": { #"{"issuer":"i","jti":"j\#($0)","device":"d","end":2}"# }
            case "ims.users":
                {
                    #"{"id":"usr-\#($0 + 100)","tenant":"t","email":"e\#($0)@x.test","state":"enrolled","created_at":1}"#
                }
            case "rezolve.customers":
                { #"{"entity":"e\#($0)","partner":"317","partner_entity_id":"p\#($0)","created":1}"# }
            case "bloomreach.cookies": { "\"c\($0)\"" }
            default: { _ in "{}" }
            }
        let records = "[" + (0..<count).map(record).joined(separator: ",") + "]"
        return switch "\(vendor).\(list)" {
        case "comapi.pushes": #"{"spaces":[{"id":"x","pushes":\#(records)}]}"#
        case "ims.users": #"{"issuers":[],"users":\#(records)}"#
        case "rezolve.customers": #"{"customers":\#(records),"users":[]}"#
        case "bloomreach.cookies": #"{"projects":[{"token":"demo-project-1","customers":[{"cookies":\#(records)}]}]}"#
        case let name where name.hasPrefix("bloomreach"):
            #"{"projects":[{"token":"demo-project-1","customers":[],"\#(list)":\#(records)}]}"#
        case let name where name.hasPrefix("ims"):
            #"{"issuers":[],"users":[],"\#(list)":\#(records)}"#.replacing(
                #""issuers":[],"users":[],"issuers":"#, with: #""users":[],"issuers":"#)
        default: #"{"\#(list)":\#(records)}"#
        }
    }

    @Test(
        "an import with more than is kept is refused with the bound, and nothing is dropped without a word",
        arguments: [
            ("comapi", "ended_sessions", 20_000), ("comapi", "challenges", 10_000), ("comapi", "pushes", 1000),
            ("ims", "token_uses", 20_000), ("bloomreach", "clicks", 1000), ("bloomreach", "self_checks", 1000),
            ("bloomreach", "cookies", 1000),
        ])
    func overfull(_ vendor: String, _ list: String, _ bound: Int) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/\(vendor)").text
        let answer = try await world.control(.put, "state/\(vendor)", Self.overfull(vendor, list, bound + 1))
        #expect(answer.status == 400, "\(answer.text.prefix(300))")
        let message = answer.json["error"]?["message"]?.string ?? ""
        #expect(message.contains(list) && message.contains("at most \(bound)"), "\(message)")
        #expect(try await world.control(.get, "state/\(vendor)").text == before)
    }

    @Test(
        "an import of more records than a sandbox keeps of a vendor is refused",
        arguments: [("rezolve", "customers"), ("ims", "users")])
    func overfullState(_ vendor: String, _ list: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/\(vendor)").text
        let content = Self.overfull(vendor, list, StateSize.most.records + 1)
        let answer = try await world.control(.put, "state/\(vendor)", content)
        #expect(answer.status == 400, "\(answer.text.prefix(300))")
        let message = answer.json["error"]?["message"]?.string ?? ""
        #expect(message.contains("100001 records") && message.contains("at most 100000"), "\(message)")
        #expect(try await world.control(.get, "state/\(vendor)").text == before)
    }

    @Test("trips and invitations of users who are not in an import are refused, not dropped")
    func strays() async throws {
        let world = try await World()
        let trip =
            #"{"trip_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","distance_meters":1,"points":[],"received_at":1,"user":"usr-7"}"#
        let answer = try await world.control(.put, "state/ims", #"{"issuers":[],"users":[],"trips":[\#(trip)]}"#)
        #expect(answer.status == 400)
        #expect(
            answer.json["error"]?["message"] == "trips: no user usr-7 is listed, whose trip t is", "\(answer.text)")
    }
}

/// Counts concurrent work.
private final class Tally: Sendable {
    private let counts = Mutex((running: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func begin() { counts.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) } }

    func end() { counts.withLock { $0.running -= 1 } }
}
