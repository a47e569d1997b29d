import Emulation
import JSON
import Tokens

/// A check of a row, the failure that it leads to, and the value that the failure's body names.
struct IMSCheck: Sendable {
    let finding: Finding
    let failure: IMSFailure
    let field: String
}

/// Row 2 of IMS's checks: the token is a compact JWT that demands nothing unknown.
final class IMSForm: CheckGroup {
    private let token: IMSToken

    init(of token: IMSToken) {
        self.token = token
    }

    var holds: Bool { token.compact.hasSoundStructure && token.compact.header?["crit"] == nil }
    var findings: [Finding] { token.compact.structure + [token.compact.critical()] }
    var byteCount: Int { token.byteCount }
}

/// Row 4 of IMS's checks: what finds the key is there and of its type.
final class IMSLocators: IMSCheckGroup {
    private let token: IMSToken

    init(of token: IMSToken) {
        self.token = token
    }

    var holds: Bool {
        token.issuer != nil && (token.keyID != nil || token.compact.header.map { $0["kid"] == nil } ?? false)
    }

    var checks: [IMSCheck] {
        [
            token.text("iss"),
            IMSCheck(
                finding: token.compact.headerMember(
                    "kid", is: .string, required: false, source: "seed, JWT Claims: kid"),
                failure: .claimInvalid, field: "kid"),
        ]
    }

    var byteCount: Int { token.byteCount }
}

/// Row 8 of IMS's checks, but for the one that a switch has a say in: the claims are there and of their types.
final class IMSClaims: IMSCheckGroup {
    private let token: IMSToken

    init(of token: IMSToken) {
        self.token = token
    }

    var holds: Bool {
        guard token.subject != nil, let claims = token.compact.claims, token.holdsMoment("exp") else { return false }
        return token.beginning == nil || ["nbf", "iat"].allSatisfy { claims[$0] == nil || token.holdsMoment($0) }
    }

    var checks: [IMSCheck] { [token.text("sub"), token.expiry] + token.beginnings }
    var byteCount: Int { token.byteCount }
}

/// Checks of one row that lead to different failures.
protocol IMSCheckGroup: CheckGroup {
    var checks: [IMSCheck] { get }
}

extension IMSCheckGroup {
    var findings: [Finding] { checks.map(\.finding) }
}

extension Findings<IMSFailure> {
    /// Records the checks of a row; while they hold, they are not even made.
    mutating func add(_ group: some IMSCheckGroup) {
        guard !group.holds else { return add(group, orFail: .claimInvalid) }
        for check in group.checks {
            add(check.finding, orFail: check.failure, with: ["field": .string(check.field)])
        }
    }
}

// MARK: - Single checks

extension IMSToken {
    /// The token is kept as it came and once more decoded.
    fileprivate var byteCount: Int { 512 + 2 * compact.bytes.count }

    /// `null` counts as absent where a claim is required. Source: ours.
    private static func isAbsent(_ value: JSON?) -> Bool { value?.isNull ?? true }

    fileprivate func text(_ name: String) -> IMSCheck {
        IMSCheck(
            finding: compact.claim(name, is: .nonEmptyString, source: "seed, JWT Claims: \(name)"),
            failure: Self.isAbsent(compact.claims?[name]) ? .claimMissing : .claimInvalid, field: name)
    }

    fileprivate var expiry: IMSCheck {
        IMSCheck(
            finding: moment("exp"),
            failure: Self.isAbsent(compact.claims?["exp"]) ? .claimMissing : .claimInvalid, field: "exp")
    }

    /// `nbf` and `iat`, where they are: whether one of them must be, a switch decides.
    fileprivate var beginnings: [IMSCheck] {
        guard let claims = compact.claims, !(Self.isAbsent(claims["nbf"]) && Self.isAbsent(claims["iat"])) else {
            return []
        }
        return ["nbf", "iat"].filter { claims[$0] != nil }.map {
            IMSCheck(finding: moment($0), failure: .claimInvalid, field: $0)
        }
    }

    /// Whether a claim holds Unix seconds. Source: that it is a number is documented (seed); the bounds are ours.
    private func moment(_ name: String) -> Finding {
        let source = name == "exp" ? "seed, JWT Claims: exp" : "seed, JWT Claims: nbf, iat"
        guard compact.date(name).size == .negative else { return compact.claim(name, is: .number, source: source) }
        return Finding(
            "claim-\(name)-present", .failed, expected: .types(.number), found: compact.claims?[name].map(Fact.json),
            note: "A moment in Unix seconds is not negative.", source: source)
    }

    /// Whether a claim holds Unix seconds, which is quicker told than why not.
    fileprivate func holdsMoment(_ name: String) -> Bool {
        let date = compact.date(name)
        return date.size != .negative && date.seconds() != nil
    }
}
