import Emulation
import JSON
import Tokens

/// The differences between kinds of tokens. Both kinds have the same rules, in the same order.
struct BloomreachTokenFamily {
    let algorithm: Algorithm
    /// The claim that holds the ids of the customer.
    let subject: String
    let source: String
    let malformed: BloomreachFailure
    let wrongAlgorithm: BloomreachFailure
    let unknownKey: BloomreachFailure
    let badSignature: BloomreachFailure
    let missingExpiry: BloomreachFailure
    let expired: BloomreachFailure
    let notYetValid: BloomreachFailure
    let badSubject: BloomreachFailure

    var rules: [BloomreachRule] {
        BloomreachRule.structure(orFail: malformed) { facts in
            facts.compact.flatMap { facts.strangers?.note(onToken: $0.text) }
        } + [
            parts, BloomreachRule(.algorithm(is: algorithm, source: source), orFail: wrongAlgorithm),
            BloomreachRule(
                .type(is: "JWT", exactly: true, source: source + "; strictness ours"), orFail: wrongAlgorithm),
            BloomreachRule(.critical(), orFail: wrongAlgorithm), BloomreachRule(.keyReferences), keyKnown,
        ]
            + BloomreachRule.signature(
                "\(algorithm.rawValue) by the key of the kid", source, unjudged: source, orFail: badSignature) + [
                BloomreachRule(.claim("exp", is: .number, source: source), orFail: missingExpiry), expiry, beginning,
                ids, BloomreachRule(.milliseconds(in: "exp")), BloomreachRule(.milliseconds(in: "nbf")),
            ]
    }

    /// The signature may be empty, as with `none`, but then the token has no third part.
    private var parts: BloomreachRule {
        BloomreachRule("signature-present", "three parts, none of them empty", "ours", .ours, orFail: malformed) {
            facts, _ in
            facts.compact.map { $0.partCount != 3 ? .notJudged : $0.signature?.isEmpty == true ? .failed : .passed }
        }
    }

    private var keyKnown: BloomreachRule {
        let algorithm = algorithm
        return BloomreachRule(
            "key-known", expects: .text("kid of a key that may sign here"), source: source, orFail: unknownKey
        ) { facts, finding in
            guard let token = facts.token else { return nil }
            finding?.found = facts.keyID
            if facts.signingKey != nil { return .passed }
            if finding != nil, let strangers = facts.strangers {
                finding?.expected = .text("kid of a \(facts.expectedKey)")
                finding?.note = strangers.note(onKeyOf: token, algorithm)
            }
            return token.compact.header == nil ? .notJudged : .failed
        }
    }

    private var expiry: BloomreachRule {
        BloomreachRule(
            "expiry", "exp later than now minus the leeway", source + "; switch clock-leeway-seconds", orFail: expired
        ) { facts, finding in facts.expiry(&finding) }
    }

    private var beginning: BloomreachRule {
        BloomreachRule(
            "not-before", "nbf, if any, no later than now plus the leeway", "ours", .ours, orFail: notYetValid
        ) { facts, finding in facts.beginning(&finding) }
    }

    private var ids: BloomreachRule {
        let subject = subject
        return BloomreachRule(
            "claim-\(subject)-ids", expects: .text("an object of id names with texts, not empty"),
            source: source + "; rest ours", orFail: badSubject
        ) { facts, finding in
            guard let token = facts.token else { return nil }
            let claims = token.compact.claims
            finding?.found = claims?[subject].map(Fact.json) ?? .absent
            return claims == nil ? .notJudged : token.ids(subject) == nil ? .failed : .passed
        }
    }
}

extension BloomreachTokenFamily {
    /// A token; claims are ordered as in the vendor's samples, so that equal input gives equal tokens.
    func draft(by key: BloomreachSigningKey, of ids: JSON, until expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": .string(algorithm.rawValue), "typ": "JWT", "kid": .string(key.id)],
            claims: subject == "ids" ? ["exp": expiry, "ids": ids] : ["sub": ids, "exp": expiry])
    }
}

/// The token that an app's own backend signs for one customer, with a private key of the project.
///
/// Source: documented, SDK page and reference page on customer tokens; stricter checks are ours.
extension BloomreachTokenFamily {
    static let customerToken = BloomreachTokenFamily(
        algorithm: .hs256, subject: "sub", source: "reference page on customer tokens",
        malformed: .customerTokenMalformed, wrongAlgorithm: .customerTokenWrongAlgorithm,
        unknownKey: .customerTokenUnknownKey, badSignature: .customerTokenBadSignature,
        missingExpiry: .customerTokenMissingExpiry, expired: .customerTokenExpired,
        notYetValid: .customerTokenNotYetValid, badSubject: .customerTokenBadSubject)
}

extension Bloomreach {
    /// The rules of a project's customer token that need no request body.
    static let customerTokenRules = RuleList(BloomreachTokenFamily.customerToken.rules)
}

/// The token that an app's own backend signs for a stream, with one of the stream's signing keys.
///
/// Source: documented, authorization page of the iOS SDK; the order of checks is ours.
extension BloomreachTokenFamily {
    static let streamToken = BloomreachTokenFamily(
        algorithm: .hs512, subject: "ids", source: "authorization page of the iOS SDK",
        malformed: .streamTokenMalformed, wrongAlgorithm: .streamTokenWrongAlgorithm,
        unknownKey: .streamTokenUnknownKey, badSignature: .streamTokenBadSignature,
        missingExpiry: .streamTokenMissingExpiry, expired: .streamTokenExpired, notYetValid: .streamTokenNotYetValid,
        badSubject: .streamTokenEmptyIDs)
}

extension Bloomreach {
    /// The rules of a stream's token that need no request body.
    static let streamTokenRules = RuleList(
        BloomreachTokenFamily.streamToken.rules + [
            BloomreachRule(
                "stream-scope", "a signing key of the stream",
                "authorization page of the iOS SDK: 403 for a wrong scope", orFail: .streamTokenWrongStream
            ) { facts, finding in
                guard facts.token != nil, let stream = facts.stream else { return nil }
                finding?.expected = .text("a signing key of stream \(stream.id)")
                finding?.found = facts.isForeign ? facts.signingKey.map { .text($0.phrase) } : facts.keyID
                return facts.signingKey == nil ? .notJudged : facts.isForeign ? .failed : .passed
            }
        ])
}
