public import JSON

/// How many calls are expected.
public enum CallCount: Sendable, Hashable {
    /// That many or more.
    case atLeast(Int)
    /// That many or fewer.
    case atMost(Int)
    /// Exactly that many.
    case exactly(Int)
    /// Exactly that many that were accepted with a field that nobody reads; `unread(0)` finds misspelled names.
    case unread(Int)

    /// None.
    public static let never = CallCount.exactly(0)

    fileprivate var member: (String, JSON) {
        switch self {
        case .atLeast(let count): ("at_least", JSON(count))
        case .atMost(let count): ("at_most", JSON(count))
        case .exactly(let count): ("exactly", JSON(count))
        case .unread(let count): ("unread", JSON(count))
        }
    }
}

extension UnderstudyServer {
    /// The test's exchanges so far, oldest first, as in the journal: each with its findings and its reason.
    public func journal() async throws(UnderstudyRefusal) -> [JSON] {
        try await control(.get, "journal")["entries"]?.array ?? []
    }

    /// Expects calls. An unmet expectation becomes an issue of the running test, which lists the nearest calls and what
    /// each of them missed.
    ///
    /// - Parameters:
    ///   - count: How many calls; at least one by default.
    ///   - condition: What the calls match: `vendor`, `route`, `status`, `failure`, and `method`, `path`, `query`,
    ///     `header`, `body`, `claims` and `reason` with their expected values.
    ///     `["route": "rua.login", "body": ["username": "ada"]]` matches sign-ins of Ada.
    ///   - duration: How long to wait for the calls, at most a minute; by default not at all.
    /// - Returns: whether the expectation was met.
    @discardableResult
    public func expectCalls(
        _ count: CallCount = .atLeast(1), where condition: JSONObject = [:], within duration: Duration = .zero,
        fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) async -> Bool {
        let wait = min(max(duration, .zero), .seconds(60))
        let call = "journal/verify?wait=\(Self.text(of: wait))"
        let (status, answer) = await ask(
            .post, call, .object(JSONObject([count.member, ("where", .object(condition))])))
        if status == 200 { return true }
        issues.record(
            Self.complaint(answer), fileID: fileID, filePath: filePath, line: line, column: column)
        return false
    }

    /// What was expected and found, then the nearest calls and what each missed.
    private static func complaint(_ answer: JSON) -> String {
        guard let message = answer["message"]?.string else {
            return answer["error"]?["message"]?.string ?? answer.text
        }
        let nearest = answer["nearest"]?.array ?? []
        var lines = [message]
        for call in nearest {
            lines.append("  \(call["id"]?.text ?? "?"): \(call["summary"]?.string ?? "")")
            for miss in call["missed"]?.array ?? [] {
                let found = miss["found"].map { $0.string ?? $0.text } ?? "nothing"
                let expected = miss["expected"].map { $0.string ?? $0.text } ?? ""
                lines.append("      \(miss["condition"]?.string ?? ""): expected \(expected), found \(found)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
