import HTTPTypes
public import JSON
public import Wire

/// How each failure of a vendor looks on the wire, read from its `failures.yaml`.
public struct FailureCatalog<Failure: VendorFailure>: Sendable {
    private let templates: [Failure: FailureTemplate]
    private let envelopes: [FailureEnvelope]

    /// Reads `failures.yaml`, once for all callers.
    ///
    /// - Throws: a problem when the file names a failure the vendor does not have, lacks one, or uses a switch or value
    ///   that does not exist.
    public init(_ fixtures: VendorFixtures, scope: FailureScope) throws(FixtureProblem) {
        self = try fixtures.once { () throws(FixtureProblem) in try FailureCatalog(reading: fixtures, scope) }
    }

    private init(reading fixtures: VendorFixtures, _ scope: FailureScope) throws(FixtureProblem) {
        let document = try fixtures.document("failures.yaml").mapping("sources", "envelopes", "failures")
        var envelopes: [FailureEnvelope] = []
        for node in try document["envelopes"]?.elements() ?? [] {
            envelopes.append(try FailureEnvelope(node, scope))
        }
        self.envelopes = envelopes
        let failures = try document.required("failures")
        templates = try Self.templates(failures, scope)
        if let missing = Failure.allCases.first(where: { templates[$0] == nil }) {
            throw failures.problem("failure “\(missing.rawValue)” is missing")
        }
    }

    private static func templates(
        _ node: FixtureNode, _ scope: FailureScope
    ) throws(FixtureProblem) -> [Failure: FailureTemplate] {
        var templates: [Failure: FailureTemplate] = [:]
        for (name, value) in try node.members() {
            guard let failure = Failure(rawValue: name) else {
                let names = Failure.allCases.map(\.rawValue)
                throw value.nameProblem("unknown failure “\(name)”\(Nearest.hint(to: name, among: names))")
            }
            templates[failure] = try FailureTemplate(value, scope)
        }
        return templates
    }

    /// The response for a failure on a route, with the switches of a sandbox.
    public func response(
        _ failure: Failure, _ parameters: JSONObject = [:], route: String?, switches: SwitchValues
    ) -> Response {
        // Every case has an entry, as `init` ensured.
        guard let template = templates[failure] else { return .empty(.internalServerError) }
        let situation = FailureCondition.Situation(route: route, switches: switches)
        let (status, fields, content) = template.answer(parameters, in: situation)
        var response: Response
        switch content {
        case .empty: response = .empty(status)
        case .text(let text): response = .text(text, status: status)
        case .json(var body):
            for envelope in envelopes where envelope.condition.holds(in: situation) { body = envelope.wrap(body) }
            response = .json(body, status: status)
        }
        response.fields.append(contentsOf: fields)
        return response
    }

    /// Status, evidence and source of every failure, in the order of the vendor's names.
    public var listing: [FailureListing] {
        let answers = templates.mapValues(\.usualAnswer)
        let groups = Dictionary(grouping: Failure.allCases) { answers[$0] }
        return Failure.allCases.compactMap { failure in
            templates[failure].map {
                FailureListing(
                    name: failure.rawValue, about: $0.about, status: $0.status.code, evidence: $0.evidence,
                    source: $0.source,
                    lookalikes: (groups[answers[failure]] ?? []).filter { $0 != failure }.map(\.rawValue))
            }
        }
    }
}

/// One failure as lists show it.
public struct FailureListing: Sendable {
    /// The stable name.
    public let name: String
    /// When it occurs.
    public let about: String
    /// The status code.
    public let status: Int
    /// Where it is known from.
    public let evidence: Evidence
    /// The source in words.
    public let source: String
    /// The vendor's other failures that look the same on the wire.
    public let lookalikes: [String]
}
