import Synchronization
import Testing
import Tokens

@testable import Emulation

/// Checks that count how often somebody asks what they found.
private final class CountedChecks: CheckGroup {
    let made: [Finding]
    let asked = Atomic(0)

    init(_ findings: [Finding]) {
        made = findings
    }

    var holds: Bool { !made.contains { $0.outcome == .failed } }
    var byteCount: Int { 1000 }

    var findings: [Finding] {
        asked.add(1, ordering: .relaxed)
        return made
    }
}

@Suite("Findings")
struct FindingsTests {
    private enum Failure: String, VendorFailure {
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

    @Test("of a group that holds are made when they are read, in their place, and not before")
    func group() {
        let group = CountedChecks([Finding("b", .passed), Finding("c", .noted), Finding("d", .notJudged)])
        var findings = Findings<Failure>()
        findings.add(Finding("a", .passed), orFail: .early)
        findings.add(group, orFail: .early)
        findings.add(Finding("e", .passed), orFail: .late)
        #expect(group.asked.load(ordering: .relaxed) == 0)
        #expect(findings.failure == nil)
        #expect(findings.all.map(\.check) == ["a", "b", "c", "d", "e"])
        #expect(group.asked.load(ordering: .relaxed) == 1)
        #expect(findings.list.byteCount >= 1000)
    }

    @Test("of a group that does not hold are judged like any others")
    func brokenGroup() {
        let group = CountedChecks([Finding("a", .passed), Finding("b", .failed)])
        var findings = Findings<Failure>()
        findings.add(group, orFail: .late)
        #expect(findings.failure == .late)
        for _ in 0..<2 { #expect(findings.all.map(\.check) == ["a", "b"]) }
        #expect(group.asked.load(ordering: .relaxed) == 1)
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
struct RecentTokensTests {
    @Test("are read twice and known from then on")
    func known() {
        let recent = RecentTokens<Int>()
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
        let recent = RecentTokens<[UInt8]>()
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
