import Emulation
import JSON
import Tokens

/// Tokens on demand: the app's answer to a challenge, and the token of a session.
extension Comapi {
    private enum AppDefect: String, CaseIterable {
        case base64Secret = "secret-base64-text"
        case latinSecret = "secret-latin-1"
        case trimmedSecret = "secret-trimmed"
        case otherSecret = "secret-of-another-space"
        case criticalHeader = "unsupported-critical-header"
        case otherNonce = "nonce-mismatch"
        case usedNonce = "nonce-reused"
        case otherIssuer = "wrong-issuer"
        case otherAudience = "wrong-audience"
        case noUser = "missing-user-id"
        case malformedTime = "malformed-time"
        case expiryInMilliseconds = "milliseconds-exp"
        case issueInMilliseconds = "milliseconds-iat"
    }

    private enum SessionDefect: String, CaseIterable {
        case otherSpace = "session-other-space"
        case ended = "session-ended"
        case unknown = "session-unknown"
    }

    static let tokenKinds = [
        TokenKind(
            name: "app", about: "answers a challenge, as the app's own JWT",
            members: [
                ("space", "id of the API space; by default the first one"), ("user", "the user's id; by default mira"),
                ("authenticationId", "the challenge whose nonce it carries"),
                ("nonce", "the nonce; by default that of the newest open challenge"),
                ("expires_in", "seconds from now to exp; by default 86400"),
            ], defects: AppDefect.allCases.map(\.rawValue)),
        TokenKind(
            name: "session", about: "opens everything but the challenge, as session.create returns it",
            members: [
                ("space", "id of the API space; by default the first one"),
                ("profile", "the user's id; by default mira"),
                ("session", "the session's id; by default the user's newest one, or else one that the token begins"),
                ("expires_in", "seconds from now to exp; by default those of the session"),
            ], defects: SessionDefect.allCases.map(\.rawValue)),
    ]

    static let sampleUser = "mira"

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Comapi>) throws(ControlRefusal) -> String {
        let space = try accounts.space(named: try order.string("space"))
        return order.kind == "app"
            ? try mintAppToken(&order, of: space, in: setting)
            : try mintSessionToken(&order, of: space, in: setting)
    }

    private func other(than space: ComapiSpace) throws(ControlRefusal) -> ComapiSpace {
        guard let other = accounts.spaces.first(where: { $0.secret.text != space.secret.text && $0.id != space.id })
        else { throw ControlRefusal("there is no other API space") }
        return other
    }

    // MARK: The app's token

    private func mintAppToken(
        _ order: inout MintRequest, of space: ComapiSpace, in setting: TokenSetting<Comapi>
    ) throws(ControlRefusal) -> String {
        let now = setting.moment.wholeSeconds
        let nonce = try nonce(&order, of: space, in: setting)
        let draft = TokenDraft(
            header: ["alg": "HS256", "typ": "JWT"],
            claims: [
                space.idClaim: .string(try order.string("user") ?? Self.sampleUser), "nonce": .string(nonce),
                "aud": .string(space.audience), "iss": .string(space.issuer), "iat": JSON(now),
                "exp": JSON(try Self.end(now, try order.int("expires_in") ?? 86_400)),
            ])
        return try order.mint(
            UnsignedToken(draft, by: space.secret), at: setting.moment,
            own: AppDefect.init(rawValue:)
        ) { (defect, token) throws(ControlRefusal) in try apply(defect, to: &token, of: space, in: setting) }
    }

    /// The second in which a token made now ends.
    private static func end(_ now: Int, _ lifetime: Int) throws(ControlRefusal) -> Int {
        let (end, isOverflow) = now.addingReportingOverflow(lifetime)
        if isOverflow { throw ControlRefusal("expires_in is \(lifetime); expected seconds that a clock can show") }
        return end
    }

    private func nonce(
        _ order: inout MintRequest, of space: ComapiSpace, in setting: TokenSetting<Comapi>
    ) throws(ControlRefusal) -> String {
        let id = try order.string("authenticationId")
        if let nonce = try order.string("nonce") { return nonce }
        if let id {
            guard let challenge = setting.state.challenges[id], challenge.space == space.id else {
                throw ControlRefusal("no challenge of API space \(space.id.text) has the id \(id)")
            }
            return challenge.nonce
        }
        let open = setting.state.challenges.all.last { $0.space == space.id && $0.answeredBy == nil }
        return open?.nonce ?? "nonce-of-no-challenge"
    }

    private func apply(
        _ defect: AppDefect, to token: inout UnsignedToken, of space: ComapiSpace, in setting: TokenSetting<Comapi>
    ) throws(ControlRefusal) {
        switch defect {
        // As the vendor's Android sample encodes the secret.
        case .base64Secret: token.key = try key(Array(Base64.encode(Array(space.secret.text.utf8)).utf8))
        case .latinSecret: token.key = try key(try Self.latin1(space.secret.text))
        case .trimmedSecret: token.key = try key(Array((space.secret.text + "\n").utf8))
        case .otherSecret: token.key = try other(than: space).secret.signing
        case .criticalHeader: token.content.header["crit"] = ["exp"]
        case .otherNonce: token.content.claims["nonce"] = "another-nonce"
        case .usedNonce:
            guard let old = setting.state.challenges.all.last(where: { $0.answeredBy != nil && $0.space == space.id })
            else { throw ControlRefusal("no challenge of API space \(space.id.text) was answered yet") }
            token.content.claims["nonce"] = .string(old.nonce)
        case .otherIssuer: token.content.claims["iss"] = .string(space.issuer + "/")
        case .otherAudience: token.content.claims["aud"] = .string(space.audience + "/")
        case .noUser: token.content.claims[space.idClaim] = nil
        case .malformedTime: token.content.claims["exp"] = "soon"
        case .expiryInMilliseconds: try Self.countMilliseconds("exp", in: &token.content)
        case .issueInMilliseconds: try Self.countMilliseconds("iat", in: &token.content)
        }
    }

    private static func countMilliseconds(_ name: String, in draft: inout TokenDraft) throws(ControlRefusal) {
        guard let seconds = draft.claims[name]?.number?.double, abs(seconds) < 1e12 else {
            throw ControlRefusal("the token has no \(name) that is a number")
        }
        draft.claims[name] = .number(JSONNumber((seconds * 1000).rounded()))
    }

    private static func latin1(_ secret: String) throws(ControlRefusal) -> [UInt8] {
        let bytes = secret.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        guard bytes.count == secret.unicodeScalars.count, bytes.count != secret.utf8.count else {
            throw ControlRefusal("the shared secret has no characters from U+0080 to U+00FF, or others beyond them")
        }
        return bytes
    }

    private func key(_ bytes: [UInt8]) throws(ControlRefusal) -> SigningKey {
        try ControlRefusal.wording { try SigningKey.secret(bytes) }
    }
}

// MARK: - A session's token

extension Comapi {
    private func mintSessionToken(
        _ order: inout MintRequest, of space: ComapiSpace, in setting: TokenSetting<Comapi>
    ) throws(ControlRefusal) -> String {
        let profile = ComapiID(try order.string("profile") ?? Self.sampleUser)
        let sessionID = try order.string("session")
        let lifetime = try order.int("expires_in")
        var draft = try sessionDraft(profile, sessionID, lifetime, of: space, in: setting)
        let defect = try order.finish(&draft)
        let key = sessionKeys.issuingKey(of: space, in: setting.sandbox)
        switch defect.flatMap(SessionDefect.init(rawValue:)) {
        case .otherSpace: draft.claims["apiSpaceId"] = try other(than: space).id.json
        case .unknown:
            draft.claims["minted"] = nil
            draft.claims["jti"] = "unknown-session"
            draft.claims["boot"] = .string(setting.sandbox.start)
        case .ended:
            let ended = try ControlRefusal.require(
                setting.state.sessions.ended.reversed().first(where: { $0.space == space.id }),
                "no session was ended yet in API space \(space.id.text)")
            draft.claims["jti"] = ended.local.json
        case nil:
            guard let defect else { break }
            var token = UnsignedToken(draft, key: key, algorithm: .hs256)
            token.defect = defect
            return try token.signed(at: setting.moment)
        }
        return try ControlRefusal.wording { try draft.sessionToken(by: key) }
    }

    /// The token of an existing session, or of one that begins when the token is first used (ours).
    private func sessionDraft(
        _ profile: ComapiID, _ id: String?, _ lifetime: Int?, of space: ComapiSpace, in setting: TokenSetting<Comapi>
    ) throws(ControlRefusal) -> TokenDraft {
        let (state, now) = (setting.state, setting.moment.wholeSeconds)
        let named = id.map { ComapiSessionID($0, in: space.id) }
        let known = named.map { state.sessions[$0] } ?? state.sessions.sessions(of: profile, in: space.id).last
        if let known {
            try ControlRefusal.require(
                known.profileID == profile,
                "session \(known.id.text) is that of \(known.profileID.text), not \(profile.text)")
            return .session(
                known.id.text, of: profile, in: space, issued: known.started.wholeSeconds,
                expires: try lifetime.map { value throws(ControlRefusal) in try Self.end(now, value) }
                    ?? known.expires.wholeSeconds, start: setting.sandbox.start)
        }
        return .session(
            id ?? "minted-\(space.id.text)-\(profile.text)", of: profile, in: space, issued: now,
            expires: try Self.end(now, lifetime ?? setting.switches.sessionLifetimeSeconds),
            start: setting.sandbox.start, mintMark: state.mintMark)
    }

    func keys(for token: CompactToken, in setting: TokenSetting<Comapi>) -> [SigningKey] {
        let space = (token.claims?["apiSpaceId"]).flatMap { accounts.space($0.string ?? $0.text) }
        return space.map { [sessionKeys.key(of: $0, in: setting.sandbox)] } ?? []
    }

    // MARK: Samples

    /// Spaces share their secrets with the apps; there are no published keys.
    var secretKeys: [SecretKey] { accounts.spaces.map(\.secret) }

    var secretTexts: [String] {
        (accounts.spaces + accounts.templates).flatMap { [$0.secret.text, $0.sessionSecret.text] }
    }

    var samples: [(label: String, value: String)] {
        accounts.spaces.map { (label: "API space of account \($0.accountID), id", value: $0.id.text) }
            + accounts.templates.map {
                (label: "API spaces of account \($0.accountID), ids that begin with", value: $0.id.text)
            } + [(label: "ID claim of the first space", value: accounts.spaces[0].idClaim)]
    }

    func sampleRequest(in setting: TokenSetting<Comapi>) throws(ControlRefusal) -> SampleRequest {
        let space = accounts.spaces[0].path
        return SampleRequest(endpoint: .get("\(space)/sessions/start"), refusedAt: .get("\(space)/profiles"))
    }
}

extension Comapi {
    static let requestFacts: [(name: String, about: String)] = [
        ("space", "the id of the API space in the path"), ("authenticationId", "the challenge that is answered"),
        ("nonce", "the nonce of the challenge"),
    ]

    /// Judges a token without its request: a session's token by its claim `apiSpaceId`, any other as the app's.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        let token = ComapiSessionToken(text)
        let named = context["space"]?.string.flatMap(accounts.space)
        return token.spaceID == nil
            ? explainApp(token.compact, named, context, setting, &findings)
            : explainSession(token, named, setting, &findings)
    }

    private func explainSession(
        _ token: ComapiSessionToken, _ named: ComapiSpace?, _ setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        var facts = ComapiSessionFacts(self, setting.switches, in: setting.sandbox, at: setting.moment)
        let own = token.spaceID.flatMap { accounts.space($0.text) }
        guard let space = named ?? own else {
            facts.spaceID = token.spaceID?.text
            facts.isAlone = true
            findings.judge(facts, by: Self.callRules)
            return ("session", nil)
        }
        facts.take(token, of: space)
        findings.judge(facts, by: Self.callRules)
        if findings.failure == nil {
            facts.findSession(in: setting.state)
            findings.judge(facts, by: Self.sessionRules)
        }
        let signer = own.flatMap { own in
            let key = sessionKeys.key(of: own, in: setting.sandbox).verificationKey
            return token.compact.isSigned(by: key, algorithm: .hs256) ? own : nil
        }
        return ("session", signer?.secret.owner)
    }

    private func explainApp(
        _ token: CompactToken, _ named: ComapiSpace?, _ context: JSONObject, _ setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        let signer = accounts.spaces.first { token.isSigned(by: $0.secret) }
        let space = named ?? signer ?? likelySpace(of: token)
        var facts = ComapiAppFacts(
            switches: setting.switches, moment: setting.moment, space: space, spaces: accounts.spaces,
            token: ComapiAppToken(token.text, of: space))
        let challenge = context["authenticationId"]?.string.flatMap { setting.state.challenges[$0] }
        facts.expectedNonce = challenge?.nonce ?? context["nonce"]?.string
        findings.judge(facts, by: Self.appRules)
        return (token.claims == nil ? nil : "app", signer?.secret.owner)
    }

    /// The space whose secret, used wrongly, explains the signature; otherwise the one whose settings match the claims.
    private func likelySpace(of token: CompactToken) -> ComapiSpace {
        let mistaken = accounts.spaces.first { token.mistake(with: $0.secret) { [] } != nil }
        let named = accounts.spaces.first { space in
            token.claims?["iss"]?.string == space.issuer && token.claims?["aud"]?.string == space.audience
        }
        return mistaken ?? named ?? accounts.spaces[0]
    }
}

/// The mistake with the shared secret that explains an invalid signature.
///
/// Source: that the key is the text's UTF-8 bytes is documented, JWT page; the names are ours.
struct ComapiSecretMistake: Sendable {
    let failure: ComapiFailure
    let description: String

    static let failures: [ComapiFailure] = [
        .secretHexDecoded, .secretBase64Decoded, .secretBase64Text, .secretLatin1, .secretTrimmed,
        .secretOfAnotherSpace,
    ]

    init(_ diagnosis: SignatureDiagnosis) {
        failure =
            switch diagnosis {
            case .secretHexDecoded: .secretHexDecoded
            case .secretBase64Decoded: .secretBase64Decoded
            case .secretBase64Text: .secretBase64Text
            case .secretLatin1: .secretLatin1
            case .secretTrimmed, .secretExtended, .secretUnpadded: .secretTrimmed
            case .secretOfAnother: .secretOfAnotherSpace
            }
        let advice = diagnosis == .secretHexDecoded ? " With jsrsasign pass `{utf8: secret}`." : ""
        description = diagnosis.description.replacing("the secret", with: "the shared secret") + advice
    }
}
