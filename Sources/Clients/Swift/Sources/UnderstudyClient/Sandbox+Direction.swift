// How a test directs what happens behind the app: tokens, settings, scenarios, faults, actions, state.

extension Sandbox {
    /// Mints a token: `mint("rezolve/login", ["expires_in": 900])`, `mint("ims/user", ["defect": "expired"])`.
    ///
    /// - Parameter order: Members of the kind, `claims` and `header` to set freely, and a `defect` that makes it invalid in
    ///   one named way. `control.tokensKinds()` lists them.
    public func mint(_ kind: String, _ order: [String: JSONValue] = [:]) async throws -> String {
        let (vendor, kind) = try pair(kind, "a vendor and a kind of token, such as rezolve/login")
        return try await control.tokensMint(vendor: vendor, kind: kind, order).token
    }

    /// What each vendor, or that one, would answer to a request with the token, and why.
    public func explain(
        _ token: String, vendor: String? = nil, request: [String: JSONValue]? = nil
    ) async throws -> [Control.Verdict] {
        try await control.tokensExplain(.init(token: token, vendor: vendor, request: request)).verdicts
    }

    /// Rotates or breaks the keys that an issuer publishes: `drill("ims/rotating", .replace)`.
    @discardableResult
    public func drill(_ issuer: String, _ drill: Control.KeyDrill) async throws -> Control.Issuer {
        let (vendor, issuer) = try pair(issuer, "a vendor and an issuer, such as ims/rotating")
        return try await control.keysDrill(vendor: vendor, issuer: issuer, drill: drill)
    }

    /// Has all vendors, or one, behave as documented or as observed.
    public func setProfile(_ profile: Control.Profile, of vendor: String? = nil) async throws {
        let name = JSONValue.string(profile.rawValue)
        try await control.settingsSet(.init(profile: vendor.map { .object([$0: name]) } ?? name))
    }

    /// Sets a vendor's switch, such as `rezolve.device-check` to `off`; `nil` leaves it to the profile.
    public func setSwitch(_ name: String, to value: String?) async throws {
        try await control.settingsSet(.init(switches: [name: value.map(JSONValue.string) ?? .null]))
    }

    /// Makes ids and times repeatable; `nil` ends that.
    public func setSeed(_ seed: Int?) async throws {
        try await control.settingsSet(.init(seed: seed.map(JSONValue.integer) ?? .null))
    }

    /// Replaces the active scenarios; the first has precedence, and none ends them all.
    public func activate(_ scenarios: String...) async throws {
        try await control.scenariosSet(.init(scenarios: scenarios.map(JSONValue.string)))
    }

    /// Replaces the armed faults; none disarms them all.
    ///
    /// `arm(["route": "addressbook.list", "call": 3, "fail": "token-expired"])` hits the third call once,
    /// `arm(["vendor": "rezolve", "every": 2, "fault": ["delay": "2s"]])` each second one.
    public func arm(_ faults: JSONValue...) async throws {
        try await control.faultsSet(["faults": .array(faults)])
    }

    /// Replaces the armed faults by ones whose members the compiler knows.
    public func arm(_ faults: [Control.FaultOrder]) async throws {
        try await control.faultsSet(.init(faults: faults))
    }

    /// Has something happen behind the app's back: `act("rezolve/remove-customer", ["entity": "entity123"])`.
    @discardableResult
    public func act(_ action: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
        let (vendor, action) = try pair(action, "a vendor and an action, such as rezolve/remove-customer")
        return try await control.stateAct(vendor: vendor, action: action, members)
    }

    /// What the vendor remembers here: users and what belongs to them, without secrets.
    public func state(_ vendor: String) async throws -> [String: JSONValue] {
        try await control.stateGet(vendor: vendor)
    }

    /// Replaces what the vendor remembers here.
    @discardableResult
    public func setState(_ vendor: String, to state: [String: JSONValue]) async throws -> [String: JSONValue] {
        try await control.stateSet(vendor: vendor, state)
    }

    private func pair(_ text: String, _ form: String) throws -> (String, String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw InvalidArgument(message: "“\(text)” is not \(form)")
        }
        return (String(parts[0]), String(parts[1]))
    }
}
