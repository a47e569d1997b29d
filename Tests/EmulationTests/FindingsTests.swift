import Synchronization
import Testing
import Tokens

@testable import Emulation

/// Facts with predetermined rule outcomes that count how often findings are requested.
private struct CountedFacts: RuleFacts {
    typealias Failure = FindingsTests.Failure

    final class Count: Sendable {
        let asked = Atomic(0)
    }

    let outcomes: [Finding.Outcome?]
    let count = Count()
    var explanation: String? = "why"
    var compact: CompactToken? { nil }

    mutating func dropExplanations() { explanation = nil }

    /// Rules with these names.
    static func rules(_ names: [String], orFail failure: Failure) -> RuleList<CountedFacts> {
        RuleList(
            names.enumerated().map { place, name in
                TokenRule(name, expects: .text("nothing"), source: nil, .ours, orFail: failure) { facts, finding in
                    if finding != nil { facts.count.asked.add(1, ordering: .relaxed) }
                    finding?.note = facts.explanation
                    return facts.outcomes[place]
                }
            })
    }
}

@Suite("Findings")
struct FindingsTests {
    fileprivate enum Failure: String, VendorFailure {
        case early
        case late
    }

    @Test("come out in the order in which they were recorded, one by one or as lists")
    func order() {
        var findings = Findings<Failure>()
        findings.add(Finding("a", .passed), orFail: .early)
        findings.add([Finding("b", .passed), Finding("c", .noted)], orFail: .early)
        findings.add([], orFail: .early)
        findings.note(Finding("d", .noted))
        #expect(findings.all.map(\.check) == ["a", "b", "c", "d"])
        #expect(findings.failure == nil)
    }

    @Test("lead to the failure of the first that failed, also inside a list")
    func firstFailure() {
        var findings = Findings<Failure>()
        findings.add([Finding("a", .notJudged), Finding("b", .failed)], orFail: .early)
        findings.add(Finding("c", .failed), orFail: .late)
        #expect(findings.failure == .early)
    }

    @Test("of rules that hold are made when they are read, in their place, and not before")
    func unread() {
        let facts = CountedFacts(outcomes: [.passed, .noted, nil, .notJudged])
        var findings = Findings<Failure>()
        findings.add(Finding("a", .passed), orFail: .early)
        findings.judge(facts, by: CountedFacts.rules(["b", "c", "x", "d"], orFail: .early))
        findings.add(Finding("e", .passed), orFail: .late)
        #expect(facts.count.asked.load(ordering: .relaxed) == 0)
        #expect(findings.failure == nil)
        #expect(findings.all.map(\.check) == ["a", "b", "c", "d", "e"])
        #expect(findings.all.map(\.outcome) == [.passed, .passed, .noted, .notJudged, .passed])
        #expect(facts.count.asked.load(ordering: .relaxed) == 6)
        #expect(findings.all.allSatisfy { $0.note == nil }, "what explains failures alone is not kept")
        #expect(findings.list.byteCount >= MemoryLayout<CountedFacts>.size)
    }

    @Test("of broken rules and their remarks are made at once, with what explains them, the others when they are read")
    func broken() {
        let facts = CountedFacts(outcomes: [.passed, .failed, .noted])
        var findings = Findings<Failure>()
        findings.judge(facts, by: CountedFacts.rules(["a", "b", "c"], orFail: .late))
        #expect(findings.failure == .late)
        #expect(facts.count.asked.load(ordering: .relaxed) == 2)
        for _ in 0..<2 { #expect(findings.all.map(\.check) == ["a", "b", "c"]) }
        #expect(facts.count.asked.load(ordering: .relaxed) == 2 + 2)
        #expect(findings.all.map(\.note) == [nil, "why", "why"])
        #expect(findings.list.firstFailed?.check == "b")
    }

    @Test("are forgotten back to an earlier state, failure included")
    func rewind() {
        var findings = Findings<Failure>()
        findings.add([Finding("a", .passed)], orFail: .early)
        let earlier = findings.list
        findings.add(Finding("b", .failed), orFail: .late)
        findings.rewind(to: earlier)
        #expect(findings.all.map(\.check) == ["a"])
        #expect(findings.failure == nil)
    }

    @Test("count with the room that they take, whether they came one by one or as a list")
    func size() {
        var list = FindingList()
        #expect(list.byteCount == 0)
        list.append([Finding](repeating: Finding("a", .passed), count: 10))
        let one = MemoryLayout<Finding>.stride
        #expect(list.byteCount >= 10 * one)
        let before = list.byteCount
        for _ in 0..<100 { list.append(Finding("b", .passed)) }
        #expect(list.byteCount >= before + 80 * one)
    }
}

@Suite("Tokens that came before")
struct RecentReadingsTests {
    @Test("are read twice and known from then on")
    func known() {
        let recent = RecentReadings<Int>()
        var readings = 0
        func read(_ token: [UInt8]) -> Int {
            readings += 1
            return token.count
        }
        for _ in 0..<5 { #expect(recent.reading(of: Array("a.b.c".utf8)[...], read) == 5) }
        #expect(readings == 2)
    }

    @Test("are told apart byte for byte, also where the last bytes or the characters are the same")
    func collisions() {
        let recent = RecentReadings<[UInt8]>()
        let texts = [
            "1.0123456789abcdef", "2.0123456789abcdef", "e\u{301}.0123456789abcdef", "\u{E9}.0123456789abcdef",
        ]
        for _ in 0..<3 {
            for bytes in texts.map({ Array($0.utf8) }) {
                for _ in 0..<3 { #expect(recent.reading(of: bytes[...]) { $0 } == bytes) }
            }
        }
    }
}
