import Emulation
import JSON
import Tokens

typealias BloomreachRule = TokenRule<BloomreachFacts>

/// Bloomreach's rules for callers, in the order of its checks.
extension Bloomreach {
    static let recordChecks = [
        "project-known", "public-key", "private-key", "private-key-secret", "key-known", "sync-token",
    ]
    static let keyChecks = ["signature"]
    static let accountChecks = ["permission", "app-inbox-auth"]

    static var rules: [RuleListing] {
        callerRules.listing(of: identity.id, about: "caller")
            + customerTokenRules.listing(of: identity.id, about: "customer token")
            + streamTokenRules.listing(of: identity.id, about: "stream token")
            + bindingRules.listing(of: identity.id, about: "token and ids of the request")
    }

    /// Everything a request presents, except the token itself.
    static let callerRules = RuleList(
        [
            routeOffered, method, coding, projectID, projectKnown, credentialPresent,
            severalLines(id: "malformed-lines") { if case .malformed = $0 { true } else { false } },
            credentialForm, credentialKind, appInboxAuth,
            severalLines(id: "public-key-lines") { if case .publicKey = $0 { true } else { false } },
            publicKey, privateKey, privateKeySecret,
        ] + bearerLines + [permission])

    // MARK: The route

    private static let routeOffered = BloomreachRule(
        "route-offered", "mint-endpoint: on", "example apps; switch mint-endpoint", .observed, orFail: .routeNotFound
    ) { facts, finding in
        guard facts.presented?.access.openness == .open, !facts.switches.mintEndpoint else { return nil }
        finding?.found = .text("mint-endpoint: off")
        return .failed
    }

    private static let method = BloomreachRule(
        "method", "GET", "both SDKs; switch consents-method", .observed, orFail: .methodNotAllowed
    ) { facts, finding in
        guard let presented = facts.presented, presented.isPost, presented.access.permission == .consents,
            facts.switches.consentsMethod == .getOnly
        else { return nil }
        finding?.found = .text("POST")
        return .failed
    }

    private static let coding = BloomreachRule(
        "content-coding", "identity", "reference page on common API issues", orFail: .compressedBody
    ) { facts, finding in
        guard let coding = facts.presented?.coding else { return nil }
        return finding.judge(.text(coding), coding.lowercased() == "identity" || coding.isEmpty)
    }

    // MARK: The project or the stream

    private static let projectID = BloomreachRule(
        "project-id", "letters, digits and -", "both SDKs; reference page on authorization errors",
        orFail: .invalidProjectID
    ) { facts, finding in
        guard let address = facts.presented?.address else { return nil }
        return finding.judge(.text(address.text), BloomreachAddress.isWellFormed(address.text))
    }

    private static let projectKnown = BloomreachRule(
        "project-known", "the token of a project", "reference page on authorization errors; stream inferred",
        orFail: .unknownProject
    ) { facts, finding in
        guard let address = facts.presented?.address else { return nil }
        if address.isStream { finding?.expected = .text("the id of a stream") }
        finding?.found = .text(address.text)
        guard BloomreachAddress.isWellFormed(address.text) else { return .notJudged }
        if facts.project != nil { return .passed }
        finding?.note = facts.accounts?.stranger(at: address)
        return .failed
    }

    // MARK: The credential

    private static let credentialPresent = BloomreachRule(
        "credential-present", expects: .text("Authorization"),
        source: "reference page on authorization errors; streams ours",
        orFail: [.missingAuthorization, .streamTokenMissing],
        by: {
            let isPublicStream = $0.presented?.address?.isStream == true && $0.stream?.isPrivate != true
            return Refused(isPublicStream ? .streamTokenMissing : .missingAuthorization)
        }
    ) { facts, finding in
        guard let presented = facts.presented, let address = presented.address, case .absent = presented.authorization
        else { return nil }
        finding?.found = .absent
        let isNeeded =
            address.isStream
            ? presented.access.alwaysNeedsStreamToken || facts.stream?.isPrivate == true
                || (facts.stream?.requireJWT ?? facts.switches.requireJWT) == .all
            : presented.access.openness == .closed
        if isNeeded { return .failed }
        finding?.expected = .text("Authorization, or nothing")
        return .passed
    }

    private static func severalLines(
        id: String, _ applies: @escaping @Sendable (BloomreachAuthorization) -> Bool
    ) -> BloomreachRule {
        BloomreachRule(
            "authorization-lines", id: id, expects: .text("one Authorization header"), source: "RFC 9110 section 5.3",
            orFail: id == "malformed-lines" ? .malformedAuthorization : .unknownKey
        ) { facts, finding in
            guard let presented = facts.presented, presented.address != nil, applies(presented.authorization) else {
                return nil
            }
            if case .publicKey = presented.authorization, !facts.acceptsKeys { return nil }
            return BearerToken.severalLines(in: presented.fields, &finding)
        }
    }

    private static let credentialForm = BloomreachRule(
        "credential-form", "Token KEY, Bearer JWT or Basic ID:SECRET in base64", "ours", .ours,
        orFail: .malformedAuthorization
    ) { facts, finding in
        guard let presented = facts.presented, presented.address != nil else { return nil }
        switch presented.authorization {
        case .absent: return nil
        case .malformed(let found):
            finding?.found = .text(found)
            return .failed
        case .publicKey, .privateKey, .token:
            finding?.expected = nil
            finding?.source = "SDK page; reference page on authentication"
            return .passed
        }
    }

    private static let credentialKind = BloomreachRule(
        "credential-kind", "a kind that the route accepts", "SDK page; permission matrix, rest ours",
        orFail: .credentialNotAccepted
    ) { facts, finding in
        guard let presented = facts.presented, let address = presented.address, let kind = facts.kind else {
            return nil
        }
        let ofStream: Set = [facts.stream?.isPrivate == true ? BloomreachCredentialKind.secretKey : .streamToken]
        var accepted = address.isStream ? ofStream : presented.access.accepted
        if presented.access.permission == .attributes, facts.switches.attributesAccess == .private {
            accepted.remove(.publicKey)
        }
        finding?.expected = .anyOf(accepted.map(\.rawValue).sorted())
        finding?.found = .text(kind.rawValue)
        if accepted.contains(kind) { return .passed }
        finding?.note = facts.compact.flatMap { facts.strangers?.note(onToken: $0.text) }
        return .failed
    }

    private static let appInboxAuth = BloomreachRule(
        "app-inbox-auth", "a customer token", "reference page of the app inbox; switch app-inbox-auth",
        orFail: .customerTokenRequired
    ) { facts, finding in
        guard let presented = facts.presented, presented.access.permission == .appinbox,
            presented.address?.isStream == false, let kind = facts.kind
        else { return nil }
        finding?.found = .text(kind.rawValue)
        guard (facts.project?.appInboxAuth ?? facts.switches.appInboxAuth) == .advanced else {
            finding?.expected = .text("a public key or a customer token")
            return .passed
        }
        return kind == .publicKey ? .failed : .passed
    }

    // MARK: Keys

    private static let publicKey = BloomreachRule(
        "public-key", "a public key of the project", "tests of the Python client; status inferred", .observed,
        orFail: .unknownKey
    ) { facts, finding in
        guard facts.acceptsKeys, case .publicKey(let key)? = facts.presented?.authorization else { return nil }
        finding?.expected = .text("a public key of \(facts.project?.token ?? "")")
        finding?.found = .text(facts.publicKey == nil ? facts.accounts?.owner(ofPublicKey: key) ?? "" : key)
        return facts.publicKey == nil ? .failed : .passed
    }

    private static let privateKey = BloomreachRule(
        "private-key", "the id of a private key of the project",
        "tests of the Python client; status inferred", .observed, orFail: .unknownKey
    ) { facts, finding in
        guard case .privateKey(let id, _)? = facts.presented?.authorization else { return nil }
        if let stream = facts.stream, stream.isPrivate {
            finding?.expected = .text("the id of stream \(stream.id)")
            finding?.source = "ours"
            let isOwn = id.hasSameBytes(as: stream.id)
            return finding.judge(.text(isOwn ? id : "another id"), isOwn)
        }
        guard facts.acceptsKeys, let project = facts.project else { return nil }
        finding?.expected = .text("the id of a private key of \(project.token)")
        if project.privateKey(id) != nil {
            finding?.found = .text(id)
            return .passed
        }
        finding?.found = facts.accounts.map { .text($0.owner(of: id) ?? "the id of no private key of the project") }
        return .failed
    }

    private static let privateKeySecret = BloomreachRule(
        "private-key-secret", "the secret of the key", "ours", .ours, orFail: .wrongSecret
    ) { facts, finding in
        guard case .privateKey(let id, let secret)? = facts.presented?.authorization else { return nil }
        if let stream = facts.stream, stream.isPrivate {
            finding?.expected = .text("a secret key of stream \(stream.id)")
            if stream.secretKeys.contains(where: { $0.hasSameBytes(as: secret) }) { return .passed }
            finding?.found = facts.accounts?.shown(secret: secret)
            return .failed
        }
        guard facts.acceptsKeys, let project = facts.project else { return nil }
        guard let key = project.privateKey(id) else { return .notJudged }
        finding?.expected = .text("the secret of private key \(id)")
        if key.secret.text.hasSameBytes(as: secret) { return .passed }
        finding?.found = facts.accounts?.shown(secret: secret)
        finding?.note = secret.credentialMistake(among: [(key.secret.text, "the secret of private key \(id)")])
        return .failed
    }

    private static let bearerLines =
        bearerOnce(.customerToken, ids: "customer-token-", orFail: .customerTokenMalformed)
        + bearerOnce(.streamToken, ids: "stream-token-", orFail: .streamTokenMalformed)

    private static func bearerOnce(
        _ kind: BloomreachCredentialKind, ids: String, orFail failure: BloomreachFailure
    ) -> [BloomreachRule] {
        BloomreachRule.bearerOnce(orFail: failure, ids: ids).map { rule in rule.when { $0.kind == kind } }
    }

    /// The public key may use the route. In a batch, each command is checked separately.
    private static let permission = BloomreachRule(
        "permission", "the permission that the route needs",
        "reference page on API access of the mobile SDKs; names ours", orFail: .noPermission
    ) { facts, finding in
        guard let key = facts.publicKey, let permission = facts.presented?.access.permission else { return nil }
        finding?.expected = .text(permission.rawValue)
        return finding.judge(.anyOf(key.permissions.map(\.rawValue).sorted()), key.permissions.contains(permission))
    }

    static let bindingRules = RuleList([
        TokenRule<BloomreachBinding>(
            "token-ids", expects: .text("the ids of the token"),
            source: "SDK page, retrieval policy; switch customer-token-binding; streams ours",
            orFail: [.customerTokenIDsMismatch, .streamTokenIDsMismatch], by: { Refused($0.failure) }
        ) { facts, finding in
            finding?.expected = .json(facts.owner.json)
            finding?.found = (facts.ids?.json).map(Fact.json)
            if facts.ids != nil { return facts.holds ? .passed : .failed }
            finding?.expected = nil
            finding?.found = .json(facts.owner.json)
            finding?.note = "The request names nobody, so the token does."
            finding?.source = "reference page on customer tokens"
            return .noted
        }
    ])
}

/// The ids of a token and of the request, and whether they agree.
struct BloomreachBinding: RuleFacts {
    typealias Failure = BloomreachFailure

    let owner: BloomreachIDs
    /// The ids of the request; `nil` if it names no customer.
    var ids: BloomreachIDs?
    var holds = true
    let isStream: Bool

    var compact: CompactToken? { nil }
    var failure: BloomreachFailure { isStream ? .streamTokenIDsMismatch : .customerTokenIDsMismatch }
}

/// A token's ids are compared with those of the request, whatever the stored records say. Nothing is remembered (ours),
/// since each request carries its ids: the ids sent with a token can make it invalid.
extension Call<Bloomreach> {
    /// Checks whether the token may speak for these ids.
    ///
    /// Source: the rule is documented (SDK page: a token belongs to the ids it was issued for); the comparison is ours.
    ///
    /// - Parameter isWrite: whether the call stores data under the ids, for which a stream may require a token.
    /// - Returns: the ids to use: those given, or the token's own for a reader or if the request names no customer.
    mutating func bind(_ ids: BloomreachIDs, isWrite: Bool = false) throws(Refused) -> BloomreachIDs {
        if isWrite { try checkPermission(of: .customerIDs, ids.names) }
        guard let owner = credentials.ids else { return ids }
        let isStream = credentials.isStream
        guard !ids.isEmpty else {
            if isWrite { try checkPermission(of: .customerIDs, owner.names) }
            findings.judge(BloomreachBinding(owner: owner, isStream: isStream), by: Bloomreach.bindingRules)
            return owner
        }
        let holds = isStream ? Self.agrees(owner, with: ids) : matches(owner, ids)
        try judge(holds, owner, ids)
        if isWrite || (!isStream && switches.customerTokenBinding == .off) { return ids }
        // A cookie alone proves nothing (ours): hard ids in the token determine whose data is read.
        return owner.hard.isEmpty ? ids : BloomreachIDs(hard: owner.hard)
    }

    /// Records whether the token belongs to the ids, and throws if not.
    mutating func judge(_ holds: Bool, _ owner: BloomreachIDs, _ ids: BloomreachIDs) throws(Refused) {
        let binding = BloomreachBinding(owner: owner, ids: ids, holds: holds, isStream: credentials.isStream)
        findings.judge(binding, by: Bloomreach.bindingRules)
        if !holds {
            let (own, named) = Lookalikes.distinguished(owner.json.text, ids.json.text)
            throw Refused(
                binding.failure,
                because: "the token belongs to \(own), the request names \(named); expected the same ids")
        }
    }

    /// Whether a customer token fits the ids of the request, according to switch `customer-token-binding`.
    private func matches(_ owner: BloomreachIDs, _ ids: BloomreachIDs) -> Bool {
        switch switches.customerTokenBinding {
        case .exact: ids.containsAll(of: owner) && owner.hard == ids.hard
        case .subset: ids.containsAll(of: owner)
        case .off: true
        }
    }

    /// Whether every id of the request that is also in the token has the same value.
    private static func agrees(_ owner: BloomreachIDs, with ids: BloomreachIDs) -> Bool {
        let cookies = [owner.cookie, ids.cookie].compactMap { $0 }
        return (cookies.count < 2 || cookies[0].hasSameBytes(as: cookies[1])) && ids.other(than: owner) == nil
    }

    /// Checks that the stream, if it is one, lets these names in. A private stream's secret counts like a token (ours).
    func checkPermission(of kind: BloomreachStreamPermissions.Kind, _ names: some Sequence<String>) throws(Refused) {
        guard let stream = credentials.stream else { return }
        let isSigned = credentials.token != nil || stream.isPrivate || stream.signingKeys.isEmpty
        for name in names {
            var refused: String { "\(stream.id) accepts \(kind.phrase) \(name.shown)" }
            let rule = stream.permissions.rule(for: name, kind)
            try Refused.require(
                rule != .deny, .streamPermissionDenied,
                "\(refused) from nobody; expected a name that its \(kind.rawValue) permissions allow")
            try Refused.require(
                rule == .allow || isSigned, .streamSignatureRequired,
                "\(refused) only with a token; expected Authorization: Bearer with one")
        }
    }
}
