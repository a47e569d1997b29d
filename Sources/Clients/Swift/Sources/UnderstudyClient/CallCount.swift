/// How many calls are expected.
public enum CallCount: Sendable, Hashable {
    /// That many or more.
    case atLeast(Int)
    /// That many or fewer.
    case atMost(Int)
    /// Exactly that many.
    case exactly(Int)

    /// None.
    public static let never = CallCount.exactly(0)

    func expectation(of condition: [String: JSONValue]) -> Control.Expectation {
        switch self {
        case .atLeast(let count): Control.Expectation(atLeast: count, where: condition)
        case .atMost(let count): Control.Expectation(atMost: count, where: condition)
        case .exactly(let count): Control.Expectation(exactly: count, where: condition)
        }
    }
}

extension Sandbox {
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
        let wait = min(max(duration, .zero), .seconds(60))
        let verdict = try await control.journalVerify(count.expectation(of: condition), wait: wait.wire)
        if verdict["verified"] == true { return try verdict.decoded(as: Control.Fulfilled.self).entries }
        throw UnmetExpectation(verdict: try verdict.decoded(as: Control.Unfulfilled.self))
    }
}
