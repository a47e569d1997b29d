package import JSON

/// Results as JUnit XML for build servers: one suite per file, one test per case.
package enum JUnitReport {
    package static func text(_ results: [ContractResult], named name: String = "contract") -> String {
        let cases = results.flatMap(\.reported)
        let duration = results.reduce(Duration.zero) { $0 + $1.duration }
        let suites = results.map(suite).joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="\(name)" \(counts(cases)) time="\(seconds(duration))">
            \(suites)</testsuites>

            """
    }

    private static func suite(_ result: ContractResult) -> String {
        let cases = result.reported
        let tests = cases.map { test($0, in: result.file) }.joined()
        let head = "name=\"\(escape(result.file))\" \(counts(cases)) time=\"\(seconds(result.duration))\""
        return "  <testsuite \(head)>\n\(tests)  </testsuite>\n"
    }

    private static func counts(_ cases: [ContractCase]) -> String {
        let failures = cases.count { !$0.failures.isEmpty }
        let skipped = cases.count { $0.failures.isEmpty && $0.outcome != .passed }
        return "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""
    }

    private static func test(_ test: ContractCase, in file: String) -> String {
        let about = test.remark.isEmpty ? "" : " – \(test.remark)"
        let line = test.place == .none ? "" : "line \(test.place.line): "
        let name = escape("\(line)\(test.title)\(about)")
        let head = "    <testcase classname=\"\(escape(file))\" name=\"\(name)\" time=\"\(seconds(test.duration))\""
        switch test.outcome {
        case .passed: return head + "/>\n"
        case .leftOut, .skipped, .notReached:
            return head + ">\n      <skipped message=\"\(escape(test.word))\"/>\n    </testcase>\n"
        case .failed(let failures):
            let text = test.failureLines(in: file).joined(separator: "\n")
            let message = escape(failures.first?.message ?? "")
            return head + ">\n      <failure message=\"\(message)\">\(escape(text))</failure>\n    </testcase>\n"
        }
    }

    /// Seconds with three places.
    static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return "\(milliseconds / 1000).\((milliseconds % 1000).digits(atLeast: 3))"
    }

    /// Escapes markup for XML 1.0, and replaces characters that no document may hold (section 2.2).
    private static func escape(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // In an attribute, a line break would be read as a space.
            case "\n": escaped += "&#10;"
            case "\r": escaped += "&#13;"
            case "\t": escaped += "&#9;"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The results of a file's requests, in order.
package struct ContractResult: Sendable {
    package let file: String
    package internal(set) var cases: [ContractCase]

    package init(file: String, cases: [ContractCase]) { (self.file, self.cases) = (file, cases) }

    /// Adds to the failed case what another source knows, such as the server's journal.
    package mutating func explain(_ explanation: String) {
        guard let failed = cases.firstIndex(where: { !$0.failures.isEmpty }) else { return }
        cases[failed].explanation = explanation
    }

    /// The cases to report: all except successful preparations.
    var reported: [ContractCase] { cases.filter { !$0.isPreparation || !$0.failures.isEmpty } }

    package var hasPassed: Bool { cases.allSatisfy { $0.failures.isEmpty } }

    /// Whether any case other than a preparation ran.
    package var hasRun: Bool {
        cases.contains { !$0.isPreparation && ($0.outcome == .passed || !$0.failures.isEmpty) }
    }

    package var duration: Duration { cases.reduce(.zero) { $0 + $1.duration } }

    /// The result for people: one line per case, followed by what was wrong with a failed one.
    ///
    /// Preparing requests appear only when they fail.
    package var lines: [String] { reported.flatMap { $0.lines(in: file) } }

    package var json: JSON {
        ["file": .string(file), "passed": .bool(hasPassed), "cases": .array(reported.map { $0.json })]
    }

    /// The number of cases per outcome, in one line.
    package static func summary(of results: [ContractResult]) -> String {
        let cases = results.flatMap(\.reported)
        let counts = [
            ("failed", cases.count { !$0.failures.isEmpty }), ("skipped", cases.count { $0.outcome == .skipped }),
            ("not reached", cases.count { $0.outcome == .notReached }),
            ("control calls skipped", results.flatMap(\.cases).count { $0.outcome == .leftOut }),
        ]
        let passed = cases.count { $0.outcome == .passed }
        let rest = counts.filter { $0.1 > 0 }.map { ", \($0.1) \($0.0)" }.joined()
        return "\(results.count) files: \(passed) of \(cases.count) cases passed\(rest)"
    }
}

package struct ContractCase: Sendable {
    package enum Outcome: Sendable, Hashable {
        case passed
        case failed([ContractFailure])
        /// A control request, omitted because no emulator is asked.
        case leftOut
        case skipped
        /// An earlier case failed, on which it may depend.
        case notReached
    }

    package let place: HurlPlace
    /// Method and path as in the file.
    package let title: String
    package let remark: String
    /// Whether the request prepares later ones and does not test the vendor.
    package let isPreparation: Bool
    /// The answer's; `nil` without one.
    package let status: Int?
    package let outcome: Outcome
    package let duration: Duration
    /// What another source knows about its failure.
    package fileprivate(set) var explanation: String?

    package init(
        place: HurlPlace, title: String, remark: String, isPreparation: Bool = false, status: Int? = nil,
        outcome: Outcome, duration: Duration = .zero
    ) {
        (self.place, self.title, self.remark) = (place, title, remark)
        (self.isPreparation, self.status) = (isPreparation, status)
        (self.outcome, self.duration) = (outcome, duration)
    }

    /// What was wrong; empty unless it failed.
    package var failures: [ContractFailure] {
        if case .failed(let failures) = outcome { failures } else { [] }
    }

    package var word: String {
        switch outcome {
        case .passed: "ok"
        case .failed: "FAILED"
        case .leftOut: "left out"
        case .skipped: "skipped"
        case .notReached: "not reached"
        }
    }

    fileprivate func lines(in file: String) -> [String] {
        let about = remark.isEmpty ? "" : "  # \(remark)"
        return ["\(word)  \(file):\(place.line)  \(title)\(about)"] + failureLines(in: file)
    }

    fileprivate func failureLines(in file: String) -> [String] {
        failures.flatMap { $0.lines(in: file) } + [explanation].compactMap { $0.map { "    " + $0 } }
    }

    fileprivate var json: JSON {
        [
            "line": JSON(place.line), "request": .string(title), "about": .string(remark),
            "outcome": .string(word.lowercased()), "status": status.map { JSON($0) } ?? .null,
            "failures": .array(failures.map(\.json)), "explanation": JSON(explanation),
        ]
    }
}

/// A difference between an answer and its case, or the reason why a case could not continue.
package struct ContractFailure: Error, Sendable, Hashable {
    /// Where the file states the expectation.
    package let place: HurlPlace
    /// What was expected and found, in one line.
    package let message: String
    /// The difference where one line is not enough; each line starts with `-` (expected), `+` (found) or a blank.
    package var difference: [String] = []

    package init(place: HurlPlace, message: String, difference: [String] = []) {
        (self.place, self.message, self.difference) = (place, message, difference)
    }

    fileprivate func lines(in file: String) -> [String] {
        ["    \(place == .none ? "" : "\(file):\(place.line):\(place.column): ")\(message)"]
            + difference.map { "      " + $0 }
    }

    fileprivate var json: JSON {
        [
            "line": JSON(place.line), "column": JSON(place.column), "message": .string(message),
            "difference": .array(difference.map(JSON.string)),
        ]
    }
}

/// Two texts compared by line, as `diff -u` shows them.
enum TextDifference {
    /// A line and its side: `-` (expected only), `+` (found only) or a blank (both).
    private struct Line {
        let mark: Character
        let text: String
        /// The scalar at which it differs from its counterpart; a longer line is cut around it.
        var focus = 0
    }

    /// Unchanged lines shown around a change.
    private static let context = 3
    /// Longer differences are cut: nobody reads them, and comparing takes quadratic time.
    private static let maximumLines = 2000
    private static let maximumLineLength = 400

    /// Every line with its mark; `…` stands for omitted lines.
    static func lines(expected: [String], found: [String]) -> [String] {
        // Equal lines at both ends are skipped cheaply, so a change after many of them is found too.
        let start = zip(expected, found).prefix { isSame($0, $1) }.count
        let rest = zip(expected[start...].reversed(), found[start...].reversed())
        let end = rest.prefix { isSame($0, $1) }.count
        let (old, new) = (expected[start..<expected.count - end], found[start..<found.count - end])
        let isCut = max(old.count, new.count) > maximumLines
        let before = expected[..<start].suffix(context)
        let behind = isCut ? [] : expected[(expected.count - end)...].prefix(context)
        let marked =
            before.map { Line(mark: " ", text: $0) }
            + merge(Array(old.prefix(maximumLines)), Array(new.prefix(maximumLines)))
            + behind.map { Line(mark: " ", text: $0) }
        let shown = excerpt(marked, isCut: isCut || behind.count < end)
        return (before.count < start ? [" …"] : []) + shown
    }

    private static func isSame(_ one: String, _ other: String) -> Bool { one.hasSameBytes(as: other) }

    private static func excerpt(_ marked: [Line], isCut: Bool) -> [String] {
        let changes = marked.indices.filter { marked[$0].mark != " " }
        var lines: [String] = []
        var last = -1
        for index in marked.indices where changes.contains(where: { abs($0 - index) <= context }) {
            if index > last + 1 { lines.append(" …") }
            lines.append(String(marked[index].mark) + cut(marked[index]))
            last = index
        }
        if isCut || last < marked.count - 1 { lines.append(" …") }
        return lines
    }

    private static func cut(_ line: Line) -> String {
        let scalars = Array(line.text.unicodeScalars)
        guard scalars.count > maximumLineLength else { return line.text }
        // Center the difference, unless the beginning shows it.
        let start = line.focus < maximumLineLength ? 0 : line.focus - maximumLineLength / 2
        let piece = scalars[start...].prefix(maximumLineLength)
        let text = String(String.UnicodeScalarView(piece))
        return
            "\(start > 0 ? "…" : "")\(text)\(piece.endIndex < scalars.count ? "…" : "") (\(line.text.utf8.count) bytes)"
    }

    private static func merge(_ expected: [String], _ found: [String]) -> [Line] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in found.difference(from: expected, by: isSame) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (old, new) = (0, 0)
        while old < expected.count || new < found.count {
            let (firstOld, firstNew) = (old, new)
            while removed.contains(old) { old += 1 }
            while inserted.contains(new) { new += 1 }
            lines += change(expected[firstOld..<old], found[firstNew..<new])
            guard old < expected.count else { continue }
            lines.append(Line(mark: " ", text: expected[old]))
            (old, new) = (old + 1, new + 1)
        }
        return lines
    }

    /// Replaced lines; the first corresponds to the first, and so on.
    private static func change(_ old: ArraySlice<String>, _ new: ArraySlice<String>) -> [Line] {
        let focuses = zip(old, new).map { old, new in
            zip(old.unicodeScalars, new.unicodeScalars).prefix { $0 == $1 }.count
        }
        let rest = repeatElement(0, count: abs(old.count - new.count))
        let removed = zip(old, focuses + rest).map { Line(mark: "-", text: $0, focus: $1) }
        return removed + zip(new, focuses + rest).map { Line(mark: "+", text: $0, focus: $1) }
    }
}

/// How an answer's content differs from the expected one: JSON by member, other content by line.
struct BodyDifference {
    let message: String
    let lines: [String]

    init(expected: [UInt8], found: [UInt8]) {
        let values = (Self.json(expected), Self.json(found))
        guard let wanted = values.0, let received = values.1 else {
            message = "the content differs"
            lines = TextDifference.lines(expected: Self.shown(expected), found: Self.shown(found))
            return
        }
        if wanted == received {
            message = "the content is the same JSON in another spelling (blanks or escapes)"
            lines = TextDifference.lines(expected: Self.textLines(expected), found: Self.textLines(found))
        } else {
            message =
                wanted.isEquivalent(to: received)
                ? "the content is the same JSON, but the order of members or the form of a number differs"
                : "the content differs"
            lines = TextDifference.lines(expected: Self.lines(of: wanted), found: Self.lines(of: received))
        }
    }

    /// A content for people: JSON with one line per member.
    static func shown(_ bytes: [UInt8]) -> [String] { json(bytes).map(lines) ?? textLines(bytes) }

    private static func json(_ bytes: [UInt8]) -> JSON? {
        // Other content is compared as text.
        try? JSON.parse(bytes)
    }

    private static func lines(of value: JSON) -> [String] {
        value.prettyText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func textLines(_ bytes: [UInt8]) -> [String] {
        if bytes.isEmpty { return [] }
        // By bytes: as a `Character`, “\r\n” is not “\n”.
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
