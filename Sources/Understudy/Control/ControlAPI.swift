import Emulation
import HTTPTypes
import JSON
import Wire

/// The calls below `/_understudy/` by which tests and people steer a sandbox.
///
/// They need no vendor's token and never appear in the journal.
struct ControlAPI: Sendable {
    private let emulator: Emulator
    private let operations: [ControlOperation]
    private let table: RouteTable?

    init(_ emulator: Emulator) {
        self.emulator = emulator
        operations = Self.operations(health: Self.health(of: emulator))
        let identity = VendorIdentity(
            id: "understudy", title: "Understudy", prefixes: [ControlOperation.prefix],
            pathRules: PathRules(repeatedSlashes: .collapse, ignoresTrailingSlash: true))
        // The operations are a constant whose paths differ, as its test shows.
        table = try? RouteTable([
            RouteTable.Member(identity: identity, routes: operations.map { ($0.id, [$0.endpoint]) })
        ])
    }

    /// Whether a request is for the control API.
    static func owns(_ request: Request) -> Bool {
        request.targetBegins(with: "/_understudy/")
            || request.targetBegins(with: "/_understudy") && request.path == ControlOperation.prefix
    }

    /// The longest content that the call takes.
    func bodyLimit(for request: Request) -> Int {
        guard case .route(_, let index, _) = table?.match(request.method, request.path) else {
            return Pipeline.standardBodyLimit
        }
        return operations[index].bodyLimit ?? Pipeline.standardBodyLimit
    }

    private static func operations(health: Response) -> [ControlOperation] {
        [
            ControlOperation("health", .get, "/health", "Whether the server is well, and what it stands in for.") {
                (_) throws(ControlProblem) in .ready(health)
            }
        ] + journalOperations + clockOperations + settingsOperations + tokenOperations + faultOperations
            + scenarioOperations + actionOperations + sandboxOperations + stateOperations
    }

    /// The answer to a control call.
    func answer(_ request: Request, in sandbox: Sandbox) -> Answer {
        do {
            return try route(request, sandbox)
        } catch {
            return .ready(error.response)
        }
    }

    private func route(_ request: Request, _ sandbox: Sandbox) throws(ControlProblem) -> Answer {
        switch table?.match(request.method, request.path) {
        case .route(_, let index, let parameters):
            let operation = operations[index]
            if let token = emulator.controlToken, operation.id != "health" { try authenticate(request, token) }
            if request.bodyExceedsLimit {
                throw ControlProblem(.contentTooLarge, "body-too-large", "The content is longer than the limit.")
            }
            // A test that only reads the journal, or mints, uses its sandbox just as well.
            sandbox.touch()
            return try operation.handler(
                ControlCall(request: request, parameters: parameters, sandbox: sandbox, emulator: emulator))
        case .otherMethods(_, let methods):
            let allow = methods.map(\.rawValue).joined(separator: ", ")
            var response = ControlProblem(.methodNotAllowed, "method-not-allowed", "This call knows \(allow).").response
            response.fields[.allow] = allow
            return .ready(response)
        case .unknown, .unowned, nil:
            let nearest = table?.nearest(to: request.method, request.path, count: 1).first ?? "none"
            throw ControlProblem(.notFound, "no-such-call", "There is no such control call; the nearest is \(nearest).")
        }
    }

    /// Health stays open, so that a container's probe needs no secret.
    private func authenticate(_ request: Request, _ token: String) throws(ControlProblem) {
        let words = (request.fields[.authorization] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", String(words[1]).hasSameBytes(as: token) else {
            throw ControlProblem(.unauthorized, "control-token-wrong", "The control API asks for its bearer token.")
        }
    }

    private static func health(of emulator: Emulator) -> Response {
        let vendors = emulator.vendors.map { vendor -> JSON in
            [
                "id": .string(vendor.identity.id), "title": .string(vendor.identity.title),
                "routes": JSON(vendor.routes.count), "failures": JSON(vendor.failures.count),
            ]
        }
        return .json([
            "status": "ok", "version": .string(Emulator.version), "vendors": .array(vendors),
            "fixtures": .string(emulator.fixtureFingerprint),
        ])
    }
}
