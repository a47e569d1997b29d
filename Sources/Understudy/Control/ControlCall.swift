import Emulation
import HTTPTypes
import JSON
import Synchronization
import Wire

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
        (self.request, self.parameters, self.selected) = (request, parameters, selected)
        (self.emulator, self.vendorPort) = (emulator, vendorPort)
        query = try Self.query(of: request, operation.query)
    }

    /// The sandbox that the request selects, created if needed. A call that will be refused should not read it.
    var sandbox: Sandbox { selected.sandbox }

    /// The sandbox that the request selects; `nil` if it does not exist.
    var existingSandbox: Sandbox? { selected.existing }

    var sandboxName: String { selected.name }

    /// How the call named it, with the vendors' address if the sandbox's base follows requests.
    var selector: SandboxSelector { emulator.placed(selected.selector, of: request, at: vendorPort, in: sandbox) }

    /// The server's address as the client wrote it, with the path that selects the sandbox if the call has one.
    ///
    /// - Parameter port: another port of the server; `nil` for that of the call.
    func address(of port: Int? = nil) -> String {
        let base = request.origin(port: port) ?? emulator.sandboxes.publicBase.text
        return selected.selector.form == .path ? "\(base)/~\(sandboxName)" : base
    }

    /// The content, which must be a JSON object without repeated members.
    func object(maximumDepth: Int = JSON.defaultMaximumDepth) throws(ControlProblem) -> JSONObject {
        let object = try Fields<ControlFields>(bodyOf: request, maximumDepth: maximumDepth).object
        if let duplicate = object.duplicateNames.first { throw .invalid("member \(duplicate) occurs twice") }
        return object
    }

    /// The content, which must be a JSON object with only these members.
    func body(_ allowed: String...) throws(ControlProblem) -> Fields<ControlFields> {
        let object = try object()
        try check(object, allowed)
        return Fields(object)
    }

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
            guard names.insert(name).inserted else { throw .invalid("query parameter \(name) occurs twice") }
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
            throw .invalid(error.message)
        }
    }
}

extension Request {
    /// Scheme, host and port as the client wrote them; `nil` from one of HTTP/1.0 that names no host.
    ///
    /// - Parameter port: a port in place of the client's.
    func origin(port: Int? = nil) -> String? {
        guard let authority else { return nil }
        let scheme = connection.isSecure ? "https" : "http"
        guard let port else { return "\(scheme)://\(authority)" }
        // A colon inside brackets belongs to an IPv6 address.
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return "\(scheme)://\(host):\(port)"
    }
}

/// How contents and queries of control calls are read.
enum ControlFields: FieldDialect {
    static func refusal(of problems: [FieldProblem]) -> ControlProblem {
        let (problem, name) = (problems[0], problems[0].path)
        if let reason = problem.reason(of: "The content", expected: nil, whenEmpty: "is empty; expected a JSON object")
        {
            return ControlProblem(.badRequest, "body-malformed", reason + ".")
        }
        let found = problem.isInQuery ? "“\(problem.found?.string ?? "")”" : problem.found?.text ?? ""
        return switch problem.kind {
        case .missing: .invalid("member \(name) is missing; expected \(problem.expected)")
        case .unknown(let name, let known):
            .invalid("there is no member \(name)\(Nearest.hint(to: name, among: known))")
        case .other(let reason): .invalid(reason)
        default: .invalid("\(name) is \(found); expected \(problem.expected)")
        }
    }
}

extension FieldReader {
    /// A non-negative number in a query.
    mutating func count(_ name: String) -> Int? {
        value(name, expecting: "a whole number") { $0.string.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
    }

    mutating func flag(_ name: String) -> Bool? { value(name, expecting: "true or false") { Bool($0.string ?? "") } }
}

/// Why a control call, or a request that reaches no vendor, is refused; in a neutral format, independent of vendors.
struct ControlProblem: Error {
    let status: HTTPResponse.Status
    /// A stable kebab-case name.
    let code: String
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// The refusal of a value: what was found and what would be right.
    static func invalid(_ message: String) -> ControlProblem { ControlProblem(.badRequest, "invalid", message) }

    /// `{"error":{"code":…,"message":…}}`.
    var response: Response { .json(["error": ["code": .string(code), "message": .string(message)]], status: status) }
}

extension Response {
    func masked(by redactor: Redactor) -> Response {
        var response = self
        response.body = redactor.answer(body)
        return response
    }
}

/// The sandbox that a control call selects, created when the call first needs it.
///
/// A call that is refused, or one such as `health` that concerns no sandbox, creates none.
final class SelectedSandbox: Sendable {
    let name: String
    /// How the call named it.
    let selector: SandboxSelector
    private let directory: SandboxDirectory
    private let found: Mutex<Sandbox?>

    init(_ name: String, by selector: SandboxSelector, of directory: SandboxDirectory) {
        (self.name, self.selector, self.directory) = (name, selector, directory)
        found = Mutex(directory.existing(name))
    }

    var existing: Sandbox? { found.withLock(\.self) }

    /// The sandbox, created if needed; the same one for the duration of the call.
    var sandbox: Sandbox { found.once { directory.sandbox(name) } }
}
