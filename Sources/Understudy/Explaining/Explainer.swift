package import Emulation
import HTTPTypes
package import JSON
package import Tokens
import Wire

/// Says why a real server refused a call: the call is played in a sandbox of its own, at its own time, and its journal
/// entry says which rules it breaks; of these, the ones that lead to the answer that was seen are the likely causes.
package struct Explainer: Sendable {
    package let emulator: Emulator
    package var settings: Settings
    /// Keys of the real server, by which alone its tokens are then judged.
    package var keys: [VerificationKey] = []
    /// Texts that must not be shown, such as those of the keys.
    package var secrets: [String] = []
    /// Whether the fixtures have the real server's own records and keys.
    package var isGenuine = false
    /// Whether keys that issuers publish may be fetched; everything else stays on this machine.
    package var fetchesKeys = false
    /// The index of the vendor whose call it is; `nil` to find it by the path.
    package var vendor: Int?
    package var sandbox = SandboxName.standard

    package init(_ emulator: Emulator, _ settings: Settings) { (self.emulator, self.settings) = (emulator, settings) }

    /// The calls worth explaining: of several, those that a vendor refused.
    package func refused(of calls: [RecordedCall]) throws(RecordingProblem) -> [RecordedCall] {
        guard calls.count > 1 else { return calls }
        let refused = calls.filter { call in
            guard let (_, match) = route(of: call), let answer = call.answer else { return route(of: call) != nil }
            if answer.status >= 400 || answer.error != nil { return true }
            // Tests have read the installed one.
            guard case .route(let index, let route, _) = match,
                let description = try? emulator.vendors[index].description()
            else { return false }
            let refused = description.answers.routes[emulator.vendors[index].routes[route].id]?.refused ?? []
            return description.failures.contains { refused.contains($0.name) && answer.isThat(of: $0) }
        }
        try RecordingProblem.require(
            !refused.isEmpty,
            "none of its \(calls.count) calls is a refused one of \(Nearest.list(emulator.vendors.map(\.identity.id))); expected one, or the number of an entry"
        )
        return refused
    }

    package func explain(_ call: RecordedCall, at now: Moment) async throws(RecordingProblem) -> JSON {
        guard let (request, match) = route(of: call), let index = match.vendor else {
            let owner = vendor.map { emulator.vendors[$0].identity.id + " does not own" } ?? "no vendor owns"
            throw RecordingProblem(
                "\(call.place.map { $0 + ": " } ?? "")\(owner) the path \(call.request.path.prefix(200).debugDescription); expected one of a route that “understudy routes” lists"
            )
        }
        let played = await played(request, match, of: index, call.origin, at: call.moment ?? now)
        let vendor = emulator.vendors[index]
        // Tests have read the installed one.
        let description = try? vendor.description()
        let explanation = Explanation(
            call: call, entry: played.entry, findings: findings(of: played, vendor),
            shapes: description?.failures ?? [],
            ofRoute: played.entry.record.route.flatMap { description?.answers.routes[$0]?.refused })
        let masked = MaskedExchange(played.entry, by: played.redactor)
        let json = masked.json(explanation.json(calling: call.origin + masked.target))
        return Redactor(hiding: secrets).json(played.standIn.map { json.replacing($0.sample, with: $0.name) } ?? json)
    }

    /// The request with its path from the vendor's own on, and where it leads: a base path may precede that.
    func route(of call: RecordedCall) -> (Request, RouteTable.Match)? {
        var (request, owned): (Request, (Request, RouteTable.Match)?) = (call.request, nil)
        while true {
            let match = emulator.routes.match(request.method, request.path)
            if let owner = match.vendor, vendor == nil || vendor == owner {
                if case .route = match { return (request, match) }
                owned = owned ?? (request, match)
            }
            guard let slash = request.path.dropFirst().firstIndex(of: "/") else { return owned }
            request.target = String(request.target[slash...])
        }
    }

    private struct Played {
        let entry: JournalEntry
        let redactor: Redactor
        /// The account of the fixtures that stood in for one that only the real server has.
        var standIn: (missing: Finding, name: String, sample: String)?
    }

    /// The findings as far as they hold for the real server.
    private func findings(of played: Played, _ vendor: any AnyLoadedVendor) -> [JudgedFinding] {
        let record = played.entry.record
        var findings = record.checks.judged
        // What no list of rules judged says its failure only by being the first.
        if let first = findings.firstIndex(where: { $0.finding.outcome == .failed }), findings[first].failures.isEmpty {
            findings[first].failures = record.failure.map { [$0] } ?? []
        }
        let request = played.entry.request
        let hidesSignature =
            request.fields.contains { $0.value.hasSuffix(".***") }
            || request.body[...].place(of: Array(".***".utf8)) != nil
        let hidesCredential = request.fields[.authorization]?.split(separator: " ").last == "***"
        for index in findings.indices {
            if hidesSignature, findings[index].finding.check.hasPrefix("signature") {
                findings[index].leaveOpen("The recording hides the signature.")
            }
            if hidesCredential, findings[index].finding.description.firstRange(of: "Authorization") != nil {
                findings[index].leaveOpen("The recording hides the credential.")
            }
            if let (missing, name, sample) = played.standIn {
                let finding = findings[index].finding
                if finding.check == missing.check { findings[index].finding = missing }
                if finding.found == .text(name), finding.expected == .text(sample) {
                    findings[index].finding.outcome = .passed
                }
            }
            findings[index].judgeBeyond(
                vendor.outsideChecks[findings[index].finding.check], keys, isGenuine: isGenuine,
                isStandIn: played.standIn != nil)
        }
        return findings
    }

    /// Plays a request. One that names an account which only the real server has is played once more for an account of
    /// the fixtures, so that the rest of it is judged, too.
    private func played(
        _ request: Request, _ match: RouteTable.Match, of index: Int, _ origin: String, at moment: Moment
    ) async -> Played {
        let first = await play(request, match, of: index, origin, at: moment)
        let vendor = emulator.vendors[index]
        guard let missing = first.entry.record.checks.firstFailed, vendor.outsideChecks[missing.check] == .record,
            case .text(let name)? = missing.found, request.path.split(separator: "/").contains(name[...])
        else { return first }
        for sample in vendor.samples.map(\.value) {
            var other = request
            other.target = request.target.replacing("/" + name, with: "/" + sample)
            other.body = Array(String(decoding: request.body, as: UTF8.self).replacing(name, with: sample).utf8)
            var known = await play(
                other, emulator.routes.match(other.method, other.path), of: index, origin, at: moment)
            guard known.entry.record.findings.contains(where: { $0.check == missing.check && $0.outcome == .passed })
            else { continue }
            known.standIn = (missing, name, sample)
            return known
        }
        return first
    }

    private func play(
        _ request: Request, _ match: RouteTable.Match, of index: Int, _ origin: String, at moment: Moment
    ) async -> Played {
        // Its own address makes the issuers of the fixtures those of the real server.
        let directory = SandboxDirectory(
            inForce: emulator.inForce, settings: settings, publicBase: PublicBase(origin), machine: { moment })
        let sandbox = directory.sandbox(sandbox)
        _ = sandbox.adjustClock { $0.set(to: moment) }
        let exchange = sandbox.beginExchange(request)
        var step = sandbox.vendor(index).answer(exchange, at: match)
        while true {
            switch step {
            case .finished(let response, let record):
                let entry = JournalEntry(
                    sandbox: sandbox.name, moment: exchange.moment, request: request, response: response, record: record
                )
                return Played(entry: entry, redactor: sandbox.redactor)
            case .moved: step = sandbox.vendor(index).answer(exchange, at: match)
            case .waiting(let job): step = await job()
            case .fetching(let order, let then):
                let isAllowed = fetchesKeys || order.ownTarget != nil
                step = then(
                    isAllowed
                        ? await Pipeline(emulator).fetch(order, in: sandbox)
                        : .failed(.notAsked("nothing is sent anywhere; --fetch-keys allows it")))
            }
        }
    }
}

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
    private var handled: String? { entry.record.checks.firstFailed == nil ? entry.record.failure : nil }

    /// The failures with the answer that was seen; without one, those of broken rules. And why these, if the answer is
    /// that of no failure.
    private var candidates: (shapes: [FailureShape], note: String?) {
        let broken = shapes.filter { shape in
            shape.name == handled
                || findings.contains { $0.finding.outcome == .failed && $0.failures.contains(shape.name) }
        }
        guard let answer = call.answer else { return (broken, nil) }
        func possible(_ shape: FailureShape) -> Bool {
            ofRoute?.contains(shape.name) != false || broken.contains { $0.name == shape.name }
        }
        let fitting = shapes.filter { answer.isThat(of: $0) && possible($0) }
        if !fitting.isEmpty { return (fitting, nil) }
        if answer.status < 400, answer.error == nil { return ([], "The real server accepted the call.") }
        let known = shapes.filter { $0.fits(status: answer.statusOfFailure, nil) && possible($0) }
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
        let (candidates, content) = (candidates, call.answer?.content)
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
        let forms = cause.shape.forms
        json["status"] = (forms.first { $0.status == call.answer?.status } ?? forms.first).map { JSON($0.status) }
        if cause.findings.isEmpty, cause.verdict == .broken { json["reason"] = entry.record.reason.map(JSON.string) }
        return .object(json)
    }
}

extension RecordedCall.Answer {
    /// The content, text as a string; of a redirect, the error that its address carries.
    fileprivate var content: JSON? {
        if let error { return error }
        guard let body else { return nil }
        // People copy text with a line break at its end.
        let text = body.last == UInt8(ascii: "\n") ? body.dropLast() : body[...]
        return (try? JSON.parse(body)) ?? .string(String(decoding: text, as: UTF8.self))
    }

    /// The error in the address of a redirect.
    var error: JSON? {
        guard let location = field("location"), let mark = location.lastIndex(where: { $0 == "?" || $0 == "#" }) else {
            return nil
        }
        let items = PercentEncoding.formItems(of: location[location.index(after: mark)...])
        let error = items.filter { $0.name.hasPrefix("error") }
        return error.isEmpty ? nil : .object(JSONObject(error.map { ($0.name, .string($0.value)) }))
    }

    /// The status that tells failures apart; `nil` for that of a redirect, which carries any of them.
    fileprivate var statusOfFailure: Int? { (300..<400).contains(status) ? nil : status }

    /// Whether it is the answer of a failure, which a successful status alone does not say.
    func isThat(of shape: FailureShape) -> Bool {
        let content = content
        return (status >= 400 || content != nil) && shape.fits(status: statusOfFailure, content)
    }
}
