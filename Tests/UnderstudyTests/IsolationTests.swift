import Contracts
import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Understudy

@Suite("Sandboxes side by side") struct IsolationTests {
    private static let book = "/api/v1/partner/317/customer/entity123/phonebook"

    @Test("two hundred at once, the same users and other clocks: none sees another", arguments: Depth.allCases)
    func parallel(_ depth: Depth) async throws {
        let problems = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<200 { group.addTask { try await Self.life(depth, number) } }
            return try await group.reduce(into: [String]()) { if let problem = $1 { $0.append(problem) } }
        }
        expect(problems, is: [])
    }

    /// Runs through one sandbox; returns what went wrong.
    private static func life(_ depth: Depth, _ number: Int) async throws -> String? {
        let clock = 1_700_000_000 + number * 10_000
        let world = try await World(depth, at: clock)
        try await world.set(seed: 1)
        if number.isMultiple(of: 2) { try await world.set("rezolve.device-check", "off") }
        if number.isMultiple(of: 5) { try await world.arm("service-unavailable", at: "phonebook.list", call: 2) }
        let token = try await world.mint("rezolve/login")
        let fields = [World.apiKey, ("authorization", "Bearer " + token)]
        let device = fields + [World.device]
        for phone in 0...number % 4 {
            let answer = try await world.call(.post, book, device, #"{"name":"\#(number)-\#(phone)","phone":"+1555"}"#)
            guard answer.status == 201 else { return "\(number): \(answer.text)" }
        }
        let list = try await world.call(.get, book, device)
        let names = list.json["phones"]?.array?.compactMap { $0["name"]?.string } ?? []
        guard names == ["Home"] + (0...number % 4).map({ "\(number)-\($0)" }) else { return "\(number) sees \(names)" }
        let second = try await world.call(.get, book, fields).failure
        let expected =
            number.isMultiple(of: 5)
            ? "service-unavailable" : number.isMultiple(of: 2) ? nil : "masked-device-mismatch"
        guard second == expected else { return "\(number): \(second ?? "no failure")" }
        try await world.advance("1800s")
        let third = try await world.call(.get, book, device)
        guard third.status == 401, third.entry?.moment.wholeSeconds == clock + 1800 else {
            return "\(number): \(third.status) at \(third.entry?.moment.wholeSeconds ?? 0)"
        }
        let count = world.sandbox.journal.count
        return count == 4 + number % 4 ? nil : "\(number): \(count) entries"
    }

    @Test("calls of many clients at one sandbox are all counted, and ids stay unique") func oneSandbox() async throws {
        let world = try await World()
        let ids = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey]).json["id"]?.int
                }
            }
            return try await group.reduce(into: Set<Int>()) { ids, id in if let id { ids.insert(id) } }
        }
        expect(ids, is: Set(1002...1101))
        expect(world.sandbox.journal.count, is: 100)
    }

    @Test("a key pair that is being made holds up nobody, and is made once") func keyPair() async throws {
        let world = try await World()
        let guest = try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey])
        let entity = try #require(guest.json["sdkEntity"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        let fields = [World.apiKey, World.device, ("authorization", "Bearer " + token)]
        let path = "/api/v1/partner/317/customer/\(entity)/publickey"
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await world.call(.get, path, fields).text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        expect(keys.count, is: 1)
        expect(keys.first?.contains("BEGIN PUBLIC KEY"), is: true)
    }
}

/// With a seed, the same calls produce the same journal in every process.
@Suite("A seed") struct RepeatabilityTests {
    /// Whether two values are equal but for key pairs: each process generates its own, since private keys must not be
    /// predictable.
    private static func isAlike(_ one: JSON, _ other: JSON) -> Bool {
        switch (one, other) {
        case (.object(let one), .object(let other)):
            return one.count == other.count
                && zip(one, other).allSatisfy {
                    $0.name == $1.name && ($0.name == "public_key" || isAlike($0.value, $1.value))
                }
        case (.array(let one), .array(let other)):
            let (one, other) = (one.filter { !isOfClient($0) }, other.filter { !isOfClient($0) })
            return one.count == other.count && zip(one, other).allSatisfy(isAlike)
        case (.string(let one), .string(let other)): return one == other || withoutSocket(one) == withoutSocket(other)
        default: return one == other
        }
    }

    /// The text without the port, and without the length that the client of a socket announces.
    private static func withoutSocket(_ text: String) -> String {
        text.replacing(/127\.0\.0\.1:[0-9]+/, with: "127.0.0.1")
            .replacing(/found [0-9]+ bytes; expected/, with: "found more than that; expected")
    }

    /// Whether it is a field that the client of a socket adds.
    private static func isOfClient(_ field: JSON) -> Bool {
        ["host", "content-length", "connection"].contains(field[0]?.string?.lowercased() ?? "")
    }

    @Test(
        "has two emulators write the same journals of all contract cases, which pass over a socket too",
        arguments: ContractFile.all)
    func journals(_ file: ContractFile) async throws {
        let run = try await ContractRun.once(file)
        let other = try await ContractRun(file, in: World.seeded(for: file, .socket, on: Stage.seeded[1].get()))
        #expect(other.result.hasPassed, "\(other.result.lines.joined(separator: "\n"))")
        // Where the clock runs, each time is another one.
        let source = try Repository.fixtures.file(file.description).bytes
        guard !String(decoding: source, as: UTF8.self).contains(#""freeze":false"#) else { return }
        let (first, second) = (run.occurrences.shown, other.occurrences.shown)
        expect(first.count, is: second.count)
        for (one, other) in zip(first, second) where !Self.isAlike(one, other) { expect(one.text, is: other.text) }
    }

    @Test("yields other identifiers than another seed, and none yields others each time") func seeds() throws {
        let (alike, shared) = (try Stage.seeded.map { try $0.get() }, try Stage.shared())
        var other = Settings()
        other.seed = 8
        let starts = try (alike + [Stage(Emulator(fixtures: Repository.fixtures, settings: other))]).map {
            $0.emulator.sandboxes.standard.identity.start
        }
        expect(starts[0], is: starts[1])
        #expect(starts[0] != starts[2])
        let drawn = try [shared, Stage(Emulator(fixtures: Repository.fixtures))].map {
            $0.emulator.sandboxes.standard.identity.start
        }
        #expect(drawn[0] != drawn[1])
    }
}

/// A fixture change exactly between judging a call and running its handler.
@Suite("A call that meets a change of the fixtures") struct ReloadConsistencyTests {
    @Test("is answered wholly by the later fixtures, once, and its change is not lost", arguments: Depth.allCases)
    func meeting(_ depth: Depth) async throws {
        let (first, second) = (try Notary.fixtures("first"), try Notary.fixtures("second"))
        let emulator = try Emulator(fixtures: FixtureStore(layers: [first.path]), loaders: [VendorLoader(Notary.self)])
        let world = try await World(depth, on: Stage(emulator))
        let before = try await world.call(.get, "/notary/motto")
        expect(before.text, is: #"{"mottos":["first","first","first"],"visits":1}"#)
        let sandbox = world.sandbox
        Notary.holds.withLock { holds in
            holds[world.name] = {
                #expect(throws: Never.self) { try emulator.reload(FixtureStore(layers: [second.path])) }
                // Something else moves the sandbox's state on before the held call uses it.
                _ = sandbox.vendor(0).export(.whole)
            }
        }
        let held = try await world.call(.get, "/notary/motto", [("x-hold", world.name)])
        expect(held.text, is: #"{"mottos":["second","second","second"],"visits":2}"#)
        expect(held.entry?.id, is: 2)
        expect(world.sandbox.exchanges, is: 2)
    }

    @Test("is answered wholly by the earlier ones where it is the first to come to the state")
    func firstToCome() async throws {
        let (first, second) = (try Notary.fixtures("first"), try Notary.fixtures("second"))
        let emulator = try Emulator(fixtures: FixtureStore(layers: [first.path]), loaders: [VendorLoader(Notary.self)])
        let world = try await World(on: Stage(emulator))
        Notary.holds.withLock { holds in
            holds[world.name] = {
                #expect(throws: Never.self) { try emulator.reload(FixtureStore(layers: [second.path])) }
            }
        }
        let held = try await world.call(.get, "/notary/motto", [("x-hold", world.name)])
        expect(held.text, is: #"{"mottos":["first","first","first"],"visits":1}"#)
        let next = try await world.call(.get, "/notary/motto")
        expect(next.text, is: #"{"mottos":["second","second","second"],"visits":2}"#)
        expect(try await world.call(.get, "/notary/none").json["motto"], is: "second")
    }
}

@Suite("Fixtures that are watched") struct FixtureWatchTests {
    private static let failures = "rezolve/failures.yaml"

    private struct Watched {
        let fixtures: OwnFixtures
        let world: World
        let watch: FixtureWatch

        init() async throws {
            fixtures = try OwnFixtures()
            let emulator = try Emulator(fixtures: fixtures.store)
            world = try await World(on: Stage(emulator))
            watch = FixtureWatch(emulator, over: fixtures.store)
        }

        /// A change takes effect at the second look.
        func lookTwice() {
            watch.look()
            watch.look()
        }

        func reload() async throws -> JSON? { try await world.control(.get, "health").json["reload"] }
        func refusal() async throws -> String? {
            try await world.call(.get, "/api/v1/partner/317/customer/entity123/wallet").json["message"]?.string
        }
    }

    @Test("nothing changes, nothing happens") func quiet() async throws {
        let watched = try await Watched()
        for _ in 0..<3 { watched.lookTwice() }
        expect(try await watched.reload(), is: ["watching": true, "count": 0, "at": nil, "problem": nil])
        let unwatched = try await World().control(.get, "health").json["reload"]
        expect(unwatched?["watching"], is: false)
    }

    @Test("what changed between the start and the watch is not missed") func gap() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try Emulator(fixtures: fixtures.store)
        try fixtures.put(Self.failures, [("Access is denied.", "No.")])
        let watch = FixtureWatch(emulator, over: fixtures.store)
        watch.look()
        watch.look()
        let world = try await World(on: Stage(emulator))
        expect(try await world.call(.get, "/api/v1/partner/317/customer/entity123/wallet").json["message"], is: "No.")
    }

    @Test("a folder that is gone lets nothing show through from below, and is named until it is back")
    func gone() async throws {
        let watched = try await Watched()
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No.")])
        watched.lookTwice()
        let folder = try #require(watched.fixtures.store.layers.first)
        try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
        watched.lookTwice()
        expect(try await watched.refusal(), is: "No.")
        let problem = try await watched.reload()?["problem"]?.string
        expect(problem?.hasSuffix("the folder of fixtures is gone"), is: true, "\(problem ?? "none")")
        try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
        watched.lookTwice()
        expect(try await watched.reload()?["problem"], is: .null)
        expect(try await watched.refusal(), is: "No.")
    }
}
