extension ContractResult {
    /// The result for people: one line per case, followed by what was wrong with a failed one.
    ///
    /// Preparing requests appear only when they fail.
    package var lines: [String] { told.flatMap { $0.lines(in: file) } }

    /// The number of cases per outcome, in one line.
    package static func summary(of results: [ContractResult]) -> String {
        let cases = results.flatMap(\.told)
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

extension ContractCase {
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

    func failureLines(in file: String) -> [String] {
        failures.flatMap { $0.lines(in: file) } + [explanation].compactMap { $0.map { "    " + $0 } }
    }
}

extension ContractFailure {
    /// The place, what was wrong, and the difference.
    package func lines(in file: String) -> [String] {
        ["    \(file):\(place.line):\(place.column): \(message)"] + difference.map { "      " + $0 }
    }
}
