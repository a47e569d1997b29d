import Emulation
import JSON
import Testing

/// What is written of a state, row by row.
@Suite("State rows")
struct StateRowTests {
    /// The rows that a store has.
    private struct Store {
        private(set) var rows: [StateRow.Name: StateRow] = [:]

        var document: JSON {
            StateRow.document(of: rows.values.sorted { $0.rank < $1.rank }) { _ in }
        }

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
            #expect(second.rows.written.count == written)
            #expect(second.rows.removed.count == removed)
            #expect(second.rows.emptied == (isEmptied ? ["list"] : []))
            var next = store
            next.take(second.rows)
            #expect(next.document["list"] ?? [] == .array(after.map { JSON($0) }))
        }
    }

    @Test("of what is no list are written when it differs, and removed when it is gone")
    func singles() {
        let name = StateRow.Name(part: "clock")
        let first = RowWriter(.changes)
        first.single(name, ["a": 1])
        #expect(first.rows.written.map(\.document) == [Array(#"{"a":1}"#.utf8)])
        let second = RowWriter(.changes, first.ledger)
        second.single(name, ["a": 1])
        #expect(second.rows.isEmpty)
        second.single(name, nil)
        #expect(second.rows.removed == [name])
        second.single(name, nil)
        #expect(second.rows.removed == [name])
    }

    @Test("that could not be written yet are joined by later ones", arguments: 0..<200)
    func joining(_ seed: Int) {
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
        #expect(two.document == one.document)
    }

    @Test("with odd names come back where they were")
    func names() {
        var rows: [StateRow] = []
        let writer = RowWriter(.changes)
        for key in ["", "/", "%2F", "a/b%", "\0", "%00", ":", "é"] {
            writer.single(StateRow.Name(part: "list", key: ":" + key), .string(key))
        }
        rows = writer.rows.written
        #expect(StateRow.document(of: rows) { _ in }["list"]?.array?.count == 8)
        var unreadable: [String] = []
        let document = StateRow.document(of: rows + [StateRow(.init(part: "x"), document: [0x7B])]) {
            unreadable.append($0.name.part)
        }
        #expect(document["x"] == nil)
        #expect(unreadable == ["x"])
    }
}
