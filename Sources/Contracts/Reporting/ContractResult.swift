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
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
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
