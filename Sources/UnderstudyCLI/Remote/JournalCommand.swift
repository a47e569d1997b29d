import ArgumentParser
import Emulation
import JSON
import Wire

struct JournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Shows the calls to a running server, and why it refused some.",
        discussion: """
            Example: understudy journal --refused --follow
            Example: understudy journal 12

            It prints one line per entry: number, time by the sandbox's clock, status, vendor, route, and the reason.
            After the status, x is a refusal, ! an intervention, * an accepted call with a remark, ? a call that
            found no route. On a terminal, refusals are red, interventions and remarks amber, unless NO_COLOR is set.
            Exit codes: 0 done, 1 no answer, or the server refuses (such as for an unknown route), 2 misuse.
            """)

    @Argument(help: "The number of one entry to show, with all its checks.")
    var id: Int?

    @Flag(help: "Keep printing new entries, until Control-C.")
    var follow = false

    @Flag(help: "Only refused calls.")
    var refused = false

    @Flag(help: "Only calls that were accepted with a remark.")
    var noted = false

    @Option(help: "Only calls of this vendor.", completion: .vendors)
    var vendor: String?

    @Option(
        help: "Only calls to this route, or to routes that match a pattern with *.",
        completion: .routes)
    var route: String?

    @Option(
        help: "Only calls with this status, or with a class such as 4xx.",
        completion: .list(["2xx", "3xx", "4xx", "5xx"]))
    var status: String?

    @Option(help: "Only calls since a time, or within a duration such as 5m.")
    var since: String?

    @Option(help: "Only this many of the newest entries (default: 20; with --follow, 10).")
    var last: Int?

    @Flag(help: "Write JSON, one entry per line.")
    var json = false

    @OptionGroup var server: RunningServer

    func validate() throws {
        guard id != nil else { return }
        let options: [(name: String, isGiven: Bool)] = [
            ("--follow", follow), ("--refused", refused), ("--noted", noted), ("--vendor", vendor != nil),
            ("--route", route != nil), ("--status", status != nil), ("--since", since != nil), ("--last", last != nil),
        ]
        let others = options.filter(\.isGiven).map(\.name)
        guard others.isEmpty else {
            throw ValidationError("a number shows that entry; leave it out, or \(others.joined(separator: ", ")).")
        }
    }

    func run() throws {
        if let id {
            let entry = try server.call(.get, "journal/\(id)")
            return json ? Output.json(entry) : EntryText(entry: entry, isColoured: Output.showsColours).show()
        }
        var after = try show(query(last: last ?? (follow ? 10 : 20)))
        while follow {
            let newest = try show(query() + ["after=\(after)", "wait=5s"], since: after)
            // After a reset, numbers start again.
            after = try newest == after && latest() < after ? 0 : newest
        }
    }

    private func latest() throws -> Int { try server.call(.get, "journal?format=brief&last=1")["newest"]?.int ?? 0 }

    private func query(last: Int? = nil) -> [String] {
        let values = [
            ("vendor", vendor), ("route", route), ("status", status), ("since", since),
            ("refused", refused ? "true" : nil), ("noted", noted ? "true" : nil), ("last", last.map(String.init)),
        ]
        // A query, other than a form, has no “+” for a blank.
        return values.compactMap { name, value in
            value.map { PercentEncoding.form([(name, $0)]).replacing("+", with: "%20") }
        }
    }

    /// Writes the entries that match a query, and returns the number of the newest.
    private func show(_ query: [String], since after: Int = 0) throws -> Int {
        let form = json ? "json" : "brief"
        let path = "journal?" + (query + ["format=\(form)"]).joined(separator: "&")
        let answer = try server.call(.get, path, within: .seconds(60))
        let entries = answer.elements("entries")
        for entry in entries {
            guard !json else { Output.json(entry, isPretty: false); continue }
            Output.line(EntryText(entry: entry, isColoured: Output.showsColours).line)
        }
        return max(after, entries.last?["id"]?.int ?? after)
    }
}

struct EntryText {
    let entry: JSON
    let isColoured: Bool

    var line: String {
        let number = text("id")
        let time = entry.text("at").dropFirst(11).prefix(8)
        let what = entry["route"]?.string ?? "\(call("method")) \(call("target"))"
        let parts = [
            String(repeating: " ", count: max(0, 4 - number.count)) + number, Output.printable(String(time)),
            painted("\(text("status")) \(sign)", colour),
            Self.padded(Output.printable(entry["vendor"]?.string ?? "-"), to: 10),
            Self.padded(Output.printable(what), to: why.isEmpty ? 0 : 20), painted(Output.printable(why), colour),
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// The reason for a refusal, with the likely intended route, or the remark; and the interventions.
    private var why: String {
        let reason = isIntervened ? nil : entry["reason"]?.string
        let near = entry["nearest_routes"]?[0]?.string.flatMap { reason?.firstRange(of: $0) == nil ? $0 : nil }
        return [
            reason, near.map { "did you mean \($0)?" }, entry["note"]?.string,
            InterventionText.line(entry["intervention"]),
        ].compactMap(\.self).joined(separator: "; ")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Writes the entry with its checks, failed ones first.
    func show() {
        Output.line(line)
        if let failure = entry["failure"]?.string { Output.line(Output.printable("failure: \(failure)")) }
        let findings = entry.elements("findings")
        let sorted = ["failed", "noted", "not-judged", "passed"].flatMap { outcome in
            findings.filter { $0["outcome"]?.string == outcome }
        }
        for (finding, line) in zip(sorted, FindingTable.lines(sorted)) {
            Output.line(painted(line, Self.colours[finding.text("outcome")] ?? 0))
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

    /// Whether a fault or a scenario answered, or touched an answer that is no refusal.
    private var isIntervened: Bool {
        guard let intervention = entry["intervention"] else { return false }
        return !isRefused || InterventionText.made(intervention, entry.text("reason"))
    }

    /// Colour is never the only distinction.
    private var sign: String {
        if isIntervened { return "!" }
        return isRefused ? "x" : entry["route"]?.string == nil ? "?" : entry["note"] != nil ? "*" : " "
    }

    private var colour: Int {
        let isNoted = isIntervened || !isRefused && entry["note"] != nil
        return Self.colours[isNoted ? "noted" : isRefused ? "failed" : ""] ?? 0
    }

    private func painted(_ text: String, _ colour: Int) -> String {
        isColoured && colour != 0 && !text.isEmpty ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }
}
