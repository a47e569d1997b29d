package import JSON
import Tokens
import Wire

/// An exchange as people may see it: the only form in which the journal, `verify` and the log show any of it.
///
/// Masked piece by piece on reading, since most entries are never read.
package struct MaskedExchange {
    private let entry: JournalEntry
    private let redactor: Redactor

    package init(_ entry: JournalEntry, by redactor: Redactor) { (self.entry, self.redactor) = (entry, redactor) }

    private var declared: Set<String> { entry.record.traits?.secrets ?? [] }

    /// A value that says something about the exchange, without its secrets.
    package func json(_ value: JSON) -> JSON {
        SecretRedactor(of: entry.request, secrets: declared).hidden(in: redactor.json(value))
    }

    /// The sandbox's name, which a client may have chosen.
    package var sandbox: String { redactor.text(entry.sandbox) }

    package var target: String {
        // A socket client can put its token nowhere else; the findings show the token's claims.
        let isHandshake = entry.request.fields[.upgrade] != nil
        let masked = Mask.target(entry.request.target, hidesClaims: isHandshake)
        let path = masked.prefix { $0 != "?" }
        return redactor.path(String(path)) + redactor.text(String(masked[path.endIndex...]))
    }

    package var path: String { redactor.path(String(entry.request.path)) }
    package var reason: String? { entry.explanation.map(redactor.text) }
    package var note: String? { entry.note.map(redactor.text) }

    /// What influenced the answer, in words: a fault or scenario, and what the vendor itself did; `nil` for nothing.
    package var intervention: String? { InterventionText.line(interventions) }

    /// The same for programs: only the text of a fault or scenario, or a list with what the vendor did.
    package var interventions: JSON? {
        let text = entry.record.intervention.map { JSON.string(redactor.text($0)) }
        guard !entry.record.ownInterventions.isEmpty else { return text }
        let own = redactor.json(.array(entry.record.ownInterventions))
        let list = [text].compactMap(\.self) + (own.array ?? [])
        return SecretRedactor(of: entry.request, secrets: declared).hidden(in: .array(list))
    }

    package var findings: JSON { redactor.json(.array(entry.findings.map(\.json))) }

    package var requestFields: [(name: String, value: String)] {
        fields(entry.request.fields.map { ($0.name, $0.value) })
    }

    package var responseFields: [(name: String, value: String)] {
        fields(entry.response.fields.map { ($0.name.rawName, $0.value) })
    }

    private func fields(_ fields: [(String, String)]) -> [(name: String, value: String)] {
        fields.map { name, value in (redactor.text(name), redactor.text(Mask.field(name, value, hiding: declared))) }
    }

    package var requestBody: JSON { body(entry.request.body, hiding: declared) }
    /// An answer without a vendor is the server's own, in which a vendor's names mean something else.
    package var responseBody: JSON { body(entry.response.body, hiding: entry.record.vendor == nil ? [] : declared) }

    /// A socket message; one that is not JSON is the client's own format, shown as text with secrets hidden.
    private func frame(_ bytes: [UInt8]) -> JSON {
        if let value = try? JSON.parse(bytes) { return redactor.json(Mask.members(declared, of: value)) }
        let text = String(decoding: bytes, as: UTF8.self)
        // The secret may follow its name anywhere.
        guard !declared.contains(where: text.lowercased().contains) else { return .string(Self.omitted(bytes.count)) }
        return .string(redactor.text(text))
    }

    private static let omittedBody = "(too long to be kept)"

    private static func omitted(_ count: Int) -> String { "(\(count) bytes)" }

    /// Why a body shown as this text is incomplete, in words; `nil` when it was kept.
    ///
    /// - Parameter length: the length that the client named.
    package static func lack(shownAs text: String, length: Int?) -> String? {
        if text == omittedBody { return "too long" }
        guard let count = Int(text.dropFirst().prefix { $0.isNumber }), text == omitted(count) else { return nil }
        return length ?? count == count ? "\(count) bytes" : nil
    }

    /// JSON bodies as JSON, texts as strings, other bytes as their count.
    func body(_ bytes: [UInt8], hiding declared: Set<String>) -> JSON {
        if entry.omitsBodies { return .string(Self.omittedBody) }
        if bytes.isEmpty { return .null }
        if let value = try? JSON.parse(bytes) { return redactor.json(Mask.members(declared, of: value)) }
        // Content that is not JSON cannot be masked by the vendor's names.
        guard declared.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            return .string(Self.omitted(bytes.count))
        }
        return .string(redactor.text(text))
    }

    // MARK: For programs

    /// - Parameters:
    ///   - routes: the table that finds the nearest routes for a request that matched none.
    ///   - replica: the server that answered, where several share a store.
    package func json(routes: RouteTable, replica: String? = nil) -> JSON {
        let record = entry.record
        var json: JSONObject = [
            "id": JSON(entry.id), "sandbox": .string(sandbox), "at": .string(entry.moment.rfc3339),
            "vendor": JSON(record.vendor), "route": JSON(record.route),
            "status": JSON(entry.response.status.code), "failure": JSON(record.failure), "reason": JSON(reason),
        ]
        json["note"] = note.map(JSON.string)
        json["intervention"] = interventions
        json["nearest_routes"] = entry.nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        json["findings"] = findings
        json["request"] = .object([
            "method": .string(entry.request.method.rawValue), "target": .string(target),
            "headers": Self.json(requestFields), "body": requestBody,
        ])
        json["response"] = response
        json["parts"] = record.parts.map { redactor.json($0.json) }
        json["socket"] = record.socket.map { redactor.json($0.json(frame)) }
        json["replica"] = replica.map(JSON.string)
        return .object(json)
    }

    private var response: JSON {
        let json: JSON = [
            "status": JSON(entry.response.status.code), "headers": Self.json(responseFields), "body": responseBody,
        ]
        // An operator's template made it.
        guard entry.record.isIntervened || entry.record.traits?.answersByTemplate == true else { return json }
        return SecretRedactor(of: entry.request, secrets: declared).hidden(in: json)
    }

    private static func json(_ fields: [(name: String, value: String)]) -> JSON {
        .array(fields.map { .array([.string($0.name), .string($0.value)]) })
    }

    // MARK: For repeating

    /// Whether the request holds more secrets than tokens, so that it cannot be repeated from what is shown.
    package var hidesMoreThanTokens: Bool {
        let (request, tokens) = (entry.request, PresentedTokens.of(entry.request))
        let body = (try? JSON.parse(request.body))?.text ?? String(decoding: request.body, as: UTF8.self)
        let shownBody = requestBody.isNull ? "" : requestBody.string ?? requestBody.text
        var pairs = [(request.target, target), (body, shownBody)]
        pairs += zip(request.fields, requestFields).map { ($0.value, $1.value) }
        return pairs.contains { sent, shown in
            let unmasked = PresentedTokens.unmasked(shown, tokens)
            return unmasked != sent && unmasked != JSON.string(sent).text
        }
    }

    // MARK: For conditions and people

    var matchContext: MatchContext {
        var request = entry.request
        request.target = target
        request.fields = FieldLines(requestFields.map { ($0.name, $0.value) })
        request.body = encounterBody
        return MatchContext(
            request: request, claims: entry.record.claims.map { redactor.json(.object($0)).object ?? [:] },
            moment: entry.moment, reason: reason)
    }

    private var encounterBody: [UInt8] {
        let bytes = entry.request.body
        if let value = try? JSON.parse(bytes) { return redactor.json(Mask.members(declared, of: value)).bytes }
        if declared.isEmpty { return Array(redactor.text(String(decoding: bytes, as: UTF8.self)).utf8) }
        // The reader decides which field of a form is secret, so all are hidden.
        let fields = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(
            fields.map { $0.prefix { $0 != UInt8(ascii: "=") } + Array("=***".utf8) }.joined(separator: "&".utf8))
    }

    /// The exchange in one line: route, request, outcome and reason.
    var summary: String {
        let place = entry.record.route ?? "without a route"
        let route = entry.record.vendor.map { "\($0) \(place): " } ?? ""
        let failure = entry.record.failure.map { " \($0)" } ?? ""
        let reason = reason.map { " (\($0))" } ?? ""
        return
            "\(route)\(entry.request.method.rawValue) \(target) → \(entry.response.status.code)\(failure)\(reason)"
    }
}
