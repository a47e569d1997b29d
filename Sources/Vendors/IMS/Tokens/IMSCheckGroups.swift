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

/// Rows 2 to 7 of IMS's checks on a token of which it is known that they hold.
final class IMSAcceptance: CheckGroup {
    private let token: IMSToken
    private let requiresType: Bool
    private let signature: Finding

    init(of token: IMSToken, requiresType: Bool, signature: Finding) {
        (self.token, self.requiresType, self.signature) = (token, requiresType, signature)
    }

    var holds: Bool { true }

    var findings: [Finding] {
        var findings = IMSForm(of: token).findings + [token.algorithm, token.type(required: requiresType)]
        if let references = token.compact.keyReferences() { findings.append(references) }
        return findings + IMSLocators(of: token).findings
            + [token.registration(isKnown: true), token.keyFound, signature]
    }

    var byteCount: Int { token.byteCount }
}

/// The check of row 8 that a switch has a say in, where the switch is not asked: the token's life has a beginning.
final class IMSBeginning: CheckGroup {
    private let token: IMSToken

    init(of token: IMSToken) {
        self.token = token
    }

    var holds: Bool { token.beginning != nil }
    var findings: [Finding] { [token.beginningPresent(isAccepted: false)] }
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

    var holds: Bool { token.hasClaims }
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
    /// Row 3.
    var algorithm: Finding { compact.algorithm(is: .rs256, source: "seed, JWT Claims: alg") }

    /// Row 3.
    func type(required: Bool) -> Finding {
        compact.type(
            is: "JWT", required: required,
            source: "seed, JWT Claims: typ; case ours, and that an issuer may do without")
    }

    /// Row 5.
    func registration(isKnown: Bool) -> Finding {
        Finding(
            "issuer-registered", issuer == nil ? .notJudged : isKnown ? .passed : .failed,
            expected: .text("the iss of a registered issuer, byte for byte"), found: issuer.map(Fact.text),
            source: "seed, JWT Claims: iss")
    }

    /// Row 6, where there is a key for the token.
    var keyFound: Finding { keyFinding(.passed, "a key of the issuer", keyID.map(Fact.text) ?? .absent) }

    /// Row 6.
    func keyFinding(
        _ outcome: Finding.Outcome, _ expected: String, _ found: Fact?, note: String? = nil
    ) -> Finding {
        Finding(
            "key", outcome, expected: .text(expected), found: found, note: note,
            source: "seed, JWT Claims: kid; details ours")
    }

    /// The part of row 8 that a switch has a say in.
    func beginningPresent(isAccepted: Bool) -> Finding {
        Finding(
            "not-before-present",
            compact.claims == nil ? .notJudged : beginning != nil || isAccepted ? .passed : .failed,
            expected: .anyOf(["nbf", "iat"]), found: beginning.map(Fact.text) ?? .absent,
            source: "seed, JWT Claims: either must be present; switch missing-not-before")
    }

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
        let date = compact.date(name)
        guard date.size == .negative, date.isNumber else {
            let finding = compact.claim(name, is: .number, source: source)
            guard finding.outcome == .failed, date.form == .numericString else { return finding }
            return finding.because("\(name) is a text that holds a number; write it without quotes.")
        }
        return Finding(
            "claim-\(name)-present", .failed, expected: .types(.number), found: compact.claims?[name].map(Fact.json),
            note: "A moment in Unix seconds is not negative.", source: source)
    }
}
