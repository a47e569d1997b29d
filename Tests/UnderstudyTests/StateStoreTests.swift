import Emulation
import Expectations
import Support
import Synchronization
import Testing

@testable import Understudy

extension StateStore {
    func claimed(_ sandbox: String) throws -> (claim: StoreClaim, rows: [StateRow], expires: Moment?, wasHeld: Bool) {
        guard case .claimed(let claim, let rows, let expires, let wasHeld) = try claim(sandbox) else {
            throw StoreProblem("\(sandbox) is held")
        }
        return (claim, rows, expires, wasHeld)
    }

    func put(_ rows: [StateRow], in claim: StoreClaim, expires: Moment? = nil) throws -> Set<String> {
        var changes = StateRows()
        changes.written = rows
        return try write([.init(claim, changes, expires: expires)])
    }
}

extension StoreChange {
    init(_ claim: StoreClaim, _ rows: StateRows, expires: Moment? = nil) {
        self.init(
            claim: claim, rows: rows,
            times: StoreTimes(created: Moment(unixSeconds: 100.5), used: Moment(unixSeconds: 200.25), expires: expires))
    }
}

extension StateRow {
    init(_ part: String, _ key: String, _ rank: Int, _ document: String) {
        self.init(Name(part: part, key: key), rank: rank, document: Array(document.utf8))
    }
}

@Suite("A store of sandboxes", .timeLimit(.minutes(10))) final class StateStoreTests {
    private let homes = Mutex<[StoreHome]>([])

    private func makeStore(_ engine: StoreEngine) throws -> any StateStore {
        let home = try StoreHome(engine)
        homes.withLock { $0.append(home) }
        return try home.open()
    }

    @Test("gives a sandbox's rows back in their order", arguments: StoreEngine.allCases)
    func order(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let first = try store.claimed("a")
        #expect(first.rows == [] && first.expires == nil && !first.wasHeld)
        let rows = [StateRow("clock", "", 0, "{}"), .init("okta/users", "z", 1, "1"), .init("okta/users", "b", 2, "2")]
        expect(try store.put(rows.reversed(), in: first.claim, expires: Moment(unixSeconds: 1e9 + 0.125)), is: [])
        expect(try store.rows(of: "a"), is: rows)
        try store.release([first.claim])
        let second = try store.claimed("a")
        #expect(second.claim.epoch > first.claim.epoch || engine == .sqlite, "who is alone always has the first")
        expect(second.rows, is: rows)
        expect(second.expires, is: Moment(unixSeconds: 1e9 + 0.125))
        expect(try store.rows(of: "b"), is: [])
    }

    @Test("leaves a row that is written again in its place", arguments: StoreEngine.allCases)
    func place(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let claim = try store.claimed("a").claim
        _ = try store.put([.init("p", "x", 1, "1"), .init("p", "y", 2, "2")], in: claim)
        _ = try store.put([.init("p", "x", 9, "3")], in: claim)
        expect(try store.rows(of: "a"), is: [.init("p", "x", 1, "3"), .init("p", "y", 2, "2")])
    }

    @Test("first forgets what goes, then writes what comes", arguments: StoreEngine.allCases)
    func removal(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let (a, b) = (try store.claimed("a").claim, try store.claimed("b").claim)
        let rows = ["p", "q", "r"].enumerated().flatMap { part in
            (1...3).map { StateRow(part.element, "\($0)", 10 * part.offset + $0, "\($0)") }
        }
        for claim in [a, b] { expect(try store.put(rows, in: claim), is: []) }
        var change = StateRows()
        change.emptied = ["p"]
        change.removed = [.init(part: "q", key: "2"), .init(part: "q", key: "none")]
        change.written = [.init("p", "3", 40, "new"), .init("q", "2", 41, "again")]
        expect(try store.write([.init(a, change)]), is: [])
        expect(
            try store.rows(of: "a").map { "\($0.name.part)\($0.name.key)" },
            is: ["q1", "q3", "r1", "r2", "r3", "p3", "q2"])
        expect(try store.rows(of: "b"), is: rows)
        change = StateRows()
        change.isAnew = true
        change.written = [.init("s", "", 0, "{}")]
        expect(try store.write([.init(a, change)]), is: [])
        expect(try store.rows(of: "a"), is: [.init("s", "", 0, "{}")])
        expect(try store.rows(of: "b"), is: rows)
    }

    @Test("takes any text for a part, a key and a document", arguments: StoreEngine.allCases)
    func texts(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let texts = [
            "", "NULL", "null", "\"", "\\", "\\\\0", "\\0", "{},\"", "{a,\"b\\\"}",
            "'; DROP TABLE records", "$1", "\n\t\r",
            " ", "a ", "é", "e\u{301}", "👩‍👩‍👧", "\u{FFFF}", "\u{10FFFF}", "Z", "z", String(repeating: "k", count: 900),
        ]
        let claim = try store.claimed("a").claim
        let rows = texts.enumerated().map { StateRow($1, $1, $0, "{\"\($1)\": 1}") }
        expect(try store.put(rows, in: claim), is: [])
        expect(try store.rows(of: "a"), is: rows)
        var change = StateRows()
        change.removed = rows.prefix(12).map(\.name)
        change.emptied = rows.dropFirst(12).dropLast().map(\.name.part)
        expect(try store.write([.init(claim, change)]), is: [])
        expect(try store.rows(of: "a"), is: rows.suffix(1))
    }

    @Test("takes documents of a megabyte and thousands of rows at once", arguments: StoreEngine.allCases)
    func amounts(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let claim = try store.claimed("a").claim
        let long = "\"" + String(repeating: "\\\"é{", count: 200_000) + "\""
        let rows =
            (0..<6).map { StateRow("long", "\($0)", $0, long) } + (6..<5_000).map { .init("p", "\($0)", $0, "{}") }
        expect(try store.put(rows, in: claim), is: [])
        expect(try store.rows(of: "a"), is: rows)
    }

    @Test("writes all of a batch but what is no longer this server's, where others may have it") func lost() throws {
        let store = try makeStore(.postgres)
        let claims = try ["c", "a", "b"].map { try store.claimed($0).claim }
        for claim in claims { _ = try store.put([.init("p", "", 0, "old")], in: claim) }
        try store.release([claims[1]])
        var change = StateRows()
        change.isAnew = true
        change.written = [.init("p", "", 0, "new")]
        expect(try store.write(claims.map { .init($0, change) }), is: ["a"])
        for (name, text) in [("a", "old"), ("b", "new"), ("c", "new")] {
            expect(try store.rows(of: name), is: [.init("p", "", 0, text)], "\(name)")
        }
        let old = StoreClaim(sandbox: "b", epoch: claims[2].epoch + 1)
        expect(try store.put([.init("p", "", 0, "wrong")], in: old), is: ["b"])
        #expect(try !store.delete(old))
        try store.release([old])
        expect(try store.put([.init("p", "", 0, "right")], in: claims[2]), is: [])
    }

    @Test("writes nothing of a batch that fails", arguments: StoreEngine.allCases)
    func wholeBatches(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let claims = try ["a", "b"].map { try store.claimed($0).claim }
        for claim in claims { _ = try store.put([.init("p", "", 0, "old")], in: claim) }
        var change = StateRows()
        change.isAnew = true
        change.written = [.init("p", "", 0, "new")]
        var wrong = change
        // JSON has no such byte, and an engine may refuse it or keep it; but not the half of the batch.
        wrong.written.append(StateRow(.init(part: "q"), document: [0x61, 0, 0xFF]))
        do {
            _ = try store.write([.init(claims[0], change), .init(claims[1], wrong)])
        } catch {
            for name in ["a", "b"] { expect(try store.rows(of: name), is: [.init("p", "", 0, "old")]) }
        }
    }

    @Test("forgets a released sandbox that has no rows, and a deleted one", arguments: StoreEngine.allCases)
    func forgetting(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        let claims = try ["a", "b", "c"].map { try store.claimed($0).claim }
        _ = try store.put([.init("p", "", 0, "{}")], in: claims[1])
        _ = try store.put([.init("p", "", 0, "{}")], in: claims[2])
        expect(try store.list().map(\.name).filter { $0 != "a" }, is: ["b", "c"])
        try store.release([claims[0], claims[1]])
        expect(try store.list().map(\.name), is: ["b", "c"])
        #expect(try store.delete(claims[2]))
        #expect(try !store.delete(claims[2]))
        expect(try store.list().map(\.name), is: ["b"])
        let again = try store.claimed("c")
        expect(again.rows, is: [])
        #expect(try !store.delete(again.claim), "it has no rows")
    }

    @Test("lists sandboxes with their times and their owners", arguments: StoreEngine.allCases)
    func list(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        for name in ["b", "a-1", "a"] {
            let claim = try store.claimed(name).claim
            _ = try store.put(
                [.init("p", "", 0, "{}")], in: claim, expires: name == "a" ? Moment(unixSeconds: 300) : nil)
            if name == "b" { try store.release([claim]) }
        }
        let list = try store.list()
        expect(list.map(\.name), is: ["a", "a-1", "b"])
        expect(list.map(\.owner), is: [store.replica, store.replica, nil])
        expect(list.map(\.times.expires), is: [Moment(unixSeconds: 300), nil, nil])
        for sandbox in list {
            expect(sandbox.times.created, is: Moment(unixSeconds: 100.5))
            expect(sandbox.times.used, is: Moment(unixSeconds: 200.25))
        }
    }

    @Test("forgets expired sandboxes that belong to nobody", arguments: StoreEngine.allCases)
    func expiry(_ engine: StoreEngine) throws {
        let store = try makeStore(engine)
        for (name, expires) in [("a", 300.0), ("b", 300), ("c", 301), ("d", nil)] {
            let claim = try store.claimed(name).claim
            _ = try store.put([.init("p", "", 0, "{}")], in: claim, expires: expires.map { Moment(unixSeconds: $0) })
            if name != "b" { try store.release([claim]) }
        }
        try store.deleteExpired(at: Moment(unixSeconds: 299), sparing: ["b"])
        expect(try store.list().map(\.name), is: ["a", "b", "c", "d"])
        try store.deleteExpired(at: Moment(unixSeconds: 300), sparing: ["b"])
        expect(try store.list().map(\.name), is: ["b", "c", "d"])
        expect(try store.rows(of: "a"), is: [])
    }
}
