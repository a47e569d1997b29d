import JSON
import Synchronization
import Testing
import Wire

@testable import Emulation

@Suite("Journals")
struct JournalTests {
    /// An entry for a route, with a body of the given size.
    static func entry(_ route: String, bodyBytes: Int = 0, status: Int = 200, at seconds: Double = 0) -> JournalEntry {
        var record = ExchangeRecord()
        record.vendor = "v"
        record.route = route
        record.failure = status == 200 ? nil : "failed"
        return JournalEntry(
            sandbox: "s", moment: Moment(unixSeconds: seconds),
            request: Request(method: .post, target: "/x", body: [UInt8](repeating: 120, count: bodyBytes)),
            response: .empty(.init(code: status)), record: record)
    }

    private func journal(entries: Int = 1000, bytes: Int = 4 << 20, total: JournalTotal = JournalTotal()) -> Journal {
        var limits = Journal.Limits()
        limits.entries = entries
        limits.bytes = bytes
        return Journal(limits: limits, total: total)
    }

    @Test("numbers its entries and keeps the newest that its count allows", arguments: [1, 2, 7, 8, 9, 100])
    func count(_ limit: Int) {
        let journal = journal(entries: limit)
        for number in 1...250 { #expect(journal.append(Self.entry("\(number)")) == number) }
        #expect(journal.entries().map(\.id) == Array(251 - limit...250))
        #expect(journal.entries().map(\.record.route) == (251 - limit...250).map { "\($0)" })
        #expect(journal.count == limit)
    }

    @Test("keeps no more bytes than it may")
    func bytes() {
        let total = JournalTotal()
        let journal = journal(bytes: 100_000, total: total)
        for _ in 0..<50 { journal.append(Self.entry("x", bodyBytes: 10_000)) }
        #expect(journal.bytes <= 100_000)
        #expect(journal.count == 9)
        #expect(total.bytes == journal.bytes)
        journal.clear()
        #expect(journal.bytes == 0)
        #expect(total.bytes == 0)
    }

    @Test("leaves out the bodies of an entry that would push out all the others")
    func longBody() throws {
        let journal = journal(bytes: 100_000)
        journal.append(Self.entry("x"))
        journal.append(Self.entry("long", bodyBytes: 90_000))
        #expect(journal.count == 2)
        let entry = try #require(journal.entry(2))
        #expect(entry.omitsBodies)
        let json = MaskedExchange(entry, by: Redactor()).json(routes: try RouteTable([]))
        #expect(json["request"]?["body"] == "(too long to be kept)")
    }

    @Test("gives back its bytes when it goes away")
    func release() {
        let total = JournalTotal()
        do {
            let journal = journal(total: total)
            journal.append(Self.entry("x"))
            #expect(total.bytes > 0)
        }
        #expect(total.bytes == 0)
    }

    @Test("all journals together are bounded, and the longest unused one gives way first")
    func bound() {
        var limits = Journal.Limits()
        limits.totalBytes = 250_000
        let total = JournalTotal()
        var journals = (0..<3).map { _ in Journal(limits: limits, total: total) }
        func add(_ count: Int, to journal: Int) {
            for _ in 0..<count { journals[journal].append(Self.entry("x", bodyBytes: 10_000)) }
            #expect(total.bytes <= 250_000)
            #expect(total.bytes == journals.map(\.bytes).reduce(0, +))
        }
        // Only 22 entries fit.
        for index in journals.indices { add(7, to: index) }
        #expect(journals.map(\.count) == [7, 7, 7])
        add(2, to: 2)
        #expect(journals.map(\.count) == [3, 7, 9])
        add(1, to: 0)
        add(3, to: 2)
        #expect(journals.map(\.count) == [4, 3, 12])
        // The second journal gives up everything, then the first.
        add(7, to: 2)
        #expect(journals.map(\.count) == [2, 0, 19])
        add(1, to: 1)
        add(1, to: 2)
        #expect(journals.map(\.count) == [1, 1, 20])
        journals[2] = Journal(limits: limits, total: total)
        #expect(total.bytes == journals.map(\.bytes).reduce(0, +))
        add(21, to: 2)
        #expect(journals.map(\.count) == [0, 1, 21])
    }

    @Test("a single journal gives way to its own newest entries")
    func alone() {
        var limits = Journal.Limits()
        limits.totalBytes = 50_000
        let journal = Journal(limits: limits, total: JournalTotal())
        for number in 1...50 { #expect(journal.append(Self.entry("x", bodyBytes: 10_000)) == number) }
        #expect(journal.bytes <= 50_000)
        #expect(journal.entry(50) != nil)
    }

    @Test("a filter admits what fits all its parts")
    func filter() {
        let journal = journal()
        journal.append(Self.entry("a", status: 200, at: 10))
        journal.append(Self.entry("a", status: 403, at: 20))
        journal.append(Self.entry("b", status: 403, at: 30))
        func ids(_ change: (inout JournalFilter) -> Void) -> [Int] {
            var filter = JournalFilter()
            change(&filter)
            return journal.entries(filter).map(\.id)
        }
        #expect(ids { _ in } == [1, 2, 3])
        #expect(ids { $0.route = "a" } == [1, 2])
        #expect(ids { $0.route = "*a*" } == [1, 2])
        #expect(ids { $0.route = "a*b" } == [])
        #expect(ids { $0.status = .code(403) } == [2, 3])
        #expect(ids { $0.status = .group(4) } == [2, 3])
        #expect(ids { $0.isRefused = true } == [2, 3])
        #expect(ids { $0.isRefused = false } == [1])
        #expect(ids { $0.failure = "failed" } == [2, 3])
        #expect(ids { $0.vendor = "w" } == [])
        #expect(ids { $0.since = Moment(unixSeconds: 20) } == [2, 3])
        #expect(ids { $0.after = 2 } == [3])
        #expect(ids { ($0.route, $0.status) = ("a", .code(403)) } == [2])
    }

    @Test(
        "an entry is found by its number while it is kept",
        arguments: [(0, false), (1, false), (2, true), (3, true), (4, false), (.min, false), (.max, false)])
    func byNumber(_ id: Int, _ isKept: Bool) {
        let journal = journal(entries: 2)
        for _ in 0..<3 { journal.append(Self.entry("x")) }
        #expect(journal.entry(id)?.id == (isKept ? id : nil))
    }

    @Test("clearing forgets the entries and goes on counting, unless told to begin again")
    func clear() {
        let journal = journal()
        journal.append(Self.entry("x"))
        journal.clear()
        #expect(journal.entries().isEmpty)
        #expect(journal.append(Self.entry("x")) == 2)
        journal.clear(restartNumbers: true)
        #expect(journal.append(Self.entry("x")) == 1)
    }

    @Test("tells of the first entry of each thousand, before which its numbers are kept ahead")
    func reserve() {
        let journal = journal()
        let reserved = Mutex<[Int]>([])
        journal.noteReserve { [unowned journal] in reserved.withLock { $0.append(journal.reservedNumber) } }
        for _ in 1...2001 { journal.append(Self.entry("x")) }
        #expect(reserved.withLock(\.self) == [1000, 2000, 3000])
    }

    @Test("a long poll answers at once when there is enough")
    func pollReady() async {
        let journal = journal()
        journal.append(Self.entry("x"))
        let found = await journal.entries(JournalFilter(), atLeast: 1, within: .seconds(600))
        #expect(found.map(\.id) == [1])
    }

    @Test("a long poll wakes with the entry that makes enough of them", .timeLimit(.minutes(15)))
    func pollWakes() async {
        let journal = journal()
        var filter = JournalFilter()
        filter.route = "wanted"
        async let polled = journal.entries(filter, atLeast: 2, within: .seconds(600))
        for route in ["wanted", "other", "wanted"] {
            await Task.yield()
            journal.append(Self.entry(route))
        }
        #expect(await polled.map(\.id) == [1, 3])
    }

    @Test("a long poll ends at its time with what there is")
    func pollEnds() async {
        let journal = journal()
        journal.append(Self.entry("x"))
        let start = ContinuousClock.now
        let found = await journal.entries(JournalFilter(), atLeast: 2, within: .milliseconds(30))
        #expect(found.map(\.id) == [1])
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test("a long poll ends when nobody waits for it any more", .timeLimit(.minutes(15)))
    func pollCancelled() async {
        let journal = journal()
        let poll = Task { await journal.entries(JournalFilter(), atLeast: 1, within: .seconds(600)) }
        poll.cancel()
        #expect(await poll.value.isEmpty)
    }

    @Test("appends from many threads are all kept, in order")
    func concurrency() async {
        let journal = journal()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<100 { journal.append(Self.entry("x")) } } }
        }
        #expect(journal.entries().map(\.id) == Array(1...800))
    }
}
