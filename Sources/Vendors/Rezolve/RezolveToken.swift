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
    /// With the key that they were made with; one place, since nearly every token meets one key only.
    private let verification = Mutex<(key: RezolveAuthKey, findings: [Finding])?>(nil)

    convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        entityID = claims?["rezolve_entity_id"]?.string ?? ""
        partnerEntityID = claims?["partner_entity_id"].flatMap(Self.partnerEntityID) ?? ""
        deviceID = claims?["device_id"]?.string ?? ""
        kind = entityID == Self.noEntity ? .registration : .login
    }

    /// The findings of row 5, which depend on nothing but the token and the key, and so are made once.
    func verification(by key: RezolveAuthKey?) -> [Finding] {
        guard let key else {
            return form + [Finding("signature", .notJudged, note: "No key is known to judge it by.")]
        }
        if let known = verification.withLock({ $0?.key === key ? $0?.findings : nil }) { return known }
        var findings = form
        findings.append(compact.signature(by: key.verification, algorithm: .hs512, source: "JWT page, Signature"))
        if let weakness = key.verification.strengthFinding(for: .hs512) { findings.append(weakness) }
        verification.withLock { [findings] in $0 = (key, findings) }
        return findings
    }

    private var form: [Finding] {
        var findings = compact.structure
        findings.append(compact.algorithm(is: .hs512, source: "JWT page, JWT Header"))
        findings.append(compact.type(is: "JWT", source: "JWT page, JWT Header; case and absence ours"))
        findings.append(compact.critical())
        if let references = compact.keyReferences() { findings.append(references) }
        return findings
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
    func judgeSignature(
        of token: RezolveToken, by key: RezolveAuthKey?, _ findings: inout Findings<RezolveFailure>,
        orFail failure: RezolveFailure
    ) {
        findings.add(token.verification(by: key), orFail: failure)
    }

    /// Row 6: every member that this kind of token needs is there and of the right type.
    func judgeMembers(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        let compact = token.compact
        findings.add(
            compact.claim("rezolve_entity_id", is: .nonEmptyString, source: "JWT page, JWT Payload"), orFail: failure)
        judgePartnerEntityID(of: token, &findings, orFail: failure)
        judgeExpiryForm(of: compact, &findings, orFail: failure)
        guard token.kind == .login else { return }
        if switches.authHeader == .required {
            findings.add(
                compact.headerMember(
                    "auth", equals: "v2", source: "JWT page, JWT Header of the login JWT; switch auth-header"),
                orFail: failure)
        }
        if switches.deviceCheck == .enforce {
            findings.add(
                compact.claim("device_id", is: .nonEmptyString, source: "JWT page, JWT Payload of the login JWT"),
                orFail: failure)
        }
    }

    private func judgePartnerEntityID(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        // Characters are counted only where bytes do not tell: there are never more of them.
        let bytes = token.partnerEntityID.utf8.count
        let length = bytes <= 255 ? bytes : token.partnerEntityID.count
        let claim = token.compact.claims?["partner_entity_id"]
        findings.add(
            Finding(
                "claim-partner_entity_id-present",
                token.compact.claims == nil ? .notJudged : (1...255).contains(length) ? .passed : .failed,
                expected: .text("a string of 1 to 255 characters, or an integer"),
                found: length > 255 ? .count(length) : claim.map(Fact.json) ?? .absent,
                source: "JWT page, JWT Payload; length ours"),
            orFail: failure)
    }

    private func judgeExpiryForm(
        of compact: CompactToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        switch switches.expiryNumber {
        case .any:
            findings.add(compact.claim("exp", is: .number, source: "JWT page, JWT Payload"), orFail: failure)
            if compact.date("exp").form == .fraction {
                findings.note(
                    Finding(
                        "exp-fraction", .noted, expected: .text("an integer"),
                        found: compact.claims?["exp"].map(Fact.json),
                        note: "RFC 7519 allows a fraction; switch exp-number decides.",
                        source: "JWT page: unix timestamp integer"))
            }
        case .integer:
            findings.add(
                compact.claim("exp", is: .integer, source: "JWT page: unix timestamp integer; switch exp-number"),
                orFail: failure)
        }
    }

    /// Rows 7 and 8: the lifetime is not too long and not over.
    func judgeExpiry(
        of token: RezolveToken, _ findings: inout Findings<RezolveFailure>, orFail failure: RezolveFailure
    ) {
        let advice = token.compact.lifetime(
            atMost: Double(switches.maximumLifetimeSeconds ?? 1800), from: .moment(moment.unixSeconds),
            source: "JWT page: 30 minutes or less; switch max-lifetime-seconds")
        if switches.maximumLifetimeSeconds != nil {
            findings.add(advice, orFail: .tokenLifetimeTooLong)
        } else if advice.outcome == .failed {
            findings.note(advice.noted)
        }
        findings.add(
            token.compact.expiry(
                at: moment.unixSeconds, leeway: Double(switches.leewaySeconds),
                source: "JWT page, HTTP Error Responses, 401"),
            orFail: failure)
    }
}
