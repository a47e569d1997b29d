/// Results as JUnit XML for build servers: one suite per file, one test per case.
package enum JUnitReport {
    /// The XML document.
    package static func text(_ results: [ContractResult]) -> String {
        let cases = results.flatMap(\.told)
        let duration = results.reduce(Duration.zero) { $0 + $1.duration }
        let suites = results.map(suite).joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="contract" \(counts(cases)) time="\(seconds(duration))">
            \(suites)</testsuites>

            """
    }

    private static func suite(_ result: ContractResult) -> String {
        let cases = result.told
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
        let name = escape("line \(test.place.line): \(test.title)\(about)")
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

extension ContractResult {
    /// The cases to report: all except successful preparations.
    var told: [ContractCase] { cases.filter { !$0.isPreparation || !$0.failures.isEmpty } }
}
