public import JSON
public import Tokens

/// Rules by which a vendor's client judges a token before it sends it: no server, no key, no state.
public struct TokenChecker: Sendable {
    /// The name, for `token verify --as NAME`.
    public let name: String
    /// Who judges so, in a line.
    public let about: String
    /// How far before `exp` a client takes a token for nearly over, unless somebody says otherwise; `nil` for clients that
    /// make no such difference.
    public let standardMargin: Duration?
    let check: @Sendable (CompactToken, Moment, Duration) -> CheckerVerdict

    /// A checker.
    ///
    /// - Parameter check: judges a token at a moment; the duration is how far before `exp` it is nearly over.
    public init(
        name: String, about: String, standardMargin: Duration? = nil,
        check: @escaping @Sendable (CompactToken, Moment, Duration) -> CheckerVerdict
    ) {
        self.name = name
        self.about = about
        self.standardMargin = standardMargin
        self.check = check
    }

    /// Judges a token.
    ///
    /// - Parameter margin: how far before `exp` it is nearly over; `nil` for the client's own.
    public func verdict(on token: CompactToken, at moment: Moment, margin: Duration? = nil) -> CheckerVerdict {
        check(token, moment, margin ?? standardMargin ?? .zero)
    }
}

/// What a client would do with a token.
public struct CheckerVerdict: Sendable {
    /// Whether it would send it.
    public let isUsable: Bool
    /// The result in the client's own terms, an object.
    public let result: JSONObject
    /// Every check.
    public let findings: [Finding]

    /// A verdict of these parts.
    public init(isUsable: Bool, result: JSONObject, findings: [Finding]) {
        self.isUsable = isUsable
        self.result = result
        self.findings = findings
    }

    /// The verdict of the client of that name, for programs.
    public func json(of name: String) -> JSON {
        [
            "client": .string(name), "usable": .bool(isUsable), "result": .object(result),
            "findings": .array(findings.map(\.json)),
        ]
    }
}
