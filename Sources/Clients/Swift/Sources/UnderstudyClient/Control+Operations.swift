// Written by Sources/Clients/generate from the server's OpenAPI document; edits here would be lost.

extension Control {
    /// Whether the server is well, and what it stands in for.
    ///
    /// `GET health`
    public func health() async throws -> Health {
        try await send("GET", "health", expected: [200])
    }

    /// That the process runs; a supervisor restarts one that does not answer.
    ///
    /// `GET health/live`
    public func healthLive() async throws -> Liveness {
        try await send("GET", "health/live", expected: [200])
    }

    /// Whether a proxy should send requests here: not while the server stops, nor while it cannot show the other
    /// replicas that it is alive.
    ///
    /// `GET health/ready`
    public func healthReady() async throws -> Readiness {
        try await send("GET", "health/ready", expected: [200, 503])
    }

    /// This description: OpenAPI 3.1.
    ///
    /// `GET openapi.json`
    public func openapi() async throws -> Description {
        try await send("GET", "openapi.json", expected: [200])
    }

    /// What is emulated: each vendor's routes, failures, switches and sample values, and where they are known from.
    ///
    /// `GET vendors`
    public func vendorsList() async throws -> Vendors {
        try await send("GET", "vendors", expected: [200])
    }

    /// A call of the vendor that works now, its token minted.
    ///
    /// `GET vendors/{vendor}/sample`
    public func vendorsSample(vendor: String) async throws -> Sample {
        try await send("GET", "vendors/\(part(vendor))/sample", expected: [200])
    }

    /// Counts of all sandboxes since the start, as Prometheus reads them; no reset clears them.
    ///
    /// `GET metrics`
    public func metrics() async throws -> String {
        try await send("GET", "metrics", expected: [200])
    }

    /// The exchanges that a filter admits, the oldest first.
    ///
    /// `GET journal`
    ///
    /// The answer can be decoded as one of `Journal`, `BriefJournal`, `HTTPArchive`, `String`.
    public func journalList(
        vendor: String? = nil, route: String? = nil, status: String? = nil, failure: String? = nil,
        since: String? = nil, after: Int? = nil, unmatched: Bool? = nil, refused: Bool? = nil, noted: Bool? = nil,
        kind: JournalListKind? = nil, last: Int? = nil, format: Format? = nil, wait: String? = nil, count: Int? = nil
    ) async throws -> JSONValue {
        try await send(
            "GET", "journal",
            query: [
                "vendor": vendor, "route": route, "status": status, "failure": failure, "since": since,
                "after": after, "unmatched": unmatched, "refused": refused, "noted": noted, "kind": kind?.rawValue,
                "last": last, "format": format?.rawValue, "wait": wait, "count": count,
            ],
            expected: [200])
    }

    /// Forgets all exchanges.
    ///
    /// `DELETE journal`
    public func journalClear() async throws {
        try await send("DELETE", "journal", expected: [204])
    }

    /// One exchange.
    ///
    /// `GET journal/{id}`
    ///
    /// The answer can be decoded as one of `JournalEntry`, `BriefEntry`, `HTTPArchive`, `String`.
    public func journalGet(id: Int, format: Format? = nil) async throws -> JSONValue {
        try await send("GET", "journal/\(part(id))", query: ["format": format?.rawValue], expected: [200])
    }

    /// Counts the exchanges of some kind; where they are too few or too many, shows those that come closest.
    ///
    /// `POST journal/verify`
    ///
    /// The answer can be decoded as one of `Fulfilled`, `Unfulfilled`.
    @discardableResult
    public func journalVerify(_ body: Expectation, wait: String? = nil) async throws -> JSONValue {
        try await send("POST", "journal/verify", query: ["wait": wait], body: body, expected: [200, 409])
    }

    /// What the clock shows.
    ///
    /// `GET clock`
    public func clockGet() async throws -> Clock {
        try await send("GET", "clock", expected: [200])
    }

    /// Sets, moves, freezes and releases the clock.
    ///
    /// `PUT clock`
    @discardableResult
    public func clockSet(_ body: ClockChange) async throws -> Clock {
        try await send("PUT", "clock", body: body, expected: [200])
    }

    /// Has the clock show the machine's time.
    ///
    /// `DELETE clock`
    @discardableResult
    public func clockClear() async throws -> Clock {
        try await send("DELETE", "clock", expected: [200])
    }

    /// Profile, switches and seed.
    ///
    /// `GET settings`
    public func settingsGet() async throws -> Settings {
        try await send("GET", "settings", expected: [200])
    }

    /// Changes profile, switches and seed.
    ///
    /// `PUT settings`
    @discardableResult
    public func settingsSet(_ body: SettingsChange) async throws -> Settings {
        try await send("PUT", "settings", body: body, expected: [200])
    }

    /// The kinds of token that can be minted.
    ///
    /// `GET tokens`
    public func tokensKinds() async throws -> TokenKinds {
        try await send("GET", "tokens", expected: [200])
    }

    /// What each vendor would answer to a token, and why.
    ///
    /// `POST tokens/explain`
    @discardableResult
    public func tokensExplain(_ body: ExplainOrder) async throws -> Verdicts {
        try await send("POST", "tokens/explain", body: body, expected: [200])
    }

    /// Makes a token, good or with a defect.
    ///
    /// `POST tokens/{vendor}/{kind}`
    @discardableResult
    public func tokensMint(
        vendor: String, kind: String, _ body: [String: JSONValue]? = nil
    ) async throws -> MintedToken {
        try await send("POST", "tokens/\(part(vendor))/\(part(kind))", body: body, expected: [200])
    }

    /// The armed faults, and what each has seen.
    ///
    /// `GET faults`
    public func faultsList() async throws -> Faults {
        try await send("GET", "faults", expected: [200])
    }

    /// Replaces the armed faults.
    ///
    /// `PUT faults`
    @discardableResult
    public func faultsSet(_ body: FaultOrder) async throws -> Faults {
        try await send("PUT", "faults", body: body, expected: [200])
    }

    /// Replaces the armed faults.
    ///
    /// `PUT faults`
    @discardableResult
    public func faultsSet(_ body: FaultsSetBodyMembers) async throws -> Faults {
        try await send("PUT", "faults", body: body, expected: [200])
    }

    /// Replaces the armed faults.
    ///
    /// `PUT faults`
    @discardableResult
    public func faultsSet(_ body: JSONValue) async throws -> Faults {
        try await send("PUT", "faults", body: body, expected: [200])
    }

    /// Disarms all faults.
    ///
    /// `DELETE faults`
    public func faultsClear() async throws {
        try await send("DELETE", "faults", expected: [204])
    }

    /// The scenarios there are, and those that are active.
    ///
    /// `GET scenarios`
    public func scenariosList(rules: Bool? = nil) async throws -> Scenarios {
        try await send("GET", "scenarios", query: ["rules": rules], expected: [200])
    }

    /// Replaces the active scenarios; each starts anew.
    ///
    /// `PUT scenarios`
    @discardableResult
    public func scenariosSet(_ body: ScenarioOrder) async throws -> Scenarios {
        try await send("PUT", "scenarios", body: body, expected: [200])
    }

    /// Replaces the active scenarios; each starts anew.
    ///
    /// `PUT scenarios`
    @discardableResult
    public func scenariosSet(_ body: ScenariosSetBodyMembers) async throws -> Scenarios {
        try await send("PUT", "scenarios", body: body, expected: [200])
    }

    /// Replaces the active scenarios; each starts anew.
    ///
    /// `PUT scenarios`
    @discardableResult
    public func scenariosSet(_ body: JSONValue) async throws -> Scenarios {
        try await send("PUT", "scenarios", body: body, expected: [200])
    }

    /// Ends all scenarios.
    ///
    /// `DELETE scenarios`
    public func scenariosClear() async throws {
        try await send("DELETE", "scenarios", expected: [204])
    }

    /// What can happen to the vendors' states.
    ///
    /// `GET actions`
    public func actionsList() async throws -> Actions {
        try await send("GET", "actions", expected: [200])
    }

    /// Lets something happen to a vendor's state.
    ///
    /// `POST state/{vendor}/{action}`
    @discardableResult
    public func stateAct(vendor: String, action: String, _ body: [String: JSONValue]? = nil) async throws -> JSONValue {
        try await send("POST", "state/\(part(vendor))/\(part(action))", body: body, expected: [200])
    }

    /// The sandboxes in memory, by name.
    ///
    /// `GET sandboxes`
    public func sandboxesList(replicas: SandboxesListReplicas? = nil) async throws -> Sandboxes {
        try await send("GET", "sandboxes", query: ["replicas": replicas?.rawValue], expected: [200])
    }

    /// Sets how long a sandbox may lie unused before it goes; makes the sandbox if there is none.
    ///
    /// `PUT sandboxes/{name}`
    @discardableResult
    public func sandboxesSet(name: String, _ body: SandboxesSetBody) async throws -> Sandbox {
        try await send("PUT", "sandboxes/\(part(name))", body: body, expected: [200])
    }

    /// Forgets a sandbox with all it holds; the standard one is reset instead.
    ///
    /// `DELETE sandboxes/{name}`
    public func sandboxesDelete(name: String) async throws {
        try await send("DELETE", "sandboxes/\(part(name))", expected: [204])
    }

    /// Makes the sandbox as it was when it came into being.
    ///
    /// `POST reset`
    public func reset() async throws {
        try await send("POST", "reset", expected: [204])
    }

    /// What the vendor remembers in the sandbox: users, addresses and the like, without passwords and keys.
    ///
    /// `GET state/{vendor}`
    public func stateGet(vendor: String) async throws -> [String: JSONValue] {
        try await send("GET", "state/\(part(vendor))", expected: [200])
    }

    /// Replaces what the vendor remembers in the sandbox; records that stay keep the secrets that are left out.
    ///
    /// `PUT state/{vendor}`
    @discardableResult
    public func stateSet(vendor: String, _ body: [String: JSONValue]) async throws -> [String: JSONValue] {
        try await send("PUT", "state/\(part(vendor))", body: body, expected: [200])
    }

    /// The keys that the vendors' issuers publish, and what else is signed with.
    ///
    /// `GET keys`
    public func keysList() async throws -> Keys {
        try await send("GET", "keys", expected: [200])
    }

    /// Rotates or breaks the keys of an issuer.
    ///
    /// `POST keys/{vendor}/{issuer}/{drill}`
    @discardableResult
    public func keysDrill(vendor: String, issuer: String, drill: KeyDrill) async throws -> Issuer {
        try await send("POST", "keys/\(part(vendor))/\(part(issuer))/\(part(drill.rawValue))", expected: [200])
    }
}
