import Expectations
import JSON
import Synchronization
import Testing
import Tokens

@testable import Emulation

@Suite("Tables of records") struct RecordTableTests {
    private struct Pet: KeyedRecord, CodedRecord, Equatable {
        var id = 0
        var name = ""
        var owner: String?
        var secret: String?

        var key: Int { id }
        var names: [String] { [name] }
        var group: String? { owner }
        var memory: Int { name.utf8.count }
        var secretText: String? { secret }

        func clash(over name: String?) -> String { name.map { "another pet is called \($0)" } ?? "pet \(id) again" }

        mutating func keepSecrets(of known: Pet, fromWhole _: Bool) { secret = secret ?? known.secret }

        mutating func code(_ coder: inout RecordCoder) {
            coder.writesLast("owner")
            coder.member("id", &id, in: 1...99)
            coder.member("owner", &owner)
            coder.member("name", &name)
            coder.secret("secret", &secret)
        }
    }

    private static let fixtures = [Pet(id: 1, name: "Ada"), Pet(id: 2, name: "Ben"), Pet(id: 3, name: "Cy")]
    private static var table: RecordTable<Pet> { RecordTable(fixtures: fixtures) }

    @Test("nothing is changed or gone until somebody changes it, and a copy does not follow") func copies() {
        let untouched = Self.table
        var table = untouched
        table.store(Pet(id: 2, name: "Bob"))
        table.remove(3)
        table.store(Pet(id: 9, name: "Dot"))
        expect(table.all.map(\.name), is: ["Ada", "Bob", "Dot"])
        expect(table.changed.map(\.id), is: [2, 9])
        expect(table.removed, is: [3])
        #expect((table.count, table.byteCount, table.lastNumber) == (3, 9, 9))
        expect(untouched.all, is: Self.fixtures)
        #expect(untouched.changed.isEmpty && untouched.removed.isEmpty)
        #expect((untouched.count, untouched.byteCount, untouched.lastNumber) == (3, 8, 3))
    }

    @Test("a name finds who has it now") func names() {
        var table = Self.table
        table.store(Pet(id: 2, name: "Bob"))
        expect(table[named: "Ben"], is: nil)
        expect(table[named: "Bob"]?.id, is: 2)
        table.remove(1)
        expect(table[named: "Ada"], is: nil)
        table.put(Pet(id: 7, name: "Bob"))
        expect(table[2], is: nil)
        expect(table[named: "Bob"]?.id, is: 7)
    }

    @Test("what comes again stands where the fixtures have it") func order() {
        var table = Self.table
        table.remove(1)
        table.store(Pet(id: 1, name: "Ada"))
        expect(table.keys, is: [1, 2, 3])
        #expect(table.changed.isEmpty && table.removed.isEmpty && table.added.isEmpty)
        #expect(table.byteCount == Self.table.byteCount && table.count == 3)
        var other = Self.table
        other.removeAll()
        for id in [3, 1] { other.put(Self.fixtures[id - 1]) }
        expect(other.keys, is: [1, 3])
    }

    @Test("a record is changed in place, and groups, bytes and secrets follow") func change() {
        var table = Self.table
        table.store(Pet(id: 8, name: "Eve", owner: "x", secret: "s"))
        expect(table.change(8) { $0.secret }, is: "s")
        #expect(table.change(99) { _ in } == nil)
        expect(table.records(in: "x").map(\.id), is: [8])
        #expect(table.secrets.latest > 0)
        table.remove(8)
        expect(table.count(in: "x"), is: 0)
        expect(table.byteCount, is: 8)
    }

    @Test("beyond a bound the oldest go that the fixtures do not give") func bounds() {
        var table = Self.table
        for id in 10...14 { table.store(Pet(id: id, name: "n\(id)")) }
        #expect(table.shrink(to: RecordBound(count: 5)).isEmpty)
        expect(table.shrink(to: RecordBound(count: 3, share: nil), sparing: 10).map(\.id), is: [11, 12])
        expect(table.keys, is: [1, 2, 3, 10, 13, 14])
        expect(table.nextNumber(), is: 15)
    }

    @Test("changes are laid over other fixtures; where both want a name, the changes have it") func adoption() {
        var table = Self.table
        table.store(Pet(id: 2, name: "Bob"))
        table.remove(3)
        table.store(Pet(id: 20, name: "Zoe"))
        let other = RecordTable(fixtures: [Pet(id: 1, name: "Ann"), Pet(id: 3, name: "Cy"), Pet(id: 4, name: "Zoe")])
        let adopted = other.with(changesOf: table)
        expect(adopted.all.map(\.name), is: ["Ann", "Bob", "Zoe"])
        expect(adopted.lastNumber, is: 20)
    }

    @Test("a record is written in its order, without secrets where all is shown") func writing() {
        let pet = Pet(id: 1, name: "Ada", owner: "x", secret: "s")
        expect(pet.json(.changes).text, is: #"{"id":1,"name":"Ada","secret":"s","owner":"x"}"#)
        expect(pet.json(.whole).text, is: #"{"id":1,"name":"Ada","owner":"x"}"#)
    }

    @Test(
        "a wrong list is refused by its place",
        arguments: [
            (#"[{"id":1,"name":"a"},{"id":1,"name":"b"}]"#, "[1]: pet 1 again"),
            (#"[{"id":1,"name":"a"},{"id":2,"name":"a"}]"#, "[1]: another pet is called a"),
            (#"[{"id":100,"name":7}]"#, "[0].id: 100 is not between 1 and 99"),
            (#"[{"id":1}]"#, "[0]: member “name” is missing"),
            (#"[{"id":1,"nmae":"a"}]"#, "[0].nmae: unknown member “nmae”; did you mean “name”?"),
        ])
    func wrong(_ text: String, _ complaint: String) throws {
        let node = FixtureNode(try JSON.parse(text.utf8), from: "file")
        #expect(throws: FixtureProblem(file: "file", message: complaint)) {
            try RecordTable<Pet>.list([node], .export(.changes))
        }
    }

    @Test("a damaged record is set aside, and the others keep secrets that they do not tell") func salvage() throws {
        let aside = Salvage()
        let list = try JSON.parse(#"[{"id":1,"name":"Ada"},{"id":0,"name":"x"},{"id":2,"name":"B"}]"#.utf8)
        let known = RecordTable(fixtures: [Pet(id: 1, name: "Ada", secret: "s")])
        let read = try RecordTable.list(
            [FixtureNode(list, from: "file", settingAside: aside)], .export(.whole), known: known)
        expect(read.map(\.id), is: [1, 2])
        expect(read[0].secret, is: "s")
        expect(aside.parts.map(\.path), is: ["[1]"])
    }
}

@Suite("Ids in the order in which they came") struct ArrivalOrderTests {
    @Test("it holds what a plain array would, whatever is added, taken out and taken from the front")
    func likeAnArray() {
        var dice = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var (order, plain, moves) = (InsertionOrder<Int>(), [Int](), [String]())
            for _ in 0..<200 {
                let id = Int.random(in: 0..<60, using: &dice)
                switch Int.random(in: 0..<10, using: &dice) {
                case 0...5:
                    moves.append("+\(id)")
                    let isNew = order.append(id)
                    expect(isNew, is: !plain.contains(id), "\(moves)")
                    if !plain.contains(id) { plain.append(id) }
                case 6...8:
                    moves.append("-\(id)")
                    let wasThere = order.remove(id)
                    expect(wasThere, is: plain.contains(id), "\(moves)")
                    plain.removeAll { $0 == id }
                default:
                    let count = id % 5
                    moves.append("<\(count)")
                    let oldest = order.removeFirst(count)
                    expect(oldest, is: Array(plain.prefix(count)), "\(moves)")
                    plain.removeFirst(min(count, plain.count))
                }
                expect(Array(order), is: plain, "\(moves)")
                #expect(order.count == plain.count && order.isEmpty == plain.isEmpty, "\(moves)")
            }
        }
    }
}

@Suite("Findings") struct FindingsTests {
    private enum Failure: String, VendorFailure { case early, late }

    @Test("lead to the failure of the first that failed, also inside a list") func firstFailure() {
        var findings = Findings<Failure>()
        findings.add([Finding("a", .notJudged), Finding("b", .failed)], orFail: .early)
        findings.add(Finding("c", .failed), orFail: .late)
        expect(findings.failure, is: .early)
    }

    @Test("are forgotten back to an earlier state, failure included") func rewind() {
        var findings = Findings<Failure>()
        findings.add([Finding("a", .passed)], orFail: .early)
        let earlier = findings.list
        findings.add(Finding("b", .failed), orFail: .late)
        findings.rewind(to: earlier)
        expect(findings.all.map(\.check), is: ["a"])
        expect(findings.failure, is: nil)
    }

    /// Facts that give each rule its outcome, and count the findings that rules were asked for.
    private struct Outcomes: RuleFacts {
        typealias Failure = FindingsTests.Failure

        let outcomes: [Finding.Outcome?]
        let asked = Counter()
        var explanation: String? = "why"
        var compact: CompactToken? { nil }

        mutating func dropExplanations() { explanation = nil }

        func judged() -> Findings<Failure> {
            let rules = zip(["a", "b", "c", "d"], outcomes.indices).map { name, place in
                TokenRule<Outcomes>(name, expects: .text("nothing"), source: nil, .ours, orFail: .late) {
                    if $1 != nil { $0.asked.total.add(1, ordering: .relaxed) }
                    $1?.note = $0.explanation
                    return $0.outcomes[place]
                }
            }
            var findings = Findings<Failure>()
            findings.judge(self, by: RuleList(rules))
            return findings
        }
    }

    private final class Counter: Sendable {
        let total = Atomic(0)
        var value: Int { total.load(ordering: .relaxed) }
    }

    @Test("of rules that hold are made when they are read, and not before") func unread() {
        let facts = Outcomes(outcomes: [.passed, .noted, nil, .notJudged])
        let findings = facts.judged()
        expect(facts.asked.value, is: 0)
        expect(findings.failure, is: nil)
        expect(
            findings.all.map { "\($0.check) \($0.outcome) \($0.note ?? "")" },
            is: ["a passed ", "b noted ", "d notJudged "])
        #expect(findings.list.byteCount >= MemoryLayout<Outcomes>.size)
    }

    @Test("of broken rules are made at once, with what explains them, the others when they are read") func broken() {
        let facts = Outcomes(outcomes: [.passed, .failed, .noted])
        let findings = facts.judged()
        expect(findings.failure, is: .late)
        let atOnce = facts.asked.value
        expect(findings.all.map { "\($0.check) \($0.note ?? "")" }, is: ["a ", "b why", "c why"])
        expect(findings.list.firstFailed?.check, is: "b")
        #expect((1..<3).contains(atOnce), "found \(atOnce) findings made before anybody read them")
    }

    @Test("count with the room that they take, whether they came one by one or as a list") func size() {
        var list = FindingList()
        expect(list.byteCount, is: 0)
        list.append([Finding](repeating: Finding("a", .passed), count: 10))
        let one = MemoryLayout<Finding>.stride
        #expect(list.byteCount >= 10 * one)
        let before = list.byteCount
        for _ in 0..<100 { list.append(Finding("b", .passed)) }
        #expect(list.byteCount >= before + 80 * one)
    }
}

@Suite("Tokens that came before") struct RecentReadingsTests {
    @Test("are read twice and known from then on") func known() {
        let recent = RecentReadings<Int>()
        var readings = 0
        func read(_ token: [UInt8]) -> Int {
            readings += 1
            return token.count
        }
        for _ in 0..<5 { expect(recent.reading(of: Array("a.b.c".utf8)[...], read), is: 5) }
        expect(readings, is: 2)
    }

    @Test("are told apart byte for byte, also where the last bytes or the characters are the same") func collisions() {
        let recent = RecentReadings<[UInt8]>()
        let texts = [
            "1.0123456789abcdef", "2.0123456789abcdef", "e\u{301}.0123456789abcdef", "\u{E9}.0123456789abcdef",
        ]
        for _ in 0..<3 {
            for bytes in texts.map({ Array($0.utf8) }) {
                for _ in 0..<3 { expect(recent.reading(of: bytes[...]) { $0 }, is: bytes) }
            }
        }
    }
}
