import Emulation
import HTTPTypes
import Wire

/// One call of the control API; `openapi.yaml` describes it under the same id.
struct ControlOperation: Sendable {
    typealias Handler = @Sendable (ControlCall) throws(ControlProblem) -> Answer

    /// How a call differs from most others.
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
        pathParameters = path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
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
