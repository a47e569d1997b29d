import Tokens

/// Row 6 of Rezolve's checks: the members that a token must have, by the switches that have a say in it.
struct RezolveMemberRules: Hashable, Sendable {
    private let authHeader: RezolveSwitches.AuthHeader
    private let deviceCheck: RezolveSwitches.DeviceCheck
    private let expiryNumber: RezolveSwitches.ExpiryNumber

    init(_ switches: RezolveSwitches) {
        authHeader = switches.authHeader
        deviceCheck = switches.deviceCheck
        expiryNumber = switches.expiryNumber
    }

    /// Whether none of ``findings(on:)`` failed.
    func hold(on token: RezolveToken) -> Bool {
        let expiry = token.compact.date("exp")
        guard !token.entityID.isEmpty, Self.namesUser(token), expiry.seconds() != nil,
            expiryNumber == .any || expiry.form == .integer
        else { return false }
        guard token.kind == .login else { return true }
        return (authHeader != .required || token.compact.hasHeaderMember("auth", equalTo: "v2"))
            && (deviceCheck != .enforce || !token.deviceID.isEmpty)
    }

    /// Every check of the row, in the vendor's order.
    func findings(on token: RezolveToken) -> [Finding] {
        let compact = token.compact
        var findings = [
            compact.claim("rezolve_entity_id", is: .nonEmptyString, source: "JWT page, JWT Payload"),
            partnerEntityID(of: token),
        ]
        addExpiryForm(of: compact, to: &findings)
        guard token.kind == .login else { return findings }
        if authHeader == .required {
            findings.append(
                compact.headerMember(
                    "auth", equals: "v2", source: "JWT page, JWT Header of the login JWT; switch auth-header"))
        }
        if deviceCheck == .enforce {
            findings.append(
                compact.claim("device_id", is: .nonEmptyString, source: "JWT page, JWT Payload of the login JWT"))
        }
        return findings
    }

    private static func namesUser(_ token: RezolveToken) -> Bool { (1...255).contains(userLength(token)) }

    /// The length of the partner's name for the user, in characters.
    private static func userLength(_ token: RezolveToken) -> Int {
        // Characters are counted only where bytes do not tell: there are never more of them.
        let bytes = token.partnerEntityID.utf8.count
        return bytes <= 255 ? bytes : token.partnerEntityID.count
    }

    private func partnerEntityID(of token: RezolveToken) -> Finding {
        let length = Self.userLength(token)
        let claim = token.compact.claims?["partner_entity_id"]
        return Finding(
            "claim-partner_entity_id-present",
            token.compact.claims == nil ? .notJudged : Self.namesUser(token) ? .passed : .failed,
            expected: .text("a string of 1 to 255 characters, or an integer"),
            found: length > 255 ? .text("\(length) characters") : claim.map(Fact.json) ?? .absent,
            source: "JWT page, JWT Payload; length ours")
    }

    private func addExpiryForm(of compact: CompactToken, to findings: inout [Finding]) {
        switch expiryNumber {
        case .any:
            findings.append(compact.claim("exp", is: .number, source: "JWT page, JWT Payload"))
            if compact.date("exp").form == .fraction {
                findings.append(
                    Finding(
                        "exp-fraction", .noted, expected: .text("an integer"),
                        found: compact.claims?["exp"].map(Fact.json),
                        note: "RFC 7519 allows a fraction; switch exp-number decides.",
                        source: "JWT page: unix timestamp integer"))
            }
        case .integer:
            findings.append(
                compact.claim("exp", is: .integer, source: "JWT page: unix timestamp integer; switch exp-number"))
        }
    }
}
