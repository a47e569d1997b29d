import HTTPTypes
public import JSON
public import Wire

/// How each failure of a vendor looks on the wire, read from its `failures.yaml` and from `failures/*.yaml`.
///
/// The installed `failures.yaml` is complete; what another one lacks comes from there. A file in the folder `failures`
/// changes only the failures that it names.
public struct FailureCatalog<Failure: VendorFailure>: Sendable {
    private struct Sheet: Sendable {
        let templates: [Failure: FailureTemplate]
        let envelopes: [FailureEnvelope]

        /// - Parameter installed: the complete file of the bottom layer, for failures that this one lacks.
        init(
            _ file: FixtureStore.File, _ scope: FailureScope,
            installed: () throws(FixtureProblem) -> FixtureStore.File?
        ) throws(FixtureProblem) {
            let document = try FixtureNode(file: file).mapping("sources", "envelopes", "failures")
            envelopes = try (document["envelopes"]?.elements() ?? []).map { (node) throws(FixtureProblem) in
                try FailureEnvelope(node, scope)
            }
            let failures = try document.required("failures")
            var templates = try FailureCatalog.templates(failures, scope)
            let missing = Failure.allCases.filter { templates[$0] == nil }
            if let first = missing.first {
                guard let installed = try installed() else {
                    throw failures.problem("failure “\(first.rawValue)” is missing")
                }
                templates.merge(try Sheet(installed, scope) { nil }.templates) { own, _ in own }
                failures.warn(
                    "these failures are missing and are as installed: \(missing.map(\.rawValue).joined(separator: ", "))"
                )
            }
            self.templates = templates
        }
    }

    /// Reads `failures.yaml`, once.
    private let sheet: Deferred<Sheet>
    private let changes: [Failure: FailureTemplate]

    /// Reads the failures, once for all callers; a `failures.yaml` that tests have already judged is read when one is
    /// first needed.
    ///
    /// - Throws: a problem when a file names a failure the vendor does not have, the bottom layer lacks one, two files
    ///   change the same one, or one uses a switch or value that does not exist.
    public init(_ fixtures: VendorFixtures, scope: FailureScope) throws(FixtureProblem) {
        self = try fixtures.once { () throws(FixtureProblem) in try FailureCatalog(reading: fixtures, scope) }
    }

    private init(reading fixtures: VendorFixtures, _ scope: FailureScope) throws(FixtureProblem) {
        let file = try fixtures.file("failures.yaml")
        sheet = try Deferred(file) { () throws(FixtureProblem) in
            try Sheet(file, scope) { () throws(FixtureProblem) in try fixtures.installed("failures.yaml", under: file) }
        }
        changes = try Self.changes(fixtures, scope)
    }

    private static func changes(
        _ fixtures: VendorFixtures, _ scope: FailureScope
    ) throws(FixtureProblem) -> [Failure: FailureTemplate] {
        var changes: [Failure: (template: FailureTemplate, file: String)] = [:]
        for file in fixtures.names(in: "failures") where file.hasSuffix(".yaml") {
            let failures = try fixtures.document("failures/\(file)").mapping("failures").required("failures")
            let templates = try Self.templates(failures, scope)
            for (name, node) in try failures.members() {
                guard let failure = Failure(rawValue: name), let template = templates[failure] else { continue }
                if let other = changes[failure] {
                    throw node.nameProblem("the file \(other.file) changes the failure \(name) already")
                }
                changes[failure] = (template, file)
            }
        }
        return changes.mapValues(\.template)
    }

    private static func templates(
        _ node: FixtureNode, _ scope: FailureScope
    ) throws(FixtureProblem) -> [Failure: FailureTemplate] {
        var templates: [Failure: FailureTemplate] = [:]
        for (name, value) in try node.members() {
            try value.readRecord { (value) throws(FixtureProblem) in
                guard let failure = Failure(rawValue: name) else {
                    let names = Failure.allCases.map(\.rawValue)
                    throw value.nameProblem("unknown failure “\(name)”\(Nearest.hint(to: name, among: names))")
                }
                templates[failure] = try FailureTemplate(value, scope)
            }
        }
        return templates
    }

    public func response(
        _ failure: Failure, _ parameters: JSONObject = [:], route: String?, switches: SwitchValues
    ) -> Response {
        // It was read before, here or by a test, and every case has an entry.
        guard let sheet = try? sheet.get(), let template = changes[failure] ?? sheet.templates[failure] else {
            return .empty(.internalServerError)
        }
        let situation = FailureCondition.Situation(route: route, switches: switches)
        let (status, fields, content) = template.answer(parameters, in: situation)
        var response: Response
        switch content {
        case .empty: response = .empty(status)
        case .text(let text): response = .text(text, status: status)
        case .json(var body):
            for envelope in sheet.envelopes where envelope.condition.holds(in: situation) { body = envelope.wrap(body) }
            response = .json(body, status: status)
        }
        response.fields.append(contentsOf: fields)
        return response
    }

    /// Status, evidence and source of every failure, in the order of the vendor's names.
    package var listing: [FailureListing] {
        let templates = ((try? sheet.get())?.templates ?? [:]).merging(changes) { $1 }
        let answers = templates.mapValues(\.usualAnswer)
        let groups = Dictionary(grouping: Failure.allCases) { answers[$0] }
        return Failure.allCases.compactMap { failure in
            templates[failure].map {
                FailureListing(
                    name: failure.rawValue, about: $0.about, status: $0.status.code, evidence: $0.evidence,
                    source: $0.source,
                    lookalikes: (groups[answers[failure]] ?? []).filter { $0 != failure }.map { $0.rawValue })
            }
        }
    }
}

extension FailureCatalog {
    /// What the content of each failure looks like, in the order of the vendor's names.
    func shapes() throws(FixtureProblem) -> [FailureShape] {
        let sheet = try sheet.get()
        return Failure.allCases.compactMap { failure in
            (changes[failure] ?? sheet.templates[failure]).map { $0.shape(failure.rawValue, in: sheet.envelopes) }
        }
    }
}

public struct FailureListing: Sendable {
    package let name: String
    package let about: String
    package let status: Int
    package let evidence: Evidence
    package let source: String
    /// The vendor's other failures that look the same on the wire.
    package let lookalikes: [String]
}
