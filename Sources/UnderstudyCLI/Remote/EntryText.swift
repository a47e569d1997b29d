import JSON

/// An entry of a journal as people read it in a terminal.
struct EntryText {
    private let entry: JSON
    private let isColoured: Bool

    init(_ entry: JSON, isColoured: Bool) {
        self.entry = entry
        self.isColoured = isColoured
    }

    /// The entry in a line.
    var line: String {
        let number = text("id")
        let time = (entry["at"]?.string ?? "").dropFirst(11).prefix(8)
        let what = entry["route"]?.string ?? "\(call("method")) \(call("target"))"
        let near = entry["nearest_routes"]?[0]?.string.map { "did you mean \($0)?" }
        let why = [entry["intervention"]?.string, entry["reason"]?.string, near].compactMap(\.self).first ?? ""
        return Output.printable(
            "\(String(repeating: " ", count: max(0, 4 - number.count)))\(number)  \(time)  ")
            + painted("\(text("status")) \(sign)", colour)
            + Output.printable("  \(entry["vendor"]?.string ?? "-")  \(what)\(why.isEmpty ? "" : "  ")")
            + painted(Output.printable(why), colour)
    }

    /// Writes the entry with its checks: what failed first.
    func show() {
        Output.line(line)
        if let failure = entry["failure"]?.string { Output.line(Output.printable("failure: \(failure)")) }
        let findings = entry["findings"]?.array ?? []
        for outcome in ["failed", "noted", "not-judged", "passed"] {
            for finding in findings where finding["outcome"]?.string == outcome { Output.line(check(finding, outcome)) }
        }
        for part in ["request", "response"] {
            guard let body = entry[part]?["body"], !body.isNull else { continue }
            Output.line("\(part):")
            Output.line(
                body.prettyText.split(separator: "\n").map { Output.printable(String($0)) }.joined(separator: "\n"))
        }
    }

    private func check(_ finding: JSON, _ outcome: String) -> String {
        var words = [finding["check"]?.string ?? ""]
        if let expected = finding["expected"] { words.append("expected \(expected.string ?? expected.text)") }
        if let found = finding["found"] { words.append("found \(found.string ?? found.text)") }
        if let source = finding["source"]?.string { words.append("[\(source)]") }
        let line = Output.printable("  \(outcome)  \(words.joined(separator: "  "))")
        return outcome == "failed" ? painted(line, 31) : outcome == "noted" ? painted(line, 33) : line
    }

    private func text(_ name: String) -> String { entry[name].map { $0.string ?? $0.text } ?? "" }

    private func call(_ name: String) -> String { entry[name]?.string ?? entry["request"]?[name]?.string ?? "" }

    private var isRefused: Bool { entry["failure"]?.string != nil }

    /// Never colour alone.
    private var sign: String {
        if entry["intervention"] != nil { return "!" }
        return isRefused ? "x" : entry["route"]?.string == nil ? "?" : " "
    }

    private var colour: Int { entry["intervention"] != nil ? 33 : isRefused ? 31 : 0 }

    private func painted(_ text: String, _ colour: Int) -> String {
        isColoured && colour != 0 && !text.isEmpty ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }
}
