import Expectations
import JSON
import Synchronization
import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("Journals") struct JournalTests {
    static func entry(_ route: String, bodyBytes: Int = 0, failure: String? = nil) -> JournalEntry {
        var record = ExchangeRecord(VendorTraits(VendorIdentity(id: "v", title: "V", prefixes: []), secrets: []))
        record.route = route
        record.failure = failure
        return JournalEntry(
            sandbox: "s", moment: Moment(unixSeconds: 0),
            request: Request(method: .post, target: "/x", body: [UInt8](repeating: 120, count: bodyBytes)),
            response: .empty(.ok), record: record)
    }

    private func journal(
        entries: Int = 1000, bytes: Int = 4 << 20, together: Int = 64 << 20, total: JournalTotal = JournalTotal()
    ) -> Journal {
        var limits = Journal.Limits()
        (limits.entries, limits.bytes, limits.totalBytes) = (entries, bytes, together)
        return Journal(limits: limits, total: total)
    }

    @Test("numbers its entries and keeps the newest that its count allows", arguments: [1, 2, 7, 8, 9, 100])
    func count(_ limit: Int) {
        let journal = journal(entries: limit)
        for number in 1...250 { expect(journal.append(Self.entry("\(number)")), is: number) }
        expect(journal.entries().map(\.id), is: Array(251 - limit...250))
        expect(journal.entries().map(\.record.route), is: (251 - limit...250).map { "\($0)" })
        expect(journal.count, is: limit)
    }

    @Test("counts the refusals that it keeps") func refusals() {
        let journal = journal(entries: 4)
        for number in 1...6 { journal.append(Self.entry("x", failure: number.isMultiple(of: 3) ? nil : "f")) }
        expect(journal.refusals, is: journal.entries().count { $0.record.failure != nil })
        expect(journal.refusals, is: 2)
        journal.clear()
        expect(journal.refusals, is: 0)
    }

    @Test("keeps no more bytes than it may") func bytes() {
        let total = JournalTotal()
        let journal = journal(bytes: 100_000, total: total)
        for _ in 0..<50 { journal.append(Self.entry("x", bodyBytes: 10_000)) }
        #expect(journal.bytes <= 100_000)
        expect(journal.count, is: 9)
        expect(total.bytes, is: journal.bytes)
        journal.clear()
        expect(journal.bytes, is: 0)
        expect(total.bytes, is: 0)
    }

    @Test("leaves out the bodies of an entry that would push out all the others") func longBody() throws {
        let journal = journal(bytes: 100_000)
        journal.append(Self.entry("x"))
        journal.append(Self.entry("long", bodyBytes: 90_000))
        expect(journal.count, is: 2)
        let entry = try #require(journal.entry(2))
        #expect(entry.omitsBodies)
        let json = MaskedExchange(entry, by: Redactor()).json(routes: RouteTable([]))
        expect(json["request"]?["body"], is: "(too long to be kept)")
    }

    @Test("gives back its bytes when it goes away") func release() {
        let total = JournalTotal()
        do {
            let journal = journal(total: total)
            journal.append(Self.entry("x"))
            #expect(total.bytes > 0)
        }
        expect(total.bytes, is: 0)
    }

    @Test("all journals together are bounded, and the longest unused one gives way first") func bound() {
        let total = JournalTotal()
        var journals = (0..<3).map { _ in journal(together: 250_000, total: total) }
        func add(_ count: Int, to journal: Int) {
            for _ in 0..<count { journals[journal].append(Self.entry("x", bodyBytes: 10_000)) }
            #expect(total.bytes <= 250_000)
            expect(total.bytes, is: journals.map(\.bytes).reduce(0, +))
        }
        // Only 22 entries fit.
        for index in journals.indices { add(7, to: index) }
        expect(journals.map(\.count), is: [7, 7, 7])
        add(2, to: 2)
        expect(journals.map(\.count), is: [3, 7, 9])
        add(1, to: 0)
        add(3, to: 2)
        expect(journals.map(\.count), is: [4, 3, 12])
        // The second journal gives up everything, then the first.
        add(7, to: 2)
        expect(journals.map(\.count), is: [2, 0, 19])
        add(1, to: 1)
        add(1, to: 2)
        expect(journals.map(\.count), is: [1, 1, 20])
        journals[2] = journal(together: 250_000, total: total)
        expect(total.bytes, is: journals.map(\.bytes).reduce(0, +))
        add(21, to: 2)
        expect(journals.map(\.count), is: [0, 1, 21])
    }

    @Test("a single journal gives way to its own newest entries") func alone() {
        let journal = journal(together: 50_000)
        for number in 1...50 { expect(journal.append(Self.entry("x", bodyBytes: 10_000)), is: number) }
        #expect(journal.bytes <= 50_000)
        #expect(journal.entry(50) != nil)
    }

    @Test("tells of the first entry of each thousand, before which its numbers are kept ahead") func reserve() {
        let journal = journal()
        let reserved = Mutex<[Int]>([])
        journal.noteReserve { [unowned journal] in reserved.withLock { $0.append(journal.reservedNumber) } }
        for _ in 1...2001 { journal.append(Self.entry("x")) }
        expect(reserved.withLock(\.self), is: [1000, 2000, 3000])
    }

    @Test("a long poll ends when nobody waits for it any more", .timeLimit(.minutes(15))) func pollCancelled() async {
        let journal = journal()
        let poll = Task { await journal.first(within: .seconds(600), { journal.entries() }, where: { !$0.isEmpty }) }
        poll.cancel()
        #expect(await poll.value.isEmpty)
    }

    @Test("appends from many threads are all kept, in order") func concurrency() async {
        let journal = journal()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<100 { journal.append(Self.entry("x")) } } }
        }
        expect(journal.entries().map(\.id), is: Array(1...800))
    }
}

@Suite("Parts of sockets and deadlines") struct SocketPartTests {
    @Test("the log of a socket keeps the newest frames within its bounds, and counts all") func log() {
        let log = SocketLog()
        let moment = Moment(unixSeconds: 0)
        let notes = (0..<100).map { _ in Finding("x", .noted) }
        for number in 0..<5000 {
            let text = String(repeating: "x", count: number % 3000) + "\(number)"
            if number.isMultiple(of: 2) {
                log.received(.text(text), notes, at: moment)
            } else {
                log.sent(.text(text), at: moment)
            }
            let kept = log.frames.reduce(0) { $0 + ($1.message?.byteCount ?? 0) }
            #expect(kept <= SocketLog.byteLimit)
            #expect(log.frames.count < 100)
        }
        log.sent(.text("last"), at: moment)
        expect(log.frames.last?.message, is: .text("last"))
        let json = log.json { _ in .null }
        expect(json["received"], is: 2500)
        expect(json["sent"], is: 2501)
    }

    @Test("a frame names the entry of the call it was sent for, once there is one") func cause() {
        let log = SocketLog()
        let (moment, cause) = (Moment(unixSeconds: 0), FrameCause())
        log.received(.text("a"), [], at: moment)
        log.sent(.text("b"), at: moment)
        log.sent(.text("c"), at: moment, because: cause)
        let causes = { log.json { _ in .null }["frames"]?.array?.map { $0["cause"] } }
        expect(causes(), is: [.null, .null, .null])
        var record = ExchangeRecord()
        record.cause = cause
        let journal = Journal(limits: .init(), total: JournalTotal())
        let request = Request(method: .get, target: "/")
        journal.append(
            JournalEntry(sandbox: "s", moment: moment, request: request, response: .empty(), record: ExchangeRecord()))
        journal.append(JournalEntry(sandbox: "s", moment: moment, request: request, response: .empty(), record: record))
        expect(causes(), is: [.null, .null, 2])
        expect(journal.newest, is: 2)
        journal.clear()
        expect(journal.newest, is: 0)
    }

    @Test("the first end of a socket is the one that counts") func ends() {
        let log = SocketLog()
        expect(log.closure, is: nil)
        log.closed(WebSocketClosure(.normal), at: Moment(unixSeconds: 0))
        log.closed(WebSocketClosure(.abnormal), at: Moment(unixSeconds: 0))
        expect(log.closure, is: WebSocketClosure(.normal))
    }

    @Test("what is due comes in the order of time, and what was taken back not at all") func heap() {
        var heap = DueHeap<Moment, Int>()
        var dice = SplitMix64(state: 7)
        let moments = (0..<500).map { _ in Moment(unixSeconds: Double(dice.next() % 1000)) }
        for (number, moment) in moments.enumerated() { heap.insert(moment, number) }
        heap.keep { $0.isMultiple(of: 2) }
        expect(heap.count, is: 250)
        var taken: [Moment] = []
        while let (_, number) = heap.removeFirst(until: Moment(unixSeconds: 600)) {
            #expect(number.isMultiple(of: 2))
            taken.append(moments[number])
        }
        expect(taken, is: taken.sorted())
        let due = moments.enumerated().filter { $0.offset.isMultiple(of: 2) && $0.element.unixSeconds <= 600 }
        expect(taken.count, is: due.count)
        expect(heap.first.map { $0.unixSeconds > 600 }, is: true)
        expect(heap.removeFirst(until: Moment(unixSeconds: 600))?.value, is: nil)
    }
}

@Suite("State rows") struct StateRowTests {
    private struct Store {
        private(set) var rows: [StateRow.Name: StateRow] = [:]

        var document: JSON { StateRow.document(of: rows.values.sorted { $0.rank < $1.rank }) { _ in } }

        mutating func take(_ changes: StateRows) {
            if changes.isAnew { rows = [:] }
            rows = rows.filter { !changes.emptied.contains($0.key.part) && !changes.removed.contains($0.key) }
            for row in changes.written {
                rows[row.name] = StateRow(row.name, rank: rows[row.name]?.rank ?? row.rank, document: row.document)
            }
        }
    }

    @Test(
        "of a list are as few as its change needs",
        arguments: [
            ([1, 2, 3], [1, 2, 3], 0, 0, false), ([1, 2, 3], [1, 2, 3, 4], 1, 0, false),
            ([1, 2, 3], [2, 3, 4], 1, 1, false),
            ([1, 2, 3], [1, 3], 0, 1, false), ([1, 2, 3], [3, 2, 1], 3, 0, true), ([1, 2, 3], [1, 9, 3], 3, 0, true),
            ([1, 1], [1], 1, 0, true), ([], [5, 5], 2, 0, false), ([1, 2], [], 0, 2, false),
        ] as [([Int], [Int], Int, Int, Bool)])
    func lists(_ before: [Int], _ after: [Int], _ written: Int, _ removed: Int, _ isEmptied: Bool) {
        var store = Store()
        let first = RowWriter(.changes)
        first.list("list", before.map { JSON($0) })
        store.take(first.rows)
        // A store gives its rows back as they are.
        for ledger in [first.ledger, StateLedger(store.rows.values.sorted { $0.rank < $1.rank })] {
            let second = RowWriter(.changes, ledger)
            second.list("list", after.map { JSON($0) })
            expect(second.rows.written.count, is: written)
            expect(second.rows.removed.count, is: removed)
            expect(second.rows.emptied, is: (isEmptied ? ["list"] : []))
            var next = store
            next.take(second.rows)
            #expect(next.document["list"] ?? [] == .array(after.map { JSON($0) }))
        }
    }

    @Test("of what is no list are written when it differs, and removed when it is gone") func singles() {
        let name = StateRow.Name(part: "clock")
        let first = RowWriter(.changes)
        first.single(name, ["a": 1])
        expect(first.rows.written.map(\.document), is: [Array(#"{"a":1}"#.utf8)])
        let second = RowWriter(.changes, first.ledger)
        second.single(name, ["a": 1])
        #expect(second.rows.isEmpty)
        second.single(name, nil)
        expect(second.rows.removed, is: [name])
        second.single(name, nil)
        expect(second.rows.removed, is: [name])
    }

    @Test("that could not be written yet are joined by later ones", arguments: 0..<200) func joining(_ seed: Int) {
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func draw(_ count: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % count
        }
        var (one, two, joined, rank) = (Store(), Store(), StateRows(), 0)
        for _ in 0..<6 {
            var changes = StateRows()
            changes.isAnew = draw(12) == 0
            if draw(4) == 0 { changes.emptied = ["p\(draw(2))"] }
            for _ in 0..<draw(3) { changes.removed.append(StateRow.Name(part: "p\(draw(2))", key: ":\(draw(4))")) }
            var names: Set<StateRow.Name> = []
            for _ in 0..<draw(4) {
                let name = StateRow.Name(part: "p\(draw(2))", key: ":\(draw(4))")
                guard names.insert(name).inserted else { continue }
                rank += 1
                changes.written.append(StateRow(name, rank: rank, document: Array("\(draw(100))".utf8)))
            }
            one.take(changes)
            joined.append(changes)
        }
        two.take(joined)
        expect(two.document, is: one.document)
    }

    @Test("with odd names come back where they were") func names() {
        let writer = RowWriter(.changes)
        for key in ["", "/", "%2F", "a/b%", "\0", "%00", ":", "é"] {
            writer.single(StateRow.Name(part: "list", key: ":" + key), .string(key))
        }
        let rows = writer.rows.written
        expect(StateRow.document(of: rows) { _ in }["list"]?.array?.count, is: 8)
        var unreadable: [String] = []
        let document = StateRow.document(of: rows + [StateRow(.init(part: "x"), document: [0x7B])]) {
            unreadable.append($0.name.part)
        }
        expect(document["x"], is: nil)
        expect(unreadable, is: ["x"])
    }
}
