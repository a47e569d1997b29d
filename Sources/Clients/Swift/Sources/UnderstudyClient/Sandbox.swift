import Foundation

/// A test's own environment in a server: users, clock, settings, scenarios, faults, journal.
///
/// Give the app ``baseURL``; where it takes only a host, have it send ``headers``.
public struct Sandbox: Sendable {
    /// Its name.
    public let name: String
    /// The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path.
    public let baseURL: URL
    let server: Transport

    static let field = "X-Understudy-Sandbox"

    /// The header that selects the sandbox where the path cannot.
    public var headers: [String: String] { [Self.field: name] }

    /// The time that it goes by.
    public var clock: Clock { Clock(sandbox: self) }

    /// Its calls.
    public var journal: Journal { Journal(sandbox: self) }

    /// Makes any call of the control API to this sandbox: `control("PUT", "clock", ["advance": "31m"])`.
    ///
    /// - Parameter path: The path below `/_understudy`, with its query.
    /// - Returns: the answer's content; `null` when it has none. The 409 of `journal/verify` is no refusal.
    /// - Throws: a ``Refusal`` with the server's message, or ``Unreachable``.
    @discardableResult
    public func control(_ method: String, _ path: String, _ content: JSONValue? = nil) async throws -> JSONValue {
        try await server.send(method, path, content, to: name)
    }

    /// Restores the sandbox's initial state.
    public func reset() async throws { try await control("POST", "reset") }

    /// Removes the sandbox with all it holds.
    public func delete() async throws {
        do {
            // Not to the sandbox: a call that selects it would create it again.
            try await server.send("DELETE", "sandboxes/\(name)")
        } catch let refusal as Refusal where refusal.status == 404 {
            // Nobody has used it.
        }
    }

    // MARK: - What happens behind the app: tokens, settings, scenarios, faults, actions, state

    /// Mints a token: `mint("rezolve/login", ["expires_in": 900])`, `mint("ims/user", ["defect": "expired"])`.
    ///
    /// - Parameter order: Members of the kind, `claims` and `header` to set freely, and a `defect` that makes it invalid in
    ///   one named way. `control("GET", "tokens")` lists them.
    public func mint(_ kind: String, _ order: [String: JSONValue] = [:]) async throws -> String {
        let kind = try pair(kind, "a vendor and a kind of token, such as rezolve/login")
        return try await control("POST", "tokens/\(kind)", .object(order)).member("token", \.string)
    }

    /// What each vendor, or that one, would answer to a request with the token, and why.
    public func explain(
        _ token: String, vendor: String? = nil, request: [String: JSONValue]? = nil
    ) async throws -> [JSONValue] {
        var order: [String: JSONValue] = ["token": .string(token)]
        order["vendor"] = vendor.map(JSONValue.string)
        order["request"] = request.map(JSONValue.object)
        return try await control("POST", "tokens/explain", .object(order)).member("verdicts", \.array)
    }

    /// Has all vendors, or one, behave as `documented` or as `observed`.
    public func setProfile(_ profile: String, of vendor: String? = nil) async throws {
        let profile = JSONValue.string(profile)
        try await control("PUT", "settings", ["profile": vendor.map { .object([$0: profile]) } ?? profile])
    }

    /// Sets a vendor's switch, such as `rezolve.device-check` to `off`; `nil` leaves it to the profile.
    public func setSwitch(_ name: String, to value: String?) async throws {
        try await control("PUT", "settings", ["switches": [name: value.map(JSONValue.string) ?? .null]])
    }

    /// Makes ids and times repeatable; `nil` ends that.
    public func setSeed(_ seed: Int?) async throws {
        try await control("PUT", "settings", ["seed": seed.map(JSONValue.integer) ?? .null])
    }

    /// Replaces the active scenarios; the first has precedence. Without any, all are ended.
    public func activate(_ scenarios: String...) async throws {
        try await control("PUT", "scenarios", ["scenarios": .array(scenarios.map(JSONValue.string))])
    }

    /// Replaces the armed faults. Without any, all are disarmed.
    ///
    /// `arm(["route": "addressbook.list", "call": 3, "fail": "token-expired"])` hits the third call once,
    /// `arm(["vendor": "rezolve", "every": 2, "fault": ["delay": "2s"]])` every second one.
    public func arm(_ faults: JSONValue...) async throws {
        try await control("PUT", "faults", ["faults": .array(faults)])
    }

    /// Has something happen behind the app's back: `act("rezolve/remove-customer", ["entity": "entity123"])`.
    @discardableResult
    public func act(_ action: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
        let action = try pair(action, "a vendor and an action, such as rezolve/remove-customer")
        return try await control("POST", "state/\(action)", .object(members))
    }

    /// What the vendor remembers here: users and what belongs to them, without secrets.
    public func state(_ vendor: String) async throws -> JSONValue {
        try await control("GET", "state/\(Transport.part(vendor))")
    }

    /// Replaces what the vendor remembers here.
    @discardableResult
    public func setState(_ vendor: String, to state: JSONValue) async throws -> JSONValue {
        try await control("PUT", "state/\(Transport.part(vendor))", state)
    }

    /// Two names as the parts of a path.
    private func pair(_ text: String, _ form: String) throws -> String {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw InvalidArgument(message: "“\(text)” is not \(form)")
        }
        return parts.map { Transport.part(String($0)) }.joined(separator: "/")
    }

    /// Expects calls, or throws an ``UnmetExpectation`` that lists the nearest calls and what each of them missed.
    ///
    /// - Parameters:
    ///   - count: How many calls; at least one by default.
    ///   - condition: What the calls match: `vendor`, `route`, `status`, `failure`, and `method`, `path`, `query`,
    ///     `header`, `body`, `claims` and `reason` with their expected values.
    ///     `["route": "rua.login", "body": ["username": "ada"]]` matches sign-ins of Ada.
    ///   - duration: How long to wait for the calls, at most a minute; by default not at all.
    /// - Returns: the numbers of the calls in the journal.
    @discardableResult
    public func expectCalls(
        _ count: CallCount = .atLeast(1), where condition: [String: JSONValue], within duration: Duration = .zero
    ) async throws -> [Int] {
        var order = count.order
        order["where"] = .object(condition)
        return try await verify(order, within: duration)
    }

    /// Expects calls in this order, or throws an ``UnmetExpectation`` that says which step is missing.
    ///
    /// - Parameters:
    ///   - steps: The conditions of each, as of ``expectCalls(_:where:within:)``; from the second on also `within`,
    ///     `between` and `token`, such as `["route": "rua.ping", "within": "5s"]`.
    ///   - none: What no call after the last step matches.
    ///   - duration: How long to wait for the calls, at most a minute; by default not at all.
    /// - Returns: the numbers of the calls in the journal.
    @discardableResult
    public func expectSequence(
        _ steps: [String: JSONValue]..., noneAfter none: [String: JSONValue]? = nil, within duration: Duration = .zero
    ) async throws -> [Int] {
        var order: [String: JSONValue] = ["sequence": .array(steps.map(JSONValue.object))]
        order["none_after"] = none.map(JSONValue.object)
        return try await verify(order, within: duration)
    }

    private func verify(_ order: [String: JSONValue], within duration: Duration) async throws -> [Int] {
        let wait = min(max(duration, .zero), .seconds(60)).wire
        let verdict = try await control("POST", "journal/verify?wait=\(wait)", .object(order))
        guard verdict["verified"] == true else { throw UnmetExpectation(verdict: verdict) }
        return try verdict.member("entries", \.array).compactMap(\.int)
    }
}

/// How many calls are expected.
public struct CallCount: Sendable, Hashable {
    fileprivate let order: [String: JSONValue]

    /// That many or more.
    public static func atLeast(_ count: Int) -> Self { Self(order: ["at_least": .integer(count)]) }
    /// That many or fewer.
    public static func atMost(_ count: Int) -> Self { Self(order: ["at_most": .integer(count)]) }
    /// Exactly that many.
    public static func exactly(_ count: Int) -> Self { Self(order: ["exactly": .integer(count)]) }
    /// Exactly that many that were accepted with a field that nobody reads; `unread(0)` finds misspelled names.
    public static func unread(_ count: Int) -> Self { Self(order: ["unread": .integer(count)]) }
    /// None.
    public static let never = exactly(0)
}

extension Sandbox {
    /// The time that a sandbox goes by: lifetimes of tokens, minting and the journal read it.
    ///
    /// Every change returns what ``read()`` would return after it.
    public struct Clock: Sendable {
        let sandbox: Sandbox

        /// What it shows: `now`, `unix`, `frozen`, `machine_time`.
        public func read() async throws -> JSONValue { try await sandbox.control("GET", "clock") }

        /// The moment that it shows.
        public var now: Date {
            get async throws { Date(timeIntervalSince1970: try await read().member("unix", \.double)) }
        }

        /// Moves it; tokens issued earlier age by that duration.
        @discardableResult
        public func advance(by duration: Duration) async throws -> JSONValue {
            try await sandbox.control("PUT", "clock", ["advance": .string(duration.wire)])
        }

        /// Sets it; it runs on from there.
        @discardableResult
        public func set(to moment: Date) async throws -> JSONValue {
            try await sandbox.control("PUT", "clock", ["now": .number(moment.timeIntervalSince1970)])
        }

        /// Freezes it at the time that it shows.
        @discardableResult
        public func freeze() async throws -> JSONValue { try await sandbox.control("PUT", "clock", ["freeze": true]) }

        /// Freezes it at that time.
        @discardableResult
        public func freeze(at moment: Date) async throws -> JSONValue {
            try await sandbox.control("PUT", "clock", ["now": .number(moment.timeIntervalSince1970), "freeze": true])
        }

        /// Lets a frozen clock run on from where it stands.
        @discardableResult
        public func resume() async throws -> JSONValue { try await sandbox.control("PUT", "clock", ["freeze": false]) }

        /// Returns to the machine's time.
        @discardableResult
        public func useMachineTime() async throws -> JSONValue { try await sandbox.control("DELETE", "clock") }
    }
}

extension Duration {
    /// The duration in milliseconds, the smallest unit of control calls.
    var wire: String {
        let (seconds, attoseconds) = components
        let (milliseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        // Away from zero: what has passed has passed completely. One beyond the server's limit stays beyond it.
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLong ? "\(seconds)s" : "\(product + milliseconds + rest.signum())ms"
    }
}
