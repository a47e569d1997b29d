import Contracts
import Emulation
import Foundation
import JSON
import Support
import Testing
import Wire

@testable import Understudy

/// `--state-journal`: entries that outlive the server.
@Suite("A kept journal")
struct StateJournalTests {
    private static let key = ("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
    private static let book = "/api/v1/partner/317/customer/entity123/addressbook"

    let folder: TemporaryFolder
    let stage: Stage

    init() throws {
        folder = try TemporaryFolder()
        stage = try Stage(keeping: folder, journalEntries: 1000)
    }

    private func save() { #expect(stage.emulator.keeper?.finish() == nil) }

    /// The journal in a form, and so many of its newest entries each alone in that form.
    private func shown(_ world: World, _ form: String, alone: Int = .max) async throws -> [String] {
        var shown = [try await world.control(.get, "journal?format=\(form)").text]
        for entry in world.sandbox.journal.entries().suffix(alone) {
            shown.append(try await world.control(.get, "journal/\(entry.id)?format=\(form)").text)
        }
        return shown
    }

    private func kept(_ world: World) throws -> JSON? {
        let file = try folder.files.first { $0.contains("/\(world.name).") }
        return try file.flatMap { try JSON.parse(Array(folder.text(of: $0).utf8), maximumDepth: 132)["kept"] }
    }

    // MARK: The same entries

    /// Files whose calls are other cases after a restart: published keys are fetched anew, and content that is a form is not
    /// kept, so that no values are captured for calls that are left out anyway.
    private static let otherCases = ["published-keys.hurl", "sign-in-page.hurl", "token-exchange.hurl", "dpop.hurl"]

    @Test(
        "shows the calls of every contract case as before the restart, and in each form those of some files",
        arguments: Set(ContractFile.all.map(\.vendor)))
    func contractCases(_ vendor: String) async throws {
        var shownBefore: [(world: World, form: String, texts: [String])] = []
        for (number, file) in ContractFile.all.filter({ $0.vendor == vendor }).enumerated() {
            let world = try await ContractRun(file, .pipeline, on: stage).world
            // The full form shows all that is kept; the others show parts of it, so each is read for every third file.
            let other = ["brief", "har", Self.otherCases.contains(file.name) ? "brief" : "hurl"][number % 3]
            for form in ["json", other] {
                shownBefore.append((world, form, try await shown(world, form, alone: 1)))
            }
        }
        let next = try stage.restarted()
        for (world, form, before) in shownBefore {
            let after = try await shown(world.moved(to: next), form, alone: 1)
            #expect(after.count == before.count)
            for (old, new) in zip(before, after) { #expect(new == old, "\(form)") }
        }
    }

    @Test("shows refusals, interventions, strangers, long bodies and sockets as before", arguments: Depth.allCases)
    func kinds(_ depth: Depth) async throws {
        let world = try await World(depth, on: stage)
        let token = try await world.mint("rezolve/login", ["defect": "expired"])
        _ = try await world.call(.get, Self.book + "//?a=b", [Self.key, ("authorization", "Bearer \(token)")])
        try await world.arm("service-unavailable", at: "rua.guest")
        _ = try await world.call(.post, "/v2/credentials/register/guest")
        _ = try await world.call(.get, "/nowhere/at/all?token=\(token)")
        _ = try await world.call(.post, "/v2/credentials/logi", [Self.key], #"{"username":"u","password":"hidden"}"#)
        _ = try await world.call(
            .post, "/nowhere", [("Content-Type", "text/plain")], String(repeating: "é", count: 9000))
        _ = try await world.call(.post, "/nowhere", bytes: [0xFF, 0, 0xFE])
        _ = try await world.call(.post, "/nowhere", [], #"{"a":1.50, "a":[{"b":null}]}"#)
        let before = try await shown(world, "json")
        let brief = try await shown(world, "brief")
        let next = world.moved(to: try stage.restarted())
        #expect(try await shown(next, "json") == before)
        #expect(try await shown(next, "brief") == brief)
        #expect(before.count == 8)
        #expect(before[0].contains("service-unavailable") && !before[0].contains("hidden"))
    }

    @Test("keeps a socket's messages, also those that came after its opening was written")
    func socket() async throws {
        let fixtures = try Switchboard.fixtures()
        let loaders = [VendorLoader(Switchboard.self)]
        let stage = try Stage(
            keeping: folder.copy(), FixtureStore(layers: [fixtures.path]), loaders, journalEntries: 10)
        let world = try await World(on: stage)
        _ = try await world.call(.post, "/switchboard/sessions/ada?life=3600")
        let socket = try await world.openSocket("/switchboard/sessions/ada/socket")
        _ = await socket.next()
        #expect(stage.emulator.keeper?.finish() == nil)
        _ = try await world.call(.post, "/switchboard/tell?to=ada&text=news&and=")
        _ = await socket.next()
        let before = try await shown(world, "json")
        #expect(before[0].contains("news") && before[0].contains(#""cause":3"#), "\(before[0])")
        let next = world.moved(to: try stage.restarted(FixtureStore(layers: [fixtures.path]), loaders))
        #expect(try await shown(next, "json") == before)
    }

    @Test("answers filters as before")
    func filters() async throws {
        let world = try await World(on: stage)
        try await world.set(profile: .observed)
        _ = try await world.call(.post, "/v2/credentials/register/guest", [Self.key])
        try await world.advance("90s")
        _ = try await world.call(.get, Self.book, [Self.key])
        _ = try await world.call(.get, "/nowhere")
        let queries = [
            "vendor=rezolve", "route=rua.guest", "route=rua.*", "status=4xx", "status=404", "refused=true",
            "refused=false", "unmatched=true", "since=1800000090", "after=2", "last=1",
        ]
        let next = world.moved(to: try stage.restarted())
        for query in queries {
            let before = try await world.control(.get, "journal?\(query)").text
            #expect(try await next.control(.get, "journal?\(query)").text == before, "\(query)")
        }
        let failure = try #require(world.sandbox.journal.entry(2)?.record.failure)
        let refused = try await next.control(.get, "journal?failure=\(failure)").json["entries"]?.array
        #expect(refused?.map { $0["id"] } == [2])
    }

    @Test(
        "verifies as before, and names the same near misses",
        arguments: [
            #"{"where":{"route":"addressbook.list","claims":{"exp":{"present":true}}}}"#,
            #"{"where":{"path":"/nowhere","body":{"$.a[0].b":"c"}}}"#,
            #"{"where":{"path":"/nowhere","body":{"a":1}}}"#,
            #"{"where":{"header":{"x-app":"seven"}},"exactly":2}"#,
            #"{"where":{"route":"addressbook.list","header":{"x-app":"seven"},"token_left":{"over":5}}}"#,
            #"{"where":{"reason":{"contains":"exp"}}}"#,
            #"{"where":{"route":"rua.login","method":"GET"}}"#,
            #"{"where":{"vendor":"rezolve"},"at_most":0}"#,
            #"{"where":{"query":{"q":"1"},"unmatched":true}}"#,
        ])
    func verification(_ expectation: String) async throws {
        let world = try await World(on: stage)
        for defect in ["expired", "bad-signature"] {
            let token = try await world.mint("rezolve/login", ["defect": .string(defect)])
            _ = try await world.call(
                .get, Self.book, [Self.key, ("authorization", "Bearer \(token)"), ("X-App", "seven")])
        }
        _ = try await world.call(.post, "/nowhere?q=1", [], #"{"a":[{"b":"c"}]}"#)
        _ = try await world.call(.post, "/v2/credentials/logi", [Self.key])
        let next = world.moved(to: try stage.restarted())
        let before = try await world.control(.post, "journal/verify", expectation)
        #expect([200, 409].contains(before.status), "\(before.text)")
        let after = try await next.control(.post, "journal/verify", expectation)
        #expect(after.status == before.status)
        #expect(after.text == before.text)
    }

    @Test("stays as it is over a second restart, and goes on with its numbers")
    func twice() async throws {
        let world = try await World(on: stage)
        for _ in 1...3 { _ = try await world.call(.get, "/nowhere") }
        let next = world.moved(to: try stage.restarted())
        #expect(try await next.call(.get, "/nowhere").entry?.id == 1001)
        let before = try await shown(next, "json")
        let last = next.moved(to: try next.stage.restarted())
        #expect(try await shown(last, "json") == before)
        #expect(last.sandbox.journal.entries().map(\.id) == [1, 2, 3, 1001])
    }

    @Test("is read from the files of every release", arguments: ["sandbox-1-journal.json"])
    func formats(_ name: String) async throws {
        let world = try await World(on: stage).named("of-a-release")
        try await world.freeze(at: 5)
        save()
        let copy = try folder.copy()
        let place = try #require(try copy.files.first { $0.hasSuffix("/of-a-release.1.json") })
        let path = Repository.root + "/Tests/UnderstudyTests/States/" + name
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try copy.write(text, to: place)
        let next = world.moved(to: try Stage(keeping: copy, journalEntries: 10))
        let entries = try #require(try await next.control(.get, "journal").json["entries"]?.array)
        #expect(entries.map { $0["id"] } == [1, 2])
        for entry in entries { #expect(text.contains(entry.text)) }
        let expected = #"{"where":{"failure":"token-expired","claims":{"exp":{"present":true}}},"exactly":1}"#
        #expect(try await next.control(.post, "journal/verify", expected).status == 200)
        let cases = try await next.control(.get, "journal?format=hurl").text
        #expect(
            cases.contains("POST {{base}}/_understudy/tokens/rezolve/login") && !cases.contains("left out"), "\(cases)")
    }

    // MARK: The switch

    @Test("is not there without the switch, and costs no writing")
    func off() async throws {
        let stage = try Stage(keeping: folder.copy())
        let (world, other) = (try await World(on: stage), try await World(on: stage, at: nil))
        #expect(stage.emulator.keeper?.finish() == nil)
        let written = stage.emulator.keeper?.total.written
        for world in [world, other] { _ = try await world.call(.get, "/nowhere") }
        #expect(stage.emulator.keeper?.finish() == nil)
        #expect(stage.emulator.keeper?.total.written == written)
        let next = world.moved(to: try stage.restarted())
        #expect(next.sandbox.journal.entries().isEmpty)
    }

    @Test("is still shown when the switch is gone, until its sandbox is written again")
    func goneSwitch() async throws {
        let world = try await World(on: stage)
        _ = try await world.call(.get, "/nowhere")
        save()
        let before = try await shown(world, "json")
        let next = world.moved(to: try Stage(keeping: folder.copy()))
        #expect(try await shown(next, "json") == before)
        try await next.freeze(at: 5)
        let last = next.moved(to: try next.stage.restarted())
        #expect(last.sandbox.journal.entries().isEmpty)
        #expect(last.sandbox.clock.now == Moment(unixSeconds: 5))
    }

    @Test("holds no more than the newest entries that were asked for")
    func number() async throws {
        let stage = try Stage(keeping: folder.copy(), journalEntries: 3)
        let world = try await World(on: stage)
        for _ in 1...5 { _ = try await world.call(.get, "/nowhere") }
        let next = world.moved(to: try stage.restarted())
        #expect(next.sandbox.journal.entries().map(\.id) == [3, 4, 5])
    }

    @Test("forgets what DELETE journal, a reset and the sandbox's removal forget", arguments: Depth.allCases)
    func forgetting(_ depth: Depth) async throws {
        let worlds = [
            try await World(depth, on: stage), try await World(depth, on: stage), try await World(depth, on: stage),
        ]
        for world in worlds { _ = try await world.call(.get, "/nowhere") }
        save()
        for world in worlds { #expect(try kept(world)?["journal"]?.array?.count == 1) }
        try await worlds[0].control(.delete, "journal")
        try await worlds[1].control(.post, "reset")
        try await worlds[2].control(.delete, "sandboxes/" + worlds[2].name)
        save()
        #expect(try kept(worlds[0])?["clock"] != nil)
        for world in worlds { #expect(try kept(world)?["journal"] == nil) }
        let next = try stage.restarted()
        for world in worlds { #expect(try await world.moved(to: next).control(.get, "journal").json["entries"] == []) }
        // Who saw number 1 does not see another one after clearing; a reset restores the first answers.
        #expect(try await worlds[0].moved(to: next).call(.get, "/nowhere").entry?.id == 1001)
        _ = try await worlds[1].call(.get, "/other")
        let again = worlds[1].moved(to: try stage.restarted())
        #expect(again.sandbox.journal.entries().map(\.request.target) == ["/other"])
        #expect(again.sandbox.journal.entries().map(\.id) == [1])
    }

    @Test("sets an entry that cannot be read aside, and keeps the others")
    func damage() async throws {
        let world = try await World(on: stage)
        for path in ["/one", "/two", "/three"] { _ = try await world.call(.get, path) }
        save()
        let copy = try folder.copy()
        let file = try #require(try copy.files.first { $0.contains("/\(world.name).") })
        try copy.write(try copy.text(of: file).replacing(#""target":"/two""#, with: #""target":2"#), to: file)
        let next = world.moved(to: try Stage(keeping: copy, journalEntries: 10))
        let entries = try await next.control(.get, "journal").json["entries"]?.array
        #expect(entries?.map { $0["id"] } == [1, 3])
        let parts = try await next.bare(.get, "/_understudy/health").json["set_aside"]?["parts"]
        #expect(parts?[0]?["record"] == "journal[1]")
        #expect(parts?[0]?["problem"]?.string?.contains("is not an entry of a journal") == true)
    }
}
