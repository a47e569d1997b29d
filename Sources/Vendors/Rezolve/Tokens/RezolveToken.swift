import Emulation
import JSON
import Synchronization
import Tokens

/// A token as Rezolve reads it; its members are what it says, whether or not it deserves trust.
final class RezolveToken: Sendable {
    /// What a token is for. `rezolve_entity_id` alone decides it, since a sample app forgets the header `auth` (ours).
    enum Kind: String, Sendable {
        case registration
        case login
    }

    /// The entity id of a customer who is yet to be registered. Source: seed, JWT Payload.
    static let noEntity = ":NONE:"

    let compact: CompactToken
    let kind: Kind
    let entityID: String
    let partnerEntityID: String
    let deviceID: String
    /// Whether there is an `nbf`, which few tokens have.
    let hasBeginning: Bool
    // One place each, since nearly every token meets one key and one choice of switches only.
    /// Whether row 5 holds by that key.
    private let verification = Mutex<(key: RezolveAuthKey, holds: Bool)?>(nil)
    /// Whether row 6 holds by those rules.
    private let members = Mutex<(rules: RezolveMemberRules, hold: Bool)?>(nil)

    convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        entityID = claims?["rezolve_entity_id"]?.string ?? ""
        partnerEntityID = claims?["partner_entity_id"].flatMap(Self.partnerEntityID) ?? ""
        deviceID = claims?["device_id"]?.string ?? ""
        kind = entityID.hasSameBytes(as: Self.noEntity) ? .registration : .login
        hasBeginning = claims?["nbf"] != nil
    }

    /// Whether row 5 holds, which depends on nothing but the token and the key, and so is judged once.
    func isVerified(by key: RezolveAuthKey) -> Bool {
        if let known = verification.withLock({ $0?.key === key ? $0?.holds : nil }) { return known }
        let holds = compact.isGenuine(by: key.verification, algorithm: .hs512, type: "JWT")
        verification.withLock { $0 = (key, holds) }
        return holds
    }

    /// Whether row 6 holds, which depends on nothing but the token and these rules, and so is judged once.
    func hasMembers(by rules: RezolveMemberRules) -> Bool {
        if let known = members.withLock({ $0?.rules == rules ? $0?.hold : nil }) { return known }
        let hold = rules.hold(on: self)
        members.withLock { $0 = (rules, hold) }
        return hold
    }

    /// A JSON integer is turned into its decimal string (ours): the vendor calls the id "numerical, or a string". Its
    /// digits count, so one beyond 2^53 names its user too.
    private static func partnerEntityID(_ claim: JSON) -> String? {
        claim.string ?? claim.number.flatMap { $0.isInteger ? $0.literal : nil }
    }
}

/// Rows 5 to 8 of Rezolve's checks: all that a token and its partner's key decide alone.
///
/// Source: algorithm, members and signature are documented (seed, "Create the Registration JWT" and "Logging in a
/// User"); the order is ours, and so is that a malformed token counts as one with a wrong signature.
struct RezolveTokenRules {
    let switches: RezolveSwitches
    let moment: Moment

    /// Row 5: the token can be verified.
    ///
    /// - Parameter accounts: whose other keys may explain a signature that does not match.
    func judgeSignature(
        of token: RezolveToken, by partner: RezolvePartner?, of accounts: RezolveAccounts,
        _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        findings.add(RezolveVerification(of: token, by: partner?.authKey, among: accounts.partners), orFail: failure)
    }

    /// Row 6: every member that this kind of token needs is there and of the right type.
    func judgeMembers(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        findings.add(RezolveMembers(of: token, by: RezolveMemberRules(switches)), orFail: failure)
    }

    /// Rows 7 and 8: the lifetime is not too long and not over, and has begun.
    func judgeExpiry(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        let advice = token.compact.lifetime(
            atMost: Double(switches.maximumLifetimeSeconds ?? 1800), from: .moment(moment.unixSeconds),
            source: "JWT page: 30 minutes or less; switch max-lifetime-seconds")
        if switches.maximumLifetimeSeconds != nil {
            let remark = token.compact.date("exp").millisecondsRemark(on: "exp")
            findings.add(remark.map(advice.because) ?? advice, orFail: .tokenLifetimeTooLong)
        } else if advice.outcome == .failed {
            findings.note(advice.noted)
        }
        findings.add(
            token.compact.expiry(
                at: moment.unixSeconds, leeway: Double(switches.leewaySeconds),
                source: "JWT page, HTTP Error Responses, 401"),
            orFail: failure)
        judgeBeginning(of: token, &findings, orFail: .maskedNotYetValid)
        noteMilliseconds(in: token, &findings)
    }

    /// The end of row 8: `nbf` has come, where there is one and switch `nbf` wants it. The leeway counts here too (ours).
    func judgeBeginning(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        guard token.hasBeginning else { return }
        let finding = token.compact.notBefore(
            at: moment.unixSeconds, TimeRules(leeway: Double(switches.leewaySeconds)),
            source: "ours, after RFC 7519 section 4.1.5; switch nbf")
        if switches.notBefore == .enforce {
            findings.add(finding, orFail: failure)
        } else {
            findings.note(finding.noted)
        }
    }

    /// Remarks on times that look like milliseconds, also where the call passes.
    func noteMilliseconds(in token: RezolveToken, _ findings: inout Findings<RezolveFailure>) {
        if let remark = token.compact.milliseconds(in: "exp") { findings.note(remark) }
        if token.hasBeginning, let remark = token.compact.milliseconds(in: "nbf") { findings.note(remark) }
    }
}
