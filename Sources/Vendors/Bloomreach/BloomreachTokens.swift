import Emulation
import JSON
import Tokens
import Wire

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
        BloomreachRule(
            "key-known", expects: .text("kid of a key that may sign here"), source: source, orFail: unknownKey
        ) { [algorithm] facts, finding in
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
        BloomreachRule(
            "claim-\(subject)-ids", expects: .text("an object of id names with texts, not empty"),
            source: source + "; rest ours", orFail: badSubject
        ) { [subject] facts, finding in
            guard let token = facts.token else { return nil }
            let claims = token.compact.claims
            finding?.found = claims?[subject].map(Fact.json) ?? .absent
            return claims == nil ? .notJudged : token.ids(subject) == nil ? .failed : .passed
        }
    }

    /// A token; claims are ordered as in the vendor's samples, so that equal input gives equal tokens.
    func draft(by key: BloomreachSigningKey, of ids: JSON, until expiry: JSON) -> TokenDraft {
        TokenDraft(
            header: ["alg": .string(algorithm.rawValue), "typ": "JWT", "kid": .string(key.id)],
            claims: subject == "ids" ? ["exp": expiry, "ids": ids] : ["sub": ids, "exp": expiry])
    }

    /// The defects of minted tokens, named after the failures they cause (ours).
    var defects: [BloomreachFailure] {
        [
            malformed, wrongAlgorithm, unknownKey, badSignature, missingExpiry, expired, notYetValid, badSubject,
        ] + (subject == "ids" ? [.streamTokenWrongStream] : [])
    }

    /// The token that an app's own backend signs for one customer, with a private key of the project.
    ///
    /// Source: documented, SDK page and reference page on customer tokens; stricter checks are ours.
    static let customerToken = BloomreachTokenFamily(
        algorithm: .hs256, subject: "sub", source: "reference page on customer tokens",
        malformed: .customerTokenMalformed, wrongAlgorithm: .customerTokenWrongAlgorithm,
        unknownKey: .customerTokenUnknownKey, badSignature: .customerTokenBadSignature,
        missingExpiry: .customerTokenMissingExpiry, expired: .customerTokenExpired,
        notYetValid: .customerTokenNotYetValid, badSubject: .customerTokenBadSubject)

    /// The token that an app's own backend signs for a stream, with one of the stream's signing keys.
    ///
    /// Source: documented, authorization page of the iOS SDK; the order of checks is ours.
    static let streamToken = BloomreachTokenFamily(
        algorithm: .hs512, subject: "ids", source: "authorization page of the iOS SDK",
        malformed: .streamTokenMalformed, wrongAlgorithm: .streamTokenWrongAlgorithm,
        unknownKey: .streamTokenUnknownKey, badSignature: .streamTokenBadSignature,
        missingExpiry: .streamTokenMissingExpiry, expired: .streamTokenExpired, notYetValid: .streamTokenNotYetValid,
        badSubject: .streamTokenEmptyIDs)
}

extension Bloomreach {
    /// The rules of a project's customer token that need no request body.
    static let customerTokenRules = RuleList(BloomreachTokenFamily.customerToken.rules)

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

    static let tokenKinds = [
        TokenKind(
            name: "customer-token", about: "speaks for one customer of a project, as an app's own backend signs it",
            members: [
                ("project", "token of the project whose private key signs; by default the first one with a key"),
                ("key", "id of that key; by default the first one"),
                (
                    "customer",
                    "the customer's registered id; by default that of the project's first customer who has one"
                ),
                ("expires_in", "seconds from now to exp; by default 3600"),
            ], defects: BloomreachTokenFamily.customerToken.defects.map(\.rawValue)),
        TokenKind(
            name: "stream-token", about: "speaks for one customer on the paths of a stream",
            members: [
                ("stream", "id of the stream whose signing key signs; by default the first one with a key"),
                ("key", "id of that key; by default the first one"),
                ("customer", "the customer's registered id; by default that of the first customer who has one"),
                ("expires_in", "seconds from now to exp; by default 900"),
            ], defects: BloomreachTokenFamily.streamToken.defects.map(\.rawValue)),
    ]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Bloomreach>) throws(ControlRefusal) -> String {
        let isStream = order.kind == "stream-token"
        let (project, stream, key) = try signer(&order, isStream: isStream)
        let named = try order.string("customer")
        if named?.isEmpty == true { throw ControlRefusal("customer is empty; expected a registered id") }
        let registered = if let named { named } else { try firstCustomer(of: project, in: setting.state) }
        let lifetime = try order.int("expires_in").map { Duration.seconds($0) }
        let expiry = setting.moment + (lifetime ?? (isStream ? .seconds(900) : Self.tokenLifetime))
        let family = isStream ? BloomreachTokenFamily.streamToken : .customerToken
        let draft = family.draft(
            by: key, of: [BloomreachID.registered: .string(registered)], until: JSON(expiry.wholeSeconds))
        return try order.mint(
            UnsignedToken(draft, by: key.secret), at: setting.moment,
            own: { name in family.defects.first { $0.rawValue == name } }
        ) { (defect, token) throws(ControlRefusal) in try spoil(&token, by: defect, family, of: stream) }
    }

    /// The signing key, and the project whose customers the token speaks for.
    private func signer(
        _ order: inout MintRequest, isStream: Bool
    ) throws(ControlRefusal) -> (project: BloomreachProject, stream: BloomreachStream?, key: BloomreachSigningKey) {
        let owner = try order.string(isStream ? "stream" : "project")
        let stream = isStream ? try accounts.stream(named: owner) { !$0.signingKeys.isEmpty } : nil
        let project =
            if let stream { stream.project } else { try accounts.project(named: owner) { !$0.privateKeys.isEmpty } }
        let keys = stream?.signingKeys ?? project.privateKeys
        let id = try order.string("key")
        let key = try ControlRefusal.require(
            id.map { id in keys.first { $0.id.hasSameBytes(as: id) } } ?? keys.first,
            "\(stream.map { "stream \($0.id)" } ?? "project \(project.token)") has no key", id ?? "to sign with",
            among: keys.map(\.id))
        return (project, stream, key)
    }

    private func firstCustomer(of project: BloomreachProject, in state: State) throws(ControlRefusal) -> String {
        let registered = state.customers(of: project).all.lazy.compactMap { $0.ids[BloomreachID.registered] }.first
        return try ControlRefusal.require(
            registered, "no customer of \(project.token) has a registered id; name one with the member customer")
    }

    /// Apps' backends sign with secrets shared with Bloomreach; there are no published keys.
    var secretKeys: [SecretKey] {
        func secrets(_ keys: [BloomreachSigningKey], of owner: String) -> [SecretKey] {
            keys.map { $0.secret.shared(with: "\(owner), key \($0.id)") }
        }
        return accounts.projects.flatMap { secrets($0.privateKeys, of: "project \($0.token)") }
            + accounts.streams.flatMap { secrets($0.signingKeys, of: "stream \($0.id)") }
    }

    var secretTexts: [String] { accounts.secretTexts }

    var samples: [(label: String, value: String)] {
        accounts.projects.flatMap { project in
            [(label: "project token", value: project.token)]
                + project.publicKeys.map { (label: "public key of \(project.token)", value: $0.key) }
        } + accounts.streams.map { (label: "stream id", value: $0.id) }
    }

    func sampleRequest(in setting: TokenSetting<Bloomreach>) throws(ControlRefusal) -> SampleRequest {
        let keys = accounts.projects.lazy.flatMap { project in project.publicKeys.map { (project, key: $0) } }
        let (project, key) = try ControlRefusal.require(
            keys.first { $0.key.permissions.contains(.events) }, "no public key may track events")
        let body: JSON = [
            "customer_ids": [BloomreachID.cookie: "sample-device"], "event_type": "session_start",
            "timestamp": JSON(setting.moment.wholeSeconds), "properties": ["platform": "iOS"],
        ]
        return SampleRequest(
            endpoint: .post("/track/v2/projects/\(project.token)/customers/events"),
            fields: [("content-type", "application/json"), ("authorization", "Token \(key.key)")], body: body.text)
    }

    /// Gives a token a defect, in some cases a general one.
    private func spoil(
        _ token: inout UnsignedToken, by defect: BloomreachFailure, _ family: BloomreachTokenFamily,
        of stream: BloomreachStream?
    ) throws(ControlRefusal) {
        switch defect {
        case family.malformed: token.defect = "two-parts"
        case family.wrongAlgorithm: token.defect = "wrong-alg"
        case family.badSignature: token.defect = "bad-signature"
        case family.missingExpiry: token.defect = "missing-exp"
        case family.expired: token.defect = "expired"
        case family.notYetValid: token.defect = "not-yet-valid"
        case family.unknownKey: token.content.header["kid"] = "key-of-nobody"
        case family.badSubject: token.content.claims[family.subject] = family.subject == "ids" ? [:] : "ana"
        default:
            // A token of another stream.
            let key = try ControlRefusal.require(
                accounts.streams.lazy.filter({ $0 !== stream }).flatMap(\.signingKeys).first,
                "no other stream has a signing key")
            token.key = key.secret.signing
            token.content.header["kid"] = .string(key.id)
        }
    }
}

/// The call by which the vendor's example apps get a customer token. Source: observed in the iOS example app; response
/// to invalid input, default lifetime and order of members are ours.
extension Bloomreach {
    /// The default lifetime of a token (ours).
    static let tokenLifetime = Duration.seconds(3600)

    func keys(for token: CompactToken, in setting: TokenSetting<Bloomreach>) -> [SigningKey] {
        accounts.projects.flatMap(\.privateKeys).map(\.secret.signing)
    }

    /// Signs a token with the named private key; an expiry in the past is signed as given.
    static func mintForExampleApp(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let body = try call.body().passing("project_id", "kid", "sub", "exp")
        let accounts = call.vendor.accounts
        let named = try body.read { $0.optionalText("project_id") } ?? ""
        try Refused.require(
            BloomreachAddress.isWellFormed(named), .invalidProjectID,
            "project_id is \(named.shown); expected a project token")
        let project = try Refused.require(
            accounts.project(named), .unknownProject,
            "no project has the token \(named)\(Nearest.known(accounts.projects.lazy.map(\.token)))")
        let (keyID, subject) = try body.read {
            ($0.text("kid"), $0.value("sub", isRequired: true, expecting: "the ids of a customer") { $0 } ?? .null)
        }
        guard let key = project.privateKey(keyID) else {
            throw Refused(
                .mintUnknownKey, because: "kid names no private key of \(project.token)",
                known: project.privateKeys.lazy.map(\.id))
        }
        try Refused.require(
            BloomreachIDs(claim: subject) != nil, .mintBadSubject,
            "sub is \(subject.text.prefix(100)); expected up to \(BloomreachIDs.maximum) names with texts")
        let end = try body.read { body in
            body.value("exp", expecting: "a number") { $0.number.flatMap { $0.double.isFinite ? $0 : nil } }
        }
        let expiry = JSON.number(end ?? JSONNumber((call.moment + tokenLifetime).wholeSeconds))
        var draft = BloomreachTokenFamily.customerToken.draft(by: key, of: subject, until: expiry)
        let token = call.arrival.refusedTokens.sign(&draft, key.secret.sign)
        try Refused.require(
            BloomreachToken(token).compact.firstFault == nil, .mintBadSubject,
            "the token would be longer than any that is read; expected a shorter sub")
        return .json(["customer_token": .string(token), "expire_time": draft.claims["exp"] ?? expiry])
    }
}
