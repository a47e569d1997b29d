import Emulation
import HTTPTypes
import JSON
import Wire

/// A control call, matched to its operation.
struct ControlCall {
    let request: Request
    let parameters: PathParameters
    private let selected: SelectedSandbox
    let emulator: Emulator
    /// The vendors' port; `nil` when it is that of the call.
    let vendorPort: Int?
    /// The query parameters, each at most once and declared by the operation.
    let query: Fields<ControlFields>

    /// Creates a call of its operation.
    ///
    /// - Throws: a problem when the query has a parameter that the operation does not declare, or has one twice.
    init(
        _ request: Request, at operation: ControlOperation, _ parameters: PathParameters,
        in selected: SelectedSandbox, of emulator: Emulator, vendorPort: Int?
    ) throws(ControlProblem) {
        self.request = request
        self.parameters = parameters
        self.selected = selected
        self.emulator = emulator
        self.vendorPort = vendorPort
        query = try Self.query(of: request, operation.query)
    }

    /// The sandbox that the request selects, created if needed. A call that will be refused should not read it.
    var sandbox: Sandbox { selected.sandbox }

    /// The sandbox that the request selects; `nil` if it does not exist.
    var existingSandbox: Sandbox? { selected.existing }

    var sandboxName: String { selected.name }

    var selector: SandboxSelector { selected.selector }

    /// The content, which must be a JSON object without repeated members.
    func object(maximumDepth: Int = JSON.defaultMaximumDepth) throws(ControlProblem) -> JSONObject {
        let object = try Fields<ControlFields>(bodyOf: request, maximumDepth: maximumDepth).object
        if let duplicate = object.duplicateNames.first { throw invalid("member \(duplicate) occurs twice") }
        return object
    }

    /// The content, which must be a JSON object with only these members.
    func body(_ allowed: String...) throws(ControlProblem) -> Fields<ControlFields> {
        let object = try object()
        try check(object, allowed)
        return Fields(object)
    }

    /// Refuses all but these members.
    func check(_ object: JSONObject, _ allowed: [String]) throws(ControlProblem) {
        try Fields<ControlFields>(object).read { $0.refuseUnknown(allowed) }
    }

    private static func query(
        of request: Request, _ declared: [String]
    ) throws(ControlProblem) -> Fields<ControlFields> {
        var names: Set<String> = []
        for (name, _) in request.queryItems {
            guard declared.contains(name) else {
                let hint = Nearest.hint(to: name, among: declared)
                throw .invalid("there is no query parameter \(name)\(hint)")
            }
            guard names.insert(name).inserted else {
                throw .invalid("query parameter \(name) occurs twice")
            }
        }
        return Fields(queryOf: request)
    }

    func vendor(_ id: String, _ status: HTTPResponse.Status = .notFound) throws(ControlProblem) -> Int {
        guard let index = emulator.vendor(id) else {
            let hint = Nearest.hint(to: id, among: emulator.vendors.map(\.identity.id))
            throw ControlProblem(
                status, status == .notFound ? "no-such-vendor" : "invalid", "no vendor is called \(id)\(hint)")
        }
        return index
    }

    func read<Value>(
        _ value: JSON, _ read: (FixtureNode) throws(FixtureProblem) -> Value
    ) throws(ControlProblem) -> Value {
        do {
            return try read(FixtureNode(value, from: "the content"))
        } catch {
            throw invalid(error.message)
        }
    }

    /// The refusal of a value: what was found and what would be right.
    func invalid(_ message: String) -> ControlProblem { .invalid(message) }
}
