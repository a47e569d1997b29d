import Emulation
import HTTPTypes
import JSON
import Wire

/// The calls below `/_understudy/` with which tests and people control a sandbox.
///
/// They need no vendor's token and never appear in the journal.
struct ControlAPI: Sendable {
    private let emulator: Emulator
    private var access: ControlAccess { emulator.controlAccess }
    private let table: RouteTable
    private let vendorPort: Int?
    /// The methods of the paths without parameters.
    private let literals: [String: [HTTPRequest.Method]]

    init(_ emulator: Emulator, vendorPort: Int?) {
        self.emulator = emulator
        self.vendorPort = vendorPort
        literals = Dictionary(
            grouping: Self.operations.filter { $0.pathParameters.isEmpty }.map(\.endpoint), by: \.pattern
        ).mapValues { $0.map(\.method) }
        let identity = VendorIdentity(
            id: "understudy", title: "Understudy", prefixes: [ControlOperation.prefix],
            repeatedSlashes: .collapse, ignoresTrailingSlash: true)
        // The operations are a constant whose paths differ, as a test verifies.
        table = RouteTable([
            RouteTable.Member(identity: identity, routes: Self.operations.map { ($0.id, [$0.endpoint]) })
        ])
    }

    /// Whether a request is for the control API, or for the root path.
    static func owns(_ request: Request) -> Bool {
        request.targetBegins(with: "/_understudy/")
            || request.targetBegins(with: "/_understudy") && request.path == ControlOperation.prefix
            || Page.isFrontDoor(request)
    }

    func match(_ request: Request) -> RouteTable.Match {
        let path = Page.isFrontDoor(request) ? ControlOperation.prefix[...] : request.path
        return table.match(request.method, path)
    }

    func bodyLimit(for request: Request, at match: RouteTable.Match) -> Int {
        // A request that will be refused need not fill the memory first.
        guard case .route(_, let index, _) = match, Self.operations[index].traits.contains(.takesState),
            access.hasToken(request), access.admits(request)
        else { return Pipeline.standardBodyLimit }
        return emulator.stateLimit
    }

    /// The answer to a control call in the sandbox of that name, created only when an accepted call needs it.
    func answer(
        _ request: Request, at match: RouteTable.Match, in sandbox: String, by selector: SandboxSelector
    ) -> Answer {
        do throws(ControlProblem) {
            try access.check(request)
        } catch {
            return counted(ExchangeLabel.none, .ready(error.response), in: sandbox)
        }
        if var page = Page.response(to: request) {
            emulator.metrics.countControlCall(ExchangeLabel.none, status: page.status.code)
            page.closeToPages()
            return .ready(page)
        }
        switch match {
        case .route(_, let index, let parameters):
            let operation = Self.operations[index]
            if !operation.pathParameters.isEmpty, let methods = literalMethods(request) {
                return counted(ExchangeLabel.none, Self.methodNotAllowed(methods), in: sandbox)
            }
            let answer = perform(operation, request, match, parameters, in: sandbox, by: selector)
            return counted(index, answer, in: sandbox)
        case .otherMethods(_, let methods):
            return counted(ExchangeLabel.none, Self.methodNotAllowed(literalMethods(request) ?? methods), in: sandbox)
        case .unknown, .unowned:
            let nearest = table.guide.nearest(to: request.method, request.path, count: 1).first ?? "none"
            let problem = ControlProblem(
                .notFound, "no-such-call", "There is no such control call; the nearest is \(nearest).")
            return counted(ExchangeLabel.none, .ready(problem.response), in: sandbox)
        }
    }

    /// The methods of the path, if it is one without parameters.
    ///
    /// Such a path takes precedence over one with a parameter, as OpenAPI 3.1 section 4.8.8 specifies.
    private func literalMethods(_ request: Request) -> [HTTPRequest.Method]? {
        literals["/" + request.path.split(separator: "/").joined(separator: "/")]
    }

    private static func methodNotAllowed(_ methods: [HTTPRequest.Method]) -> Answer {
        let allow = methods.map(\.rawValue).joined(separator: ", ")
        var response = ControlProblem(.methodNotAllowed, "method-not-allowed", "This call allows \(allow).").response
        response.fields[.allow] = allow
        return .ready(response)
    }

    private func perform(
        _ operation: ControlOperation, _ request: Request, _ match: RouteTable.Match, _ parameters: PathParameters,
        in name: String, by selector: SandboxSelector
    ) -> Answer {
        do throws(ControlProblem) {
            guard operation.traits.contains(.open) || access.hasToken(request) else {
                throw ControlProblem(.unauthorized, "control-token-wrong", "The control API requires its bearer token.")
            }
            if request.bodyExceedsLimit {
                throw ControlProblem(
                    .contentTooLarge, "body-too-large",
                    "The content is longer than the limit; \(request.excess(over: bodyLimit(for: request, at: match)))."
                )
            }
        } catch {
            return .ready(error.response)
        }
        guard !operation.traits.contains(.ofServer), emulator.sandboxes.isKept else {
            return carryOut(operation, request, parameters, in: name, by: selector)
        }
        let again = { @Sendable in
            await emulator.fetching(name) { _ in perform(operation, request, match, parameters, in: name, by: selector)
            }
        }
        guard let sandbox = emulator.sandboxes.ready(name), sandbox.beginControlCall() else { return .deferred(again) }
        switch carryOut(operation, request, parameters, in: name, by: selector) {
        case .ready(let response):
            sandbox.endControlCall()
            guard emulator.sandboxes.mayAnswer(in: sandbox) else {
                return .deferred { await emulator.confirmed(in: sandbox, { response }, or: again) }
            }
            return .ready(response)
        case .deferred(let work):
            return .deferred {
                let response = await work()
                sandbox.endControlCall()
                return await emulator.confirmed(in: sandbox, { response }, or: again)
            }
        }
    }

    private func carryOut(
        _ operation: ControlOperation, _ request: Request, _ parameters: PathParameters, in name: String,
        by selector: SandboxSelector
    ) -> Answer {
        do throws(ControlProblem) {
            let call = try ControlCall(
                request, at: operation, parameters, in: name, by: selector, of: emulator, vendorPort: vendorPort)
            let answer = try operation.handler(call)
            // Kept from here on, not from the start of the work: until then it could expire.
            guard case .deferred(let work) = answer, let pinned = call.existingSandbox else { return answer }
            return .deferred { await pinned.whileUsed(work) }
        } catch {
            return .ready(error.response)
        }
    }

    /// The answer with common fields and without secrets, counted as soon as it is available.
    private func counted(_ operation: Int, _ answer: Answer, in sandbox: String) -> Answer {
        switch answer {
        case .ready(let response): return .ready(finished(response, operation, in: sandbox))
        case .deferred(let work):
            return .deferred {
                let response = await work()
                // The secrets may just have arrived with a long state, and the answer may be equally long. It goes ahead
                // of others that are not made yet, or all of them would wait here in memory.
                return await emulator.readings.run(isNext: true) { finished(response, operation, in: sandbox) }
            }
        }
    }

    private func finished(_ response: Response, _ operation: Int, in sandbox: String) -> Response {
        emulator.metrics.countControlCall(operation, status: response.status.code)
        var response = response
        if let replica = emulator.replica { response.fields[.replica] = replica }
        let isClean = Self.operations.indices.contains(operation) && Self.operations[operation].traits.contains(.clean)
        if !isClean || response.status.kind != .successful {
            // An answer repeats parts of the request and of what clients sent; a refused call has created no sandbox.
            let owner = emulator.sandboxes.existing(sandbox) ?? emulator.sandboxes.standard
            response = response.masked(by: owner.redactor)
        }
        response.closeToPages()
        return response
    }
}

/// One call of the control API; `openapi.yaml` describes it under the same id.
struct ControlOperation: Sendable {
    typealias Handler = @Sendable (ControlCall) throws(ControlProblem) -> Answer

    struct Trait: OptionSet {
        let rawValue: UInt8
        /// It never requires the control token, so that a probe needs no secret.
        static let open = Trait(rawValue: 1)
        /// It works in no sandbox, whichever the call selects.
        static let ofServer = Trait(rawValue: 2)
        /// Its answers contain nothing to hide: a requested token, descriptions without anyone's data, what was already
        /// masked.
        static let clean = Trait(rawValue: 4)
        /// Its content is a vendor's state, which may be longer than other content.
        static let takesState = Trait(rawValue: 8)
    }

    static let prefix = "/_understudy"

    /// The stable name, such as `clock.set`.
    let id: String
    let endpoint: Endpoint
    /// The parameters that the query may have; the call refuses others.
    let query: [String]
    let traits: Trait
    /// The names of the parameters in the path, in order.
    let pathParameters: [String]
    let handler: Handler

    /// - Parameter path: what follows ``prefix``.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, query: [String] = [], _ traits: Trait = [],
        handler: @escaping Handler
    ) {
        (self.id, self.query, self.traits, self.handler) = (id, query, traits, handler)
        endpoint = Endpoint(method, Self.prefix + path)
        pathParameters = path.parameterNames
    }
}

extension String {
    /// The names of the parameters in a pattern of a path, in order.
    var parameterNames: [String] {
        split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}

extension ControlAPI {
    static let operations: [ControlOperation] = [
        .init("index", .get, "/", [.open, .ofServer, .clean], handler: readIndex),
        .init("health", .get, "/health", [.open, .ofServer, .clean], handler: readHealth),
        .init("health.live", .get, "/health/live", [.open, .ofServer, .clean], handler: readLiveness),
        .init("health.ready", .get, "/health/ready", [.open, .ofServer, .clean], handler: readReadiness),
        .init("openapi", .get, "/openapi.json", [.ofServer, .clean], handler: describe),
        .init("openapi.vendor", .get, "/openapi/{document}", [.ofServer, .clean], handler: describeCalls),
        .init("asyncapi.vendor", .get, "/asyncapi/{document}", [.ofServer, .clean], handler: describeFrames),
        .init("vendors.list", .get, "/vendors", [.ofServer, .clean], handler: listVendors),
        .init("vendors.sample", .get, "/vendors/{vendor}/sample", [.clean], handler: readSample),
        .init("metrics", .get, "/metrics", [.ofServer], handler: readMetrics),
        .init(
            "journal.list", .get, "/journal",
            query: [
                "vendor", "route", "status", "failure", "since", "after", "unmatched", "refused", "noted", "unread",
                "last", "format", "wait", "count",
            ], [.clean], handler: listJournal),
        .init("journal.clear", .delete, "/journal", handler: clearJournal),
        .init("journal.get", .get, "/journal/{id}", query: ["format"], [.clean], handler: readJournalEntry),
        .init("journal.verify", .post, "/journal/verify", query: ["wait"], [.clean], handler: verifyJournal),
        .init("coverage", .get, "/coverage", query: ["vendor"], [.clean], handler: readCoverage),
        .init("clock.get", .get, "/clock", handler: readClock),
        .init("clock.set", .put, "/clock", handler: setClock),
        .init("clock.clear", .delete, "/clock", handler: releaseClock),
        .init("settings.get", .get, "/settings", handler: readSettings),
        .init("settings.set", .put, "/settings", handler: setSettings),
        .init("tokens.kinds", .get, "/tokens", handler: listTokenKinds),
        .init("tokens.explain", .post, "/tokens/explain", handler: explainToken),
        .init("explain", .post, "/explain", handler: explainCall),
        .init("tokens.mint", .post, "/tokens/{vendor}/{kind}", [.clean], handler: mintToken),
        .init("faults.list", .get, "/faults", handler: listFaults),
        .init("faults.set", .put, "/faults", handler: setFaults),
        .init("faults.clear", .delete, "/faults", handler: clearFaults),
        .init("scenarios.list", .get, "/scenarios", query: ["rules"], handler: listScenarios),
        .init("scenarios.set", .put, "/scenarios", handler: setScenarios),
        .init("scenarios.clear", .delete, "/scenarios", handler: clearScenarios),
        .init("actions.list", .get, "/actions", [.ofServer, .clean], handler: listActions),
        .init("state.act", .post, "/state/{vendor}/{action}", handler: act),
        .init("sandboxes.list", .get, "/sandboxes", [.ofServer], handler: listSandboxes),
        .init("sandboxes.set", .put, "/sandboxes/{name}", [.ofServer], handler: setSandbox),
        .init("sandboxes.delete", .delete, "/sandboxes/{name}", [.ofServer], handler: deleteSandbox),
        .init("reset", .post, "/reset", handler: reset),
        .init("state.get", .get, "/state/{vendor}", handler: exportState),
        .init("state.set", .put, "/state/{vendor}", [.takesState], handler: importState),
        .init("keys.list", .get, "/keys", handler: listKeys),
        .init("keys.drill", .post, "/keys/{vendor}/{issuer}/{drill}", handler: drillKeys),
    ]
}
