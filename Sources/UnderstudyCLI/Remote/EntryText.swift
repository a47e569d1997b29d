import Emulation
import JSON

/// A journal entry as readable text for a terminal.
struct EntryText {
    let entry: JSON
    let isColoured: Bool

    var line: String {
        let number = text("id")
        let time = (entry["at"]?.string ?? "").dropFirst(11).prefix(8)
        let what = entry["route"]?.string ?? "\(call("method")) \(call("target"))"
        let parts = [
            String(repeating: " ", count: max(0, 4 - number.count)) + number, String(time),
            painted("\(text("status")) \(sign)", colour), Self.padded(entry["vendor"]?.string ?? "-", to: 10),
            Self.padded(Output.printable(what), to: why.isEmpty ? 0 : 20), painted(Output.printable(why), colour),
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// The interventions, else the reason for a refusal, with the likely intended route, else the remark.
    private var why: String {
        if let intervention = InterventionText.line(entry["intervention"]) { return intervention }
        let reason = entry["reason"]?.string ?? entry["note"]?.string ?? ""
        guard let near = entry["nearest_routes"]?[0]?.string, reason.firstRange(of: near) == nil else { return reason }
        return "\(reason)\(reason.isEmpty ? "" : "; ")did you mean \(near)?"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Writes the entry with its checks, failed ones first.
    func show() {
        Output.line(line)
        if let failure = entry["failure"]?.string { Output.line(Output.printable("failure: \(failure)")) }
        let findings = entry["findings"]?.array ?? []
        let sorted = ["failed", "noted", "not-judged", "passed"].flatMap { outcome in
            findings.filter { $0["outcome"]?.string == outcome }
        }
        for (finding, line) in zip(sorted, FindingTable.lines(sorted)) {
            Output.line(painted(line, Self.colours[finding["outcome"]?.string ?? ""] ?? 0))
        }
        for part in ["request", "response"] {
            guard let body = entry[part]?["body"], !body.isNull else { continue }
            Output.line("\(part):")
            Output.line(
                body.prettyText.split(separator: "\n").map { Output.printable(String($0)) }.joined(separator: "\n"))
        }
    }

    /// Red and amber, in the terminal's own shades.
    private static let colours = ["failed": 31, "noted": 33]

    private func text(_ name: String) -> String { entry[name].map { $0.string ?? $0.text } ?? "" }

    private func call(_ name: String) -> String { entry[name]?.string ?? entry["request"]?[name]?.string ?? "" }

    private var isRefused: Bool { entry["failure"]?.string != nil }

    /// Colour is never the only distinction.
    private var sign: String {
        if entry["intervention"] != nil { return "!" }
        return isRefused ? "x" : entry["route"]?.string == nil ? "?" : entry["note"] != nil ? "*" : " "
    }

    private var colour: Int {
        let isNoted = entry["intervention"] != nil || entry["note"] != nil
        return Self.colours[isNoted ? "noted" : isRefused ? "failed" : ""] ?? 0
    }

    private func painted(_ text: String, _ colour: Int) -> String {
        isColoured && colour != 0 && !text.isEmpty ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }
}
