import Emulation
import JSON

/// How Okta reads JSON bodies and queries: the first wrong member decides.
extension Okta: FieldDialect {
    /// ours: 255 characters are more than Okta's profile allows for any text that a sandbox keeps.
    static let fieldPolicy = FieldPolicy(nullIsAbsent: true, emptyIsAbsent: true, textLengths: 1...255)

    static func refusal(of problems: [FieldProblem]) -> OktaRefusal {
        let problem = problems[0]
        if let reason = problem.reason() { return Refusal(.bodyMalformed, because: reason) }
        let place = problem.isInQuery ? "in the query, " : ""
        return Refusal(.bodyInvalid, ["member": .string(name(of: problem))], because: "\(place)\(problem)")
    }

    /// The member alone: Okta's answers do not say where it stands. Source: docs:reference/core-okta-api, an example.
    private static func name(of problem: FieldProblem) -> String {
        let path = problem.list ?? problem.path
        return path.split(separator: ".").last.map(String.init) ?? path
    }
}

extension OktaCall {
    /// Returns what `read` makes of the content, which must be JSON.
    ///
    /// - Parameter isOptional: whether there may be no content, which then counts as an empty object.
    /// - Throws: ``OktaFailure/mediaType``, ``OktaFailure/bodyMalformed`` or ``OktaFailure/bodyInvalid``.
    func json<Value>(
        isOptional: Bool = false, _ read: (inout FieldReader) -> Value
    ) throws(OktaRefusal) -> Value {
        if isOptional, request.body.isEmpty { return try Fields<Okta>([:]).read(read) }
        try OktaRefusal.require(
            request.isJSON, .mediaType,
            "Content-Type is \(request.fields[.contentType] ?? "absent"); expected application/json")
        return try body(read)
    }
}

extension FieldReader {
    private enum Flag: String, CaseIterable { case yes = "true", no = "false" }

    mutating func flag(_ name: String, or standard: Bool) -> Bool {
        choice(name, of: Flag.self).map { $0 == .yes } ?? standard
    }
}
