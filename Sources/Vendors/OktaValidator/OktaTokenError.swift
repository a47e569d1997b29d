public import JSON
public import Tokens

/// Why a token is not valid: the first failure, and what all other checks found.
public struct OktaTokenError: Error, Sendable, CustomStringConvertible {
    /// The first failure in the order of the checks.
    public let failure: OktaTokenFailure
    /// What was found and what was expected.
    public let detail: String
    /// The shipped library's name; see ``OktaTokenFailure/shippedName``. `nil` also where it stops the app.
    public let shippedName: String?
    /// The value that the shipped library's case carries: the algorithm, or the text that a claim should be.
    public let shippedValue: String?
    /// Every check that applied, also those after the first failure; what could not be judged says so.
    public let findings: [Finding]

    /// Our own name.
    public var name: String { failure.rawValue }
    /// The validator page's name; see ``OktaTokenFailure/documentedName``.
    public var documentedName: String? { failure.documentedName }

    public var description: String { "\(name): \(detail)" }

    public var json: JSON {
        var members = members
        members["findings"] = .array(findings.map(\.json))
        return .object(members)
    }

    var members: JSONObject {
        [
            "valid": false, "error": .string(name), "seed": JSON(documentedName), "shipped": JSON(shippedName),
            "detail": .string(detail),
        ]
    }
}

extension VerifiedToken {
    public var json: JSON { .object(members) }

    var members: JSONObject {
        [
            "valid": true, "header": .object(header), "claims": .object(claims),
            "key": .string(keyOrigin.rawValue),
        ]
    }
}
