import JSON
import Synchronization
import Testing
import Tokens
import Wire

@testable import Emulation

/// What a sandbox's file keeps of its journal.
@Suite("Kept entries")
struct KeptEntriesTests {
    private func journal(keeping count: Int, bytes: Int = 256 << 10) -> Journal {
        var limits = Journal.Limits()
        (limits.keptEntries, limits.keptBytes) = (count, bytes)
        return Journal(limits: limits, total: JournalTotal())
    }

    private func writer(
        _ redactor: Redactor = Redactor(), judge: @escaping (String) -> TokenOutcome? = { _ in nil }
    ) -> EntryWriter {
        EntryWriter(redactor: redactor, routes: RouteTable(), judge: { _, token, _ in judge(token) })
    }

    private func read(_ text: [UInt8]) throws -> JournalEntry {
        let node = FixtureNode(try JSON.parse(text), from: "file")
        return try JournalEntry(kept: node, guide: RouteTable().guide)
    }

    private func entry(_ body: String, token: String? = nil) -> JournalEntry {
        var record = ExchangeRecord()
        (record.vendor, record.route) = ("v", "r")
        record.claims = ["sub": "ada"]
        return JournalEntry(
            sandbox: "s", moment: Moment(unixSeconds: 1.5),
            request: Request(
                method: .post, target: "/x",
                fields: FieldLines(token.map { [("Authorization", "Bearer \($0)")] } ?? []),
                body: Array(body.utf8)),
            response: .json(["b": "c"]), record: record)
    }

    @Test("are the newest ones, up to their number and their bytes")
    func bounds() throws {
        let journal = journal(keeping: 5, bytes: 4000)
        #expect(journal.keptTexts(by: writer()).isEmpty)
        for _ in 1...9 { journal.append(entry("x")) }
        let few = journal.keptTexts(by: writer())
        #expect(try few.map { try read($0).id } == Array(10 - few.count...9))
        #expect((1...5).contains(few.count))
        #expect(few.reduce(0) { $0 + $1.count } <= 4000)
        // A long one costs its bodies, not the others.
        journal.append(entry(String(repeating: "y", count: 3000)))
        let last = try read(try #require(journal.keptTexts(by: writer()).last))
        #expect(last.omitsBodies && last.id == 10)
        #expect(try #require(last.kept).shown(by: Redactor())["request"]?["body"] == "(too long to be kept)")
    }

    @Test("are none when none are asked for, and nobody is told of more than the first of a thousand entries")
    func off() {
        let journal = journal(keeping: 0)
        let calls = Atomic(0)
        journal.tellChanges { calls.add(1, ordering: .relaxed) }
        for _ in 1...1000 { journal.append(entry("x")) }
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(journal.kept == nil)
        #expect(journal.keptTexts(by: writer()).isEmpty)
    }

    @Test("tell the keeper of each entry, and of clearing")
    func telling() {
        let journal = journal(keeping: 1)
        let calls = Atomic(0)
        journal.tellChanges { calls.add(1, ordering: .relaxed) }
        journal.append(entry("x"))
        journal.append(entry("x"))
        journal.clear()
        #expect(calls.load(ordering: .relaxed) == 3)
        #expect(journal.keptTexts(by: writer()).isEmpty)
    }

    @Test("are written once, and again when their number is given to another entry")
    func cache() throws {
        let journal = journal(keeping: 10)
        let judged = Mutex<[String]>([])
        let writer = writer { token in
            judged.withLock { $0.append(token) }
            return nil
        }
        let (first, second) = ("eyJhIjoxfQ.eyJiIjoxfQ.c2lnMQ", "eyJhIjoxfQ.eyJiIjoyfQ.c2lnMg")
        journal.append(entry("", token: first))
        let text = journal.keptTexts(by: writer)
        #expect(journal.keptTexts(by: writer) == text)
        #expect(judged.withLock(\.self) == [first])
        journal.clear(restartNumbers: true)
        journal.append(entry("", token: second))
        #expect(try read(try #require(journal.keptTexts(by: writer).last)).id == 1)
        #expect(judged.withLock(\.self) == [first, second])
    }

    @Test("lose what becomes known as a secret after they were written")
    func laterSecret() throws {
        let journal = journal(keeping: 10)
        journal.append(entry(#"{"a":"tell-nobody-1"}"#))
        let before = try #require(journal.keptTexts(by: writer()).first)
        #expect(String(decoding: before, as: UTF8.self).contains("tell-nobody-1"))
        let knowing = Redactor(hiding: ["tell-nobody-1"])
        let after = try #require(journal.keptTexts(by: writer(knowing)).first)
        #expect(!String(decoding: after, as: UTF8.self).contains("tell-nobody-1"))
        // And when an old file is shown.
        let entry = try read(before)
        #expect(MaskedExchange(entry, by: knowing).json(routes: RouteTable())["request"]?["body"] == ["a": "***"])
    }

    @Test("hold no signature, and give each token a mark of its own")
    func tokens() throws {
        let journal = journal(keeping: 10)
        let token = "eyJhIjoxfQ.eyJiIjoxfQ.c2lnbmF0dXJl"
        for _ in 1...2 { journal.append(entry(#"{"t":"\#(token)"}"#, token: token)) }
        let texts = journal.keptTexts(by: writer())
        #expect(!texts.contains { String(decoding: $0, as: UTF8.self).contains("c2lnbmF0dXJl") })
        let entries = try texts.map(read)
        let marked = PresentedTokens.of(entries[0].request)
        #expect(marked.count == 1 && marked == PresentedTokens.of(entries[1].request))
        #expect(marked[0].hasPrefix("eyJhIjoxfQ.eyJiIjoxfQ.") && marked[0] != token)
        let shown = MaskedExchange(entries[0], by: Redactor())
        #expect(shown.requestFields.map(\.value) == ["Bearer eyJhIjoxfQ.eyJiIjoxfQ.***"])
        #expect(!shown.hidesMoreThanTokens)
    }

    /// Records of every kind, by what is special about them.
    private static let records: [(String, @Sendable (inout ExchangeRecord) -> Void)] = [
        ("a fault", { $0.intervention = "fault 1: 503" }),
        ("the vendor's own doing", { $0.ownInterventions = [["rule": "wrong-nonce", "left": 0]] }),
        ("both", { ($0.intervention, $0.ownInterventions) = ("fault 1", [["rule": "x"]]) }),
        ("a refusal", { ($0.failure, $0.reason) = ("not-allowed", "it is not") }),
        (
            "a refused part",
            {
                $0.parts = ExchangeParts()
                $0.parts?.append(ExchangePart(2, named: "add", "not-allowed", because: nil, [Finding("a", .failed)]))
            }
        ),
        (
            "notes",
            {
                for fact: Fact in [.text("é"), .text(""), .count(7), .absent, .time(1.5), .json(["a": 1.50])] {
                    $0.checks.append(
                        Finding("noted", .noted, expected: .text("x"), found: fact, note: "n", source: "s"))
                }
            }
        ),
        ("secrets", { $0.secrets = ["pin"] }),
        ("no route", { ($0.route, $0.vendor) = (nil, nil) }),
        ("no vendor", { $0.guide = RouteTable().guide }),
    ]

    @Test("are shown and found as they were, whatever they are", arguments: records.indices)
    func roundTrip(_ index: Int) throws {
        var record = ExchangeRecord()
        (record.vendor, record.route) = ("v", "r")
        Self.records[index].1(&record)
        let journal = journal(keeping: 1)
        journal.append(
            JournalEntry(
                sandbox: "s", moment: Moment(unixSeconds: 253_402_300_799),
                request: Request(
                    method: .put, target: "/x//?token=secret-1&a=b",
                    fields: ["A": "b", "a": "c", "Authorization": "Basic eA=="],
                    body: Array(#"{"pin":"1234","a":[1.50, null]}"#.utf8)),
                response: .json(["b": "c", "pin": "1234"]), record: record))
        let (redactor, routes) = (Redactor(), RouteTable())
        let entry = try #require(journal.last)
        let again = try read(try #require(journal.keptTexts(by: writer()).first))
        let (shown, seen) = (MaskedExchange(entry, by: redactor), MaskedExchange(again, by: redactor))
        #expect(seen.json(routes: routes) == shown.json(routes: routes), "\(Self.records[index].0)")
        #expect((seen.target, seen.reason, seen.summary) == (shown.target, shown.reason, shown.summary))
        #expect(seen.interventions == shown.interventions && seen.claims == shown.claims)
        #expect(again.record.isIntervened == entry.record.isIntervened)
        #expect(again.moment == entry.moment && again.id == entry.id)
        #expect(again.notes(named: "noted").count == entry.notes(named: "noted").count)
        #expect(seen.hidesMoreThanTokens == shown.hidesMoreThanTokens)
    }

    @Test(
        "that are no entries are refused by what is wrong with them",
        arguments: [
            ("{}", "member “shown” is missing"), (#"{"shown":{},"moment":1}"#, "shown: is not an entry of a journal"),
            (#"{"shown":{},"moment":"x"}"#, "moment: found the string “x”; expected a number"),
            (#"{"shown":{},"moment":1,"spare":2}"#, "spare: unknown member “spare”"), ("7", "expected a mapping"),
            (
                #"{"shown":{"id":1,"sandbox":"s","status":99,"request":{"method":"GET","target":"/"}},"moment":1}"#,
                "shown: is not an entry of a journal"
            ),
        ])
    func nonsense(_ text: String, _ problem: String) {
        let error = #expect(throws: FixtureProblem.self) { try read(Array(text.utf8)) }
        #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }
}
