import Emulation
import JSON
import Tokens

/// What Comapi asks of the claims of an app's token, but for its times.
enum ComapiAppClaimRules {
    typealias Rule = TokenRule<ComapiAppFacts>

    static let all = [
        Rule(.claim("iss", is: .string, source: issuerSource), orFail: .missingIssuer), issuer,
        Rule(.claim("aud", is: [.string, .array], source: audienceSource), orFail: .missingAudience), audience,
        audienceArray, userID, sharedUserID,
    ]

    private static let issuerSource = "JWT page, Required JWT Claims: iss"

    private static let issuer = Rule(
        "issuer", expects: .text("the issuer of the API space"), source: issuerSource, orFail: .wrongIssuer
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        finding?.expected = .text(facts.space.issuer)
        guard let found = token.claims?["iss"]?.string else { return .notJudged }
        finding?.found = .text(found)
        finding?.note = nearMiss(found, facts.space.issuer)
        return found.hasSameBytes(as: facts.space.issuer) ? .passed : .failed
    }

    private static let audienceSource =
        "JWT page, Required JWT Claims: aud; array: RFC 7519, switch accepts-audience-array"

    private static let audience = Rule(
        "audience", expects: .text("the audience of the API space"), source: audienceSource, orFail: .wrongAudience
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        let found = token.claims?["aud"]
        let outcome = facts.judgeAudience(&finding)
        finding?.expected = .text(facts.space.audience)
        finding?.note = (found?.string).flatMap { nearMiss($0, facts.space.audience) }
        return found?.string != nil || found?.array != nil ? outcome : .notJudged
    }

    private static let audienceArray = Rule("audience-array", expects: .text("a text"), source: audienceSource) {
        facts, finding in
        var nothing: Finding?
        guard facts.compact?.claims?["aud"]?.array != nil, facts.judgeAudience(&nothing) == .passed else { return nil }
        finding?.expected = nil
        finding?.note = "aud is an array; the vendor's samples send text."
        return .noted
    }

    private static let userID = Rule(
        "user-id", expects: .types(.nonEmptyString), source: "JWT page, The role of the sub claim; text only: ours",
        orFail: .missingUserId
    ) { facts, finding in
        // The space determines the claim; findings carry its name.
        guard let token = facts.compact else { return nil }
        return finding == nil
            ? token.claim(facts.space.idClaim, is: .nonEmptyString, &finding)
            : finding.take(
                token.claim(
                    facts.space.idClaim, is: .nonEmptyString,
                    source: "JWT page, The role of the sub claim; text only: ours"))
    }

    private static let sharedUserID = Rule(
        "shared-user-id", expects: .text("an id of the user's own"), source: "JWT page, sample code"
    ) {
        facts, finding in
        guard let userID = facts.token?.userID, userID.hasSameBytes(as: facts.space.idClaim) else { return nil }
        finding?.expected = nil
        finding?.found = .text(userID)
        finding?.note =
            "The user id is the name of the id claim, as a comment in the vendor's sample suggests; all "
            + "users who come so share one profile."
        return .noted
    }

    /// Why a text nearly matches.
    private static func nearMiss(_ found: String, _ expected: String) -> String? {
        if found.hasSameBytes(as: expected) { return nil }
        func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
        if withoutSlash(found).hasSameBytes(as: withoutSlash(expected)) { return "Only the final “/” differs." }
        return found.lowercased().hasSameBytes(as: expected.lowercased()) ? "Only the case of letters differs." : nil
    }
}

extension ComapiAppFacts {
    fileprivate func judgeAudience(_ finding: inout Finding?) -> Finding.Outcome? {
        compact?.audience(isOneOf: [space.audience], acceptsArray: switches.acceptsAudienceArray, &finding)
    }
}
