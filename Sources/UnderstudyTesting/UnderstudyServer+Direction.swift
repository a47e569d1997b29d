public import JSON

// How a test controls the server: tokens, time, settings, scenarios, faults and actions.

extension UnderstudyServer {
    /// Mints a token.
    ///
    /// - Parameters:
    ///   - kind: Vendor and kind, such as `shop/login`.
    ///   - order: The token's contents: members of the kind, `claims` and `header` to set freely, and a `defect` that
    ///     makes it invalid in one named way. `GET tokens` lists them.
    public func mint(_ kind: String, _ order: JSONObject = [:]) async throws(UnderstudyRefusal) -> String {
        let minted = try await control(.post, "tokens/" + kind, .object(order))
        guard let token = minted["token"]?.string else {
            throw UnderstudyRefusal("the answer has no token: \(minted.text)")
        }
        return token
    }

    /// Freezes the clock at a time in seconds since 1970-01-01T00:00:00Z.
    public func freezeClock(at unixSeconds: Int) async throws(UnderstudyRefusal) {
        try await control(.put, "clock", ["now": JSON(unixSeconds), "freeze": true])
    }

    /// Advances the clock; tokens issued earlier age by that duration.
    public func advanceClock(by duration: Duration) async throws(UnderstudyRefusal) {
        try await control(.put, "clock", ["advance": .string(Self.text(of: duration))])
    }

    /// The duration in milliseconds, the unit of control calls; one that exceeds their limit still exceeds it.
    static func text(of duration: Duration) -> String {
        let milliseconds = (duration / .milliseconds(1)).rounded(.awayFromZero)
        return "\(Int(exactly: milliseconds) ?? (milliseconds < 0 ? .min + 1 : .max))ms"
    }

    /// Sets a vendor's switch, such as `shop.device-check` to `off`.
    public func setSwitch(_ name: String, to value: String) async throws(UnderstudyRefusal) {
        try await control(.put, "settings", ["switches": .object(JSONObject([(name, .string(value))]))])
    }

    /// Makes ids and times repeatable.
    public func setSeed(_ seed: Int) async throws(UnderstudyRefusal) {
        try await control(.put, "settings", ["seed": JSON(seed)])
    }

    /// Replaces the active scenarios; the first has precedence.
    public func activate(_ scenarios: String...) async throws(UnderstudyRefusal) {
        try await control(.put, "scenarios", ["scenarios": .array(scenarios.map(JSON.string))])
    }

    /// Replaces the armed faults, such as `["route": "addressbook.list", "call": 3, "fail": "token-expired"]` or
    /// `["vendor": "shop", "every": 2, "fault": ["delay": "2s"]]`.
    public func arm(_ faults: JSON...) async throws(UnderstudyRefusal) {
        try await control(.put, "faults", ["faults": .array(faults)])
    }

    /// Performs an action on a vendor's state that no request causes, such as `shop/remove-customer`.
    @discardableResult
    public func act(_ action: String, _ members: JSONObject = [:]) async throws(UnderstudyRefusal) -> JSON {
        try await control(.post, "state/" + action, .object(members))
    }

    /// Restores the sandbox's initial state.
    public func reset() async throws(UnderstudyRefusal) { try await control(.post, "reset") }
}
