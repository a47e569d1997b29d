import Dispatch
import Emulation
import Expectations
import Foundation
import JSON
import Support
import Synchronization
import Testing

@testable import Understudy

@Suite("Bounds of work") struct WorkBoundsTests {
    /// Calls a route that accepts a megabyte; faults are judged regardless of the vendor's checks.
    private func track(_ world: World, _ more: String) async throws -> ReceivedAnswer {
        try await world.call(.post, "/track/v2/projects/demo-project-1/batch", [], #"{"commands":[],"more":\#(more)}"#)
    }

    @Test("a condition that takes too much does not hold, the vendor answers, and the journal tells")
    func condition() async throws {
        let world = try await World()
        let usual = try await track(world, "0")
        expect(usual.status, is: 401)
        try await world.arm(
            #"{"route":"track.batch","times":"always","when":{"body":{"$..*":{"contains":"b"}}},"respond":{"status":418}}"#
        )
        // Each object is searched as text, including everything nested in it.
        let deep = (0..<58).reduce("\"\(String(repeating: "a", count: 900_000))\"") { inner, _ in #"{"a":\#(inner)}"# }
        let answer = try await track(world, deep)
        #expect(answer.status == usual.status && answer.text == usual.text, "\(answer.status) \(answer.text)")
        let note = answer.entry?.record.findings.first { $0.check == "conditions" }
        expect(note?.note?.contains("the rest counted as not met"), is: true, "\(String(describing: note))")
        expect(try await track(world, "\"abc\"").status, is: 418)
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
        try await world.arm(#"{"route":"track.batch","times":"always","respond":{"status":418,"body":\#(body)}}"#)
        let list = "[" + many("1", 200).joined(separator: ",") + "]"
        let answer = try await track(world, list + #","text":"\#(String(repeating: "t", count: 50_000))""#)
        #expect(
            answer.status == usual.status && answer.text == usual.text, "\(answer.status) \(answer.text.prefix(200))")
        let told = answer.entry?.record.intervention
        #expect(told?.contains("respond was not done") == true && told?.contains(bound) == true, "\(told ?? "nothing")")
        // Within its bounds the answer is sent.
        if template.contains("request.body.more") { expect(try await track(world, "[1]").status, is: 418) }
    }

    @Test("no more is done at one time than is allowed, and everything is done") func longWork() async {
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
        expect(sum, is: 200)
        #expect(tally.most <= 2)
        // The last work counts until it releases its thread.
        while work.count > 0 { await Task.yield() }
    }

    @Test("what comes next goes ahead of what is queued") func nextWork() async {
        let work = LongWork(width: 1)
        let order = Order()
        let (isBusy, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await work.run {
                    isBusy.signal()
                    mayEnd.wait()
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    isBusy.wait()
                    continuation.resume()
                }
            }
            for (number, isNext) in [(1, false), (2, true), (3, false), (4, true)] {
                group.addTask { await work.run(isNext: isNext) { order.numbers.withLock { $0.append(number) } } }
                while work.count < number + 1 { await Task.yield() }
            }
            mayEnd.signal()
        }
        expect(order.numbers.withLock(\.self), is: [4, 2, 1, 3])
    }

    private func expectRefusal(of state: String, _ vendor: String, saying words: String...) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/\(vendor)").text
        let answer = try await world.control(.put, "state/\(vendor)", state)
        expect(answer.status, is: 400, "\(answer.text.prefix(300))")
        let message = answer.json["error"]?["message"]?.string ?? ""
        for word in words { #expect(message.contains(word), "\(message)") }
        expect(try await world.control(.get, "state/\(vendor)").text, is: before)
    }

    private static let project = #""token":"demo-project-1""#

    /// Lists are counted before a record is read.
    @Test(
        "an import with more than is kept is refused with the bound, and nothing is dropped without a word",
        arguments: [
            ("comapi", "ended_sessions", 20_000, #"{"ended_sessions":[RECORDS]}"#),
            ("comapi", "challenges", 10_000, #"{"challenges":[RECORDS]}"#),
            ("comapi", "pushes", 1000, #"{"spaces":[{"id":"x","pushes":[RECORDS]}]}"#),
            ("ims", "token_uses", 20_000, #"{"issuers":[],"users":[],"token_uses":[RECORDS]}"#),
            ("bloomreach", "clicks", 1000, #"{"projects":[{\#(project),"customers":[],"clicks":[RECORDS]}]}"#),
            (
                "bloomreach", "self_checks", 1000,
                #"{"projects":[{\#(project),"customers":[],"self_checks":[RECORDS]}]}"#
            ),
            ("bloomreach", "cookies", 1000, #"{"projects":[{\#(project),"customers":[{"cookies":[RECORDS]}]}]}"#),
        ])
    func overfull(_ vendor: String, _ list: String, _ bound: Int, _ state: String) async throws {
        let records = (0...bound).map { list == "cookies" ? "\"c\($0)\"" : "0" }.joined(separator: ",")
        try await expectRefusal(of: state.replacing("RECORDS", with: records), vendor, saying: list, "at most \(bound)")
    }

    @Test("an import of more records than a sandbox keeps of a vendor is refused") func overfullState() async throws {
        let customers = (0...StateSize.most.records).map {
            #"{"entity":"e\#($0)","partner":"317","partner_entity_id":"p\#($0)","created":1}"#
        }
        try await expectRefusal(
            of: #"{"customers":[\#(customers.joined(separator: ","))],"users":[]}"#, "rezolve",
            saying: "100001 records", "at most 100000")
    }

    @Test("trips and invitations of users who are not in an import are refused, not dropped")
    func strays() async throws {
        let world = try await World()
        let trip =
            #"{"trip_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","distance_meters":1,"points":[],"received_at":1,"user":"usr-7"}"#
        let answer = try await world.control(.put, "state/ims", #"{"issuers":[],"users":[],"trips":[\#(trip)]}"#)
        answer.expect(400)
        expect(answer.json["error"]?["message"], is: "trips: trip t belongs to usr-7, who is not listed")
    }
}

private final class Tally: Sendable {
    private let counts = Mutex((running: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func begin() { counts.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) } }

    func end() { counts.withLock { $0.running -= 1 } }
}

private final class Order: Sendable {
    let numbers = Mutex<[Int]>([])
}

/// macOS compiles lines that no Linux run covers; the page about macOS records what was read about each.
struct DarwinLinesTests {
    private struct Line: Hashable, CustomStringConvertible {
        let file: String
        let text: String

        var description: String { "\(file): \(text)" }
    }

    /// A condition that this test cannot classify as macOS-only or not.
    private struct UnknownCondition: Error {
        let text: String
    }

    @Test("each line that only macOS compiles is on the page that says what was read about it")
    func listedLines() throws {
        let page = "Sources/Understudy/Understudy.docc/macOS.md"
        let text = try String(contentsOfFile: Repository.root + "/" + page, encoding: .utf8)
        let rows = text.matches(of: /\| `([^`]*)` \| `([^`]*)` \|/)
        let listed = Set(rows.map { Line(file: String($0.1), text: String($0.2)) })
        let found = Set(try Self.files.flatMap(Self.darwinLines))
        expect(found.subtracting(listed).map(\.description).sorted(), is: [], "read them, and list them in \(page)")
        expect(listed.subtracting(found).map(\.description).sorted(), is: [], "no source has them any more")
        #expect(!found.isEmpty)
    }

    private static var files: [String] {
        ["Sources", "Fixtures"].flatMap { folder in
            (FileManager.default.enumerator(atPath: "\(Repository.root)/\(folder)")?.compactMap { $0 as? String } ?? [])
                .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        }
    }

    /// The lines of branches that hold only on macOS, without imports and comments.
    private static func darwinLines(_ file: String) throws -> [Line] {
        let text = try String(contentsOfFile: Repository.root + "/" + file, encoding: .utf8)
        // For each open condition, whether its branch is macOS-only, and whether its `#else` is.
        var branches: [(isDarwin: Bool, elseIsDarwin: Bool)] = []
        var lines: [Line] = []
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if line.hasPrefix("#if ") {
                branches.append(try branch(line.dropFirst(4)))
            } else if line == "#else", let last = branches.popLast() {
                branches.append((last.elseIsDarwin, false))
            } else if line == "#endif" {
                branches.removeLast()
            } else if branches.contains(where: \.isDarwin), !line.contains("import "), !line.hasPrefix("//") {
                lines.append(Line(file: file, text: String(line)))
            }
        }
        return lines
    }

    /// Classifies a condition; one that also holds with `KQUEUE` is compiled and tested on Linux.
    private static func branch(_ condition: Substring) throws -> (isDarwin: Bool, elseIsDarwin: Bool) {
        switch condition {
        case "canImport(Darwin)", "os(macOS)": (true, false)
        case "!canImport(Darwin)", "os(Linux)", "canImport(Glibc)", "canImport(FoundationEssentials)",
            "canImport(FoundationNetworking)":
            (false, true)
        // Its `#else` is for simulators and devices.
        case "os(macOS) || os(Linux)": (false, true)
        case "canImport(Darwin) || KQUEUE", "KQUEUE", "!KQUEUE", "canImport(Testing)", "canImport(XCTest)",
            "compiler(>=6.3)":
            (false, false)
        default: throw UnknownCondition(text: String(condition))
        }
    }
}

@Suite("The rules of each vendor") struct RuleListingTests {
    private static let loaders = Catalog.vendors

    @Test(
        "are listed with an id of the vendor, what they expect and a source, and lead to its failures",
        arguments: loaders.map(\.identity.id))
    func listing(_ vendor: String) throws {
        let module = try #require(Self.loaders.first { $0.identity.id == vendor })
        let mounted = try module.load(Repository.fixtures)
        expect(mounted.failureNames, is: mounted.failures.map(\.name))
        for rule in module.rules { #expect(Set(mounted.failureNames).isSuperset(of: rule.failures), "\(rule)") }
        let rules = module.rules + module.checkers.flatMap(\.rules)
        #expect(rules.count > 20)
        for rule in rules {
            #expect(rule.id.hasPrefix(vendor + "."), "\(rule)")
            #expect(!rule.expects.isEmpty && !rule.subject.isEmpty, "\(rule)")
            #expect(rule.source == nil || rule.source?.isEmpty == false, "\(rule)")
            if rule.source?.hasPrefix("ours") == true { expect(rule.evidence, is: .ours, "\(rule)") }
        }
    }

    @Test("have one id each for a kind of caller, which tells the same check", arguments: loaders.map(\.identity.id))
    func ids(_ vendor: String) throws {
        let module = try #require(Self.loaders.first { $0.identity.id == vendor })
        for (id, rules) in Dictionary(grouping: module.rules, by: \.id) {
            expect(Set(rules.map(\.subject)).count, is: rules.count, "\(id) stands twice in a list")
            expect(Set(rules.map(\.check)).count, is: 1, "\(id)")
        }
    }
}

/// A start leaves unread what is in the list, so that everything in it must have been read here.
@Suite("The list of judged files") struct JudgedFilesTests {
    @Test("has each file that vendors read, as it is, and a start without reading them lists the same")
    func list() throws {
        let folder = try #require(FixtureStore.installedFolder)
        let store = FixtureStore(layers: [folder])
        let read = try Emulator(fixtures: store)
        let files = try store.usage(of: folder).read
        let marks = try files.map { FixtureStore.mark($0, try store.file($0).digest) }
        let list = marks.map { mark in
            let digits = String(mark, radix: 16, uppercase: true)
            return "0x\(String(repeating: "0", count: 16 - digits.count))\(digits)"
        }
        expect(
            marks, is: FixtureStore.judgedFiles, "FixtureResources.judged should have: \(list.joined(separator: ", "))")
        let unread = try Emulator(fixtures: FixtureStore(layers: [folder], judged: FixtureStore.judgedFiles))
        for (one, other) in zip(read.vendors, unread.vendors) {
            expect(one.failures.map { "\($0)" }, is: other.failures.map { "\($0)" })
        }
        expect(read.scenarios.map(\.name), is: unread.scenarios.map(\.name))
        expect(read.scenarios.map(\.rules), is: unread.scenarios.map(\.rules))
        expect(read.inForce.loaded.fingerprint, is: unread.inForce.loaded.fingerprint)
    }
}
