internal import JSON

/// How a vendor judged a token, as far as minting another one like it needs.
package struct TokenOutcome: Sendable, Hashable {
    /// The kind that the vendor recognizes; `nil` when it cannot tell.
    package let kind: String?
    /// The account whose key matches, in words; `nil` when none does.
    package let account: String?
    /// The failure's name; `nil` when no check that could be made failed.
    package let failure: String?
    /// The names of the failed checks.
    package let failed: [String]

    /// The outcome of an explanation.
    package init(_ explanation: TokenExplanation) {
        (kind, account, failure) = (explanation.kind, explanation.account, explanation.failure)
        failed = explanation.findings.filter { $0.outcome == .failed }.map(\.check)
    }

    /// Whether both refuse the token for the same reasons, or both do not.
    package func agrees(with other: TokenOutcome) -> Bool { failure == other.failure && failed == other.failed }

    /// The outcome for a file.
    var json: JSONObject {
        [
            "kind": JSON(kind), "account": JSON(account), "failure": JSON(failure),
            "failed": .array(failed.map(JSON.string)),
        ]
    }

    /// Reads ``json``; what is missing counts as `nil`.
    init(_ json: JSON) {
        (kind, account, failure) = (json["kind"]?.string, json["account"]?.string, json["failure"]?.string)
        failed = json["failed"]?.array?.compactMap(\.string) ?? []
    }
}
