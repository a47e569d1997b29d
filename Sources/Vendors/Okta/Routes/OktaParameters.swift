import Emulation
import JSON
import Wire

/// The parameters of a request, from its query or its form; an empty value counts as absent (RFC 6749 section 3.1).
struct OktaParameters: Sendable {
    let items: [(name: String, value: String)]
    private var isQuery = false
    /// Notes what is asked for; `nil` where that does not count as reading.
    private var ledger: (any ReadingLedger)?

    init(_ items: [(name: String, value: String)] = []) { self.items = items.filter { !$0.value.isEmpty } }

    init(of arrival: OktaArrival) {
        self.init(of: arrival.request)
        (isQuery, ledger) = (arrival.request.method != .post, arrival)
    }

    /// The query of a GET, the form of a POST. Both are forms, in which `+` means a space (RFC 6749 appendix B).
    init(of request: Request) {
        self.init(
            request.method == .post
                ? request.formItems : request.query.map { PercentEncoding.formItems(of: $0) } ?? [])
    }

    /// The members of a JSON object: texts as they are, other values as JSON.
    init(_ object: JSONObject, of arrival: OktaArrival) {
        self.init(object.filter { !$0.value.isNull }.map { ($0.name, $0.value.string ?? $0.value.text) })
        ledger = arrival
    }

    subscript(name: String) -> String? {
        ledger?.note(name, inQuery: isQuery)
        return items.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The same parameters; looking one up does not count as reading it.
    var unnoted: OktaParameters { OktaParameters(items) }

    /// The values of a parameter that may occur more than once.
    func values(_ name: String) -> [String] {
        ledger?.note(name, inQuery: isQuery)
        return items.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
    }

    func words(_ name: String) -> [String] { self[name]?.split(separator: " ").map(String.init) ?? [] }

    /// A name that occurs more than once.
    var duplicate: String? {
        var names: Set<ExactText> = []
        return items.first { !names.insert(ExactText($0.name)).inserted }?.name
    }

    /// A value without which the request cannot be answered.
    func required(_ name: String) throws(Okta.Refused) -> String {
        try Okta.Refused.require(
            self[name], .parameterMissing, with: ["parameter": .string(name)],
            "found no parameter \(name) with a value; expected one")
    }
}

extension [String] {
    /// Whether it has a text with the same bytes, as names and ids on the wire are compared.
    func contains(exactly text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension Request {
    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    var isJSON: Bool { contentType == "application/json" }

    private var contentType: String? { fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() }

    /// The value of a cookie; the first one of that name.
    func cookie(_ name: String) -> String? {
        for line in fields.values(of: .cookie) {
            for pair in line.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
        }
        return nil
    }
}

/// How Okta reads JSON bodies and queries: the first wrong member decides, and all are named as causes.
extension Okta: FieldDialect {
    /// ours: 255 characters are more than Okta's profile allows for any text that a sandbox keeps.
    static let fieldPolicy = FieldPolicy(tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true, textLengths: 1...255)

    static func refusal(of problems: [FieldProblem]) -> Refused {
        let problem = problems[0]
        if let reason = problem.reason() { return Refused(.bodyMalformed, because: reason) }
        let place = problem.isInQuery ? "in the query, " : ""
        let reasons = problems.map { "\(place)\($0)" }.joined(separator: "; ")
        return Refused(
            .bodyInvalid, ["member": .string(name(of: problem)), "causes": .array(problems.map(cause))],
            because: reasons)
    }

    /// Source: recorded answers (pysdk) of an absent member; the others ours.
    private static func cause(_ problem: FieldProblem) -> JSON {
        let text = problem.kind == .missing ? "The field cannot be left blank" : "The field is not valid"
        return ["errorSummary": .string("\(name(of: problem)): \(text)")]
    }

    /// The member alone: Okta's answers do not say where it is. Source: docs:reference/core-okta-api, an example.
    private static func name(of problem: FieldProblem) -> String {
        let path = problem.list ?? problem.path
        return path.split(separator: ".").last.map(String.init) ?? path
    }
}

extension OktaCall {
    /// Returns what `read` makes of the content, which must be JSON.
    ///
    /// - Parameter isOptional: whether there may be no content, which then counts as an empty object.
    func json<Value>(isOptional: Bool = false, _ read: (inout FieldReader) -> Value) throws(Refused) -> Value {
        if isOptional, request.body.isEmpty { return try Fields<Okta>([:], notedBy: arrival).read(read) }
        return try jsonFields().read(read)
    }

    /// The members of the content, which must be JSON.
    func jsonFields() throws(Refused) -> Fields<Okta> {
        try Refused.require(
            request.isJSON, .mediaType,
            "Content-Type is \(request.fields[.contentType] ?? "absent"); expected application/json")
        return try body()
    }
}

extension FieldReader {
    private enum Flag: String, CaseIterable { case yes = "true", no = "false" }

    mutating func flag(_ name: String, or standard: Bool) -> Bool {
        choice(name, of: Flag.self).map { $0 == .yes } ?? standard
    }
}
