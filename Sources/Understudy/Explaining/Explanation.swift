import Emulation
import JSON
import Tokens
import Wire

/// What the rules say about a call that a real server answered.
struct Explanation {
    /// How likely a failure is the reason for the answer, the likeliest first.
    private enum Verdict: String, CaseIterable {
        /// The call breaks its rule.
        case broken
        /// The call is unusual for its rule, which tolerates that here.
        case noted
        case open
        /// It has no rule that could be judged.
        case possible
        /// The call satisfies its rule.
        case held
    }

    private struct Cause {
        let shape: FailureShape
        let verdict: Verdict
        /// The number of the first finding that says so, behind whether the answer is only one of many forms.
        let place: (vague: Int, finding: Int)
        let findings: [Finding]
    }

    let call: RecordedCall
    let entry: JournalEntry
    let findings: [JudgedFinding]
    let shapes: [FailureShape]
    /// The failures that the route can answer; `nil` if that is unknown.
    let ofRoute: [String]?

    /// The failure that a handler found, where every check passed.
    private var handled: String? {
        entry.record.checks.firstFailed == nil ? entry.record.failure : nil
    }

    /// The content that was seen, text as a string; of a redirect, the error that its address carries.
    private var content: JSON? {
        guard let answer = call.answer else { return nil }
        if let error = Self.error(in: answer.field("location")) { return error }
        guard let body = answer.body else { return nil }
        // People copy text with a line break at its end.
        let text = body.last == UInt8(ascii: "\n") ? body.dropLast() : body[...]
        return (try? JSON.parse(body)) ?? .string(String(decoding: text, as: UTF8.self))
    }

    private static func error(in location: String?) -> JSON? {
        guard let location, let mark = location.lastIndex(where: { $0 == "?" || $0 == "#" }) else { return nil }
        let items = PercentEncoding.formItems(of: location[location.index(after: mark)...])
        let error = items.filter { $0.name.hasPrefix("error") }
        return error.isEmpty ? nil : .object(JSONObject(error.map { ($0.name, .string($0.value)) }))
    }

    /// The failures with the answer that was seen; without one, those of broken rules. And why these, if the answer is
    /// that of no failure.
    private var candidates: (shapes: [FailureShape], note: String?) {
        let broken = shapes.filter { shape in
            shape.name == handled
                || findings.contains { $0.finding.outcome == .failed && $0.failures.contains(shape.name) }
        }
        guard let answer = call.answer else { return (broken, nil) }
        let content = content
        if answer.status < 300 { return ([], "The real server accepted the call.") }
        let status = answer.status < 400 ? nil : answer.status
        func possible(_ shape: FailureShape) -> Bool {
            ofRoute?.contains(shape.name) != false || broken.contains { $0.name == shape.name }
        }
        let fitting = shapes.filter { $0.fits(status: status, content) && possible($0) }
        if !fitting.isEmpty { return (fitting, nil) }
        let known = shapes.filter { $0.fits(status: status, nil) && possible($0) }
        if !known.isEmpty { return (known, "No documented failure has this content; these have the status.") }
        return (broken, "No documented failure has this status; these rules are broken.")
    }

    private func cause(_ shape: FailureShape, _ content: JSON?) -> Cause {
        let involved = findings.enumerated().filter { $0.element.failures.contains(shape.name) }
        let vague = call.answer != nil && !shape.isUsual(content) ? 1 : 0
        func cause(_ verdict: Verdict, _ outcome: Finding.Outcome) -> Cause? {
            let those = involved.filter { $0.element.finding.outcome == outcome }
            return those.first.map { first in
                Cause(
                    shape: shape, verdict: verdict, place: (vague, first.offset),
                    findings: those.map(\.element.finding))
            }
        }
        if let broken = cause(.broken, .failed) { return broken }
        if shape.name == handled { return Cause(shape: shape, verdict: .broken, place: (vague, .max), findings: []) }
        return cause(.noted, .noted) ?? cause(.open, .notJudged) ?? cause(.held, .passed)
            ?? Cause(shape: shape, verdict: .possible, place: (vague, .max), findings: [])
    }

    /// - Parameter target: the URL as it may be shown.
    func json(calling target: String) -> JSON {
        let (candidates, content) = (candidates, content)
        let all = candidates.shapes.map { cause($0, content) }
        let causes = Verdict.allCases.flatMap { verdict in
            all.filter { $0.verdict == verdict }.sorted { $0.place < $1.place }
        }
        let named = causes.first?.findings ?? []
        func list(_ outcome: Finding.Outcome) -> JSON {
            .array(findings.map(\.finding).filter { $0.outcome == outcome && !named.contains($0) }.map(\.json))
        }
        var json: JSONObject = [
            "call": .string("\(entry.request.method.rawValue) \(target)"), "at": .string(entry.moment.rfc3339),
            "vendor": JSON(entry.record.vendor), "route": JSON(entry.record.route),
            "causes": .array(causes.map(self.json)), "broken": list(.failed), "open": list(.notJudged),
        ]
        json["place"] = call.place.map(JSON.string)
        json["answered"] = call.answer.map { JSON($0.status) }
        json["note"] = candidates.note.map(JSON.string)
        return .object(json)
    }

    private func json(_ cause: Cause) -> JSON {
        var json: JSONObject = [
            "failure": .string(cause.shape.name), "verdict": .string(cause.verdict.rawValue),
            "about": .string(cause.shape.about), "source": .string(cause.shape.source),
            "findings": .array(cause.findings.map(\.json)),
        ]
        json["status"] = cause.shape.forms.first.map { JSON($0.status) }
        if cause.findings.isEmpty, cause.verdict == .broken { json["reason"] = entry.record.reason.map(JSON.string) }
        return .object(json)
    }
}
