import Emulation
import JSON
import Tokens

/// The app's JWT, judged by every rule that needs no challenge, in the order of the spec (section 2.2).
///
/// Source: algorithm, key and claims are documented, JWT page; the order of checks is ours.
struct ComapiAppToken: Sendable {
    let compact: CompactToken
    /// The user whom it names, if it names one.
    let userID: String?
    /// Up to the signature.
    private(set) var signed = Findings<ComapiFailure>()
    /// From the issuer on.
    private(set) var claimed = Findings<ComapiFailure>()

    init(
        _ text: String, of space: ComapiSpace, among spaces: [ComapiSpace], _ switches: ComapiSwitches,
        at moment: Moment
    ) {
        compact = CompactToken(text)
        let user = compact.claims?[space.idClaim]?.string ?? ""
        userID = user.utf8.isEmpty ? nil : user
        judgeForm()
        judgeSignature(space, spaces)
        judgeIssuer(space)
        judgeAudience(space, switches)
        judgeUser(space)
        ComapiTimeRules(switches: switches, moment: moment).judge(compact, &claimed)
    }

    private mutating func judgeForm() {
        signed.add(compact.structure, orFail: .malformedToken)
        signed.add(compact.critical(source: "ours, after RFC 7515"), orFail: .unsupportedCriticalHeader)
        signed.add(compact.algorithm(is: .hs256, source: "JWT page, all samples"), orFail: .wrongAlgorithm)
        let type = compact.type(is: "JWT", source: "JWT page, all samples")
        if type.outcome == .failed {
            signed.note(
                Finding("unusual-typ", .noted, expected: type.expected, found: type.found, source: type.source))
        } else {
            signed.note(type)
        }
    }

    private mutating func judgeSignature(_ space: ComapiSpace, _ spaces: [ComapiSpace]) {
        let finding = compact.signature(
            by: space.sharedKey.verificationKey, algorithm: .hs256, source: "JWT page, Signing the JWT")
        let mistake =
            finding.outcome == .failed ? ComapiSecretMistake.find(in: compact, of: space, among: spaces) : nil
        signed.add(
            Finding(
                "signature", finding.outcome, expected: finding.expected, found: finding.found,
                note: mistake?.description ?? sessionRemark ?? finding.note, source: finding.source),
            orFail: mistake?.failure ?? .badSignature)
        if let mistake { signed.note(Finding(mistake.failure.rawValue, .noted, note: mistake.description)) }
    }

    /// A session's token in the place of the app's own.
    private var sessionRemark: String? {
        guard compact.claims?["apiSpaceId"] != nil, compact.claims?["boot"] != nil else { return nil }
        return "This looks like the token of a session; authenticationToken is the app's own JWT, made for the nonce."
    }

    private mutating func judgeIssuer(_ space: ComapiSpace) {
        let source = "JWT page, Required JWT Claims: iss"
        claimed.add(compact.claim("iss", is: .string, source: source), orFail: .missingIssuer)
        let found = compact.claims?["iss"]?.string
        claimed.add(
            Finding(
                "issuer", found.map { $0.hasSameBytes(as: space.issuer) ? .passed : .failed } ?? .notJudged,
                expected: .text(space.issuer), found: found.map(Fact.text),
                note: found.flatMap { Self.nearMiss($0, space.issuer) }, source: source),
            orFail: .wrongIssuer)
    }

    private mutating func judgeAudience(_ space: ComapiSpace, _ switches: ComapiSwitches) {
        let source = "JWT page, Required JWT Claims: aud; array: RFC 7519, switch accepts-audience-array"
        let found = compact.claims?["aud"]
        claimed.add(compact.claim("aud", is: [.string, .array], source: source), orFail: .missingAudience)
        let finding = compact.audience(
            isOneOf: [space.audience], acceptsArray: switches.acceptsAudienceArray, source: source)
        let isJudged = found?.string != nil || found?.array != nil
        claimed.add(
            Finding(
                "audience", isJudged ? finding.outcome : .notJudged, expected: .text(space.audience),
                found: finding.found, note: found?.string.flatMap { Self.nearMiss($0, space.audience) },
                source: source),
            orFail: .wrongAudience)
        if finding.outcome == .passed, found?.array != nil {
            claimed.note(
                Finding(
                    "audience-array", .noted, note: "aud is an array; the vendor's samples send text.", source: source))
        }
    }

    private mutating func judgeUser(_ space: ComapiSpace) {
        claimed.add(
            compact.claim(
                space.idClaim, is: .nonEmptyString, source: "JWT page, The role of the sub claim; text only: ours"),
            orFail: .missingUserId)
        if let userID, userID.hasSameBytes(as: space.idClaim) {
            claimed.note(
                Finding(
                    "shared-user-id", .noted, found: .text(userID),
                    note: "The user id is the name of the id claim, as a comment in the vendor's sample suggests; all "
                        + "users who come so share one profile.", source: "JWT page, sample code"))
        }
    }

    /// What is nearly right about a text.
    private static func nearMiss(_ found: String, _ expected: String) -> String? {
        if found.hasSameBytes(as: expected) { return nil }
        func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
        if withoutSlash(found).hasSameBytes(as: withoutSlash(expected)) { return "Only the final “/” differs." }
        return found.lowercased().hasSameBytes(as: expected.lowercased()) ? "Only the case of letters differs." : nil
    }
}
