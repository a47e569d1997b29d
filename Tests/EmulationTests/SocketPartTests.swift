import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("Parts of sockets and deadlines")
struct SocketPartTests {
    @Test("the log of a socket keeps the newest frames within its bounds, and counts all")
    func log() {
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
        #expect(log.frames.last?.message == .text("last"))
        let json = log.json { _ in .null }
        #expect(json["received"] == 2500)
        #expect(json["sent"] == 2501)
    }

    @Test("a frame names the entry of the call it was sent for, once there is one")
    func cause() {
        let log = SocketLog()
        let (moment, cause) = (Moment(unixSeconds: 0), FrameCause())
        log.received(.text("a"), [], at: moment)
        log.sent(.text("b"), at: moment)
        log.sent(.text("c"), at: moment, because: cause)
        let causes = { log.json { _ in .null }["frames"]?.array?.map { $0["cause"] } }
        #expect(causes() == [.null, .null, .null])
        var record = ExchangeRecord()
        record.cause = cause
        let journal = Journal(limits: .init(), total: JournalTotal())
        let request = Request(method: .get, target: "/")
        journal.append(
            JournalEntry(sandbox: "s", moment: moment, request: request, response: .empty(), record: ExchangeRecord()))
        journal.append(
            JournalEntry(sandbox: "s", moment: moment, request: request, response: .empty(), record: record))
        #expect(causes() == [.null, .null, 2])
        #expect(journal.newest == 2)
        journal.clear()
        #expect(journal.newest == 0)
    }

    @Test("the first end of a socket is the one that counts")
    func ends() {
        let log = SocketLog()
        #expect(log.closure == nil)
        log.closed(WebSocketClosure(.normal), at: Moment(unixSeconds: 0))
        log.closed(WebSocketClosure(.abnormal), at: Moment(unixSeconds: 0))
        #expect(log.closure == WebSocketClosure(.normal))
    }

    @Test("what is due comes in the order of time, and what was taken back not at all")
    func heap() {
        var heap = DueHeap()
        var dice = SplitMix64(state: 7)
        let moments = (0..<500).map { _ in Moment(unixSeconds: Double(dice.next() % 1000)) }
        for (number, moment) in moments.enumerated() { heap.insert(moment, number) }
        heap.keep { $0.isMultiple(of: 2) }
        #expect(heap.count == 250)
        var taken: [Moment] = []
        while let number = heap.removeFirst(until: Moment(unixSeconds: 600)) {
            #expect(number.isMultiple(of: 2))
            taken.append(moments[number])
        }
        #expect(taken == taken.sorted())
        let due = moments.enumerated().filter { $0.offset.isMultiple(of: 2) && $0.element.unixSeconds <= 600 }
        #expect(taken.count == due.count)
        #expect(heap.first.map { $0.unixSeconds > 600 } == true)
        #expect(heap.removeFirst(until: Moment(unixSeconds: 600)) == nil)
    }
}
