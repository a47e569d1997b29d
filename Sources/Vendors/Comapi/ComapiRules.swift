import Emulation
import JSON
import Synchronization
import Tokens

/// What the rules check about a call and its session token.
struct ComapiSessionFacts: RuleFacts {
    typealias Failure = ComapiFailure

    /// What a sandbox knows about the session of a token.
    struct Standing {
        let id: String
        /// When the session ends; `nil` if no session with this id and profile is open.
        let expires: Moment?
        /// The user whose session has this id.
        let holder: String?
        let isEnded: Bool
        /// Whether another run of the program may have begun it, or a control call minted its token.
        let isAdoptable: Bool
        /// Whether the sandbox adopts sessions of earlier runs, which it does until its first reset.
        let adoptsEarlier: Bool
    }

    let switches: ComapiSwitches
    let moment: Moment
    let sandbox: SandboxIdentity
    /// Only explains failures; dropped if there are none.
    private(set) var vendor: Comapi?

    var bearer: BearerToken?
    /// Whether the token comes without its request.
    var isAlone = false
    /// Whether the path contains an encoded question mark, as only some clients send it.
    var hasEncodedQuery = false
    /// The id of the space as given; `nil` if not required.
    var spaceID: String?
    var space: ComapiSpace?
    var needsToken = false
    var token: ComapiSessionToken?
    var key: VerificationKey?
    var standing: Standing?

    var compact: CompactToken? { token?.compact }

    init(_ vendor: Comapi, _ switches: ComapiSwitches, in sandbox: SandboxIdentity, at moment: Moment) {
        (self.vendor, self.switches, self.sandbox, self.moment) = (vendor, switches, sandbox, moment)
    }

    mutating func dropExplanations() { vendor = nil }

    mutating func take(_ token: ComapiSessionToken, of space: ComapiSpace) {
        (self.token, self.space) = (token, space)
        key = vendor?.sessionKeys.key(of: space, in: sandbox).verificationKey
    }

    mutating func findSession(in state: ComapiState) {
        guard let token, let id = sessionID else { return }
        let namesake = state.sessions[id]
        let known = namesake.flatMap { $0.profileID == token.profileID ? $0 : nil }
        standing = Standing(
            id: id.text, expires: known?.expires, holder: namesake?.profileID.text,
            isEnded: state.sessions.ended.contains(id),
            isAdoptable: namesake == nil && isAdoptable(token, id, state), adoptsEarlier: state.adoptsEarlierSessions)
    }

    private func isAdoptable(_ token: ComapiSessionToken, _ id: ComapiSessionID, _ state: ComapiState) -> Bool {
        if let mark = token.mintMark, token.start == sandbox.start { return mark == state.mintMark }
        // With a seed all runs have the same name; sessions this run has forgotten are then recognized by id.
        let isEarlier = token.start != sandbox.start || sandbox.isSeeded && !state.sessions.forgotten.contains(id)
        return switches.adoptsEarlierSessions && state.adoptsEarlierSessions && isEarlier
    }

    private var sessionID: ComapiSessionID? {
        guard let token, let space else { return nil }
        return ComapiSessionID(token.sessionID, in: space.id)
    }

    /// The session as its token describes it, if it may be adopted.
    var adopted: ComapiSession? {
        guard let token, let id = sessionID, let standing, standing.isAdoptable, !standing.isEnded else { return nil }
        return ComapiSession(
            id: id, profileID: token.profileID, started: token.moment(of: "iat") ?? moment,
            expires: token.moment(of: "exp") ?? moment)
    }
}

/// The rules for calls and session tokens. Statuses are observed, JS and Android SDK; names and order are ours.
extension Comapi {
    private typealias Rule = TokenRule<ComapiSessionFacts>

    static let recordChecks = ["space", "session-known", "challenge-known"]
    static let historyChecks = ["session-open", "challenge-unanswered"]
    static let keyChecks = ["signature"]
    static let accountChecks = ["issuer", "audience"]

    static var rules: [RuleListing] {
        callRules.listing(of: identity.id, about: "call and token of a session")
            + sessionRules.listing(of: identity.id, about: "session")
            + appRules.listing(of: identity.id, about: "app's own token")
    }

    /// Checks that need no state: form, space, signature, claims and end of a session's token, in this order.
    static let callRules = RuleList(
        [encodedQuery, spaceKnown, tokenThere] + Rule.bearerOnce(orFail: .sessionMalformed)
            + Rule.structure(orFail: .sessionMalformed) + [
                tokenSpace, Rule(.algorithm(is: .hs256, source: "ours"), .ours, orFail: .sessionForged), signature,
                Rule(.claim("apiSpaceId", is: .nonEmptyString, source: "JS SDK"), .observed, orFail: .sessionForged),
                Rule(
                    .claim("sub", is: .nonEmptyString, source: "mock of the JS SDK"), .observed, orFail: .sessionForged),
                Rule(.claim("jti", is: .nonEmptyString, source: "ours"), .ours, orFail: .sessionForged),
                Rule(.claim("boot", is: .nonEmptyString, source: "ours"), .ours, orFail: .sessionForged),
                Rule(.claim("exp", is: .number, source: "JS SDK"), .observed, orFail: .sessionForged),
                Rule(
                    "expiry", "exp later than now", "ours: no leeway, refused from expiresOn on", .ours,
                    orFail: .sessionExpired
                ) { facts, finding in facts.compact?.expiry(at: facts.moment.unixSeconds, &finding) },
            ])

    private static let encodedQuery = Rule(
        "encoded-question-mark", "/profiles?QUERY", "iOS SDK; switch accepts-encoded-query", .observed,
        orFail: .routeNotFound
    ) { facts, finding in
        guard facts.hasEncodedQuery else { return nil }
        finding?.found = .text("a question mark that is a part of the path")
        return facts.switches.acceptsEncodedQuery ? .noted : .failed
    }

    private static let spaceKnown = Rule(
        "space", expects: .text("the id of a configured API space"), source: "ours", .ours,
        orFail: [.unknownSpace, .sessionOtherSpace], by: { Refused($0.isAlone ? .sessionOtherSpace : .unknownSpace) }
    ) { facts, finding in
        guard let id = facts.spaceID else { return nil }
        finding?.found = .text(id)
        if facts.space != nil { return .passed }
        if !facts.isAlone, let known = facts.vendor?.knownSpaces {
            finding?.note = "Spaces are listed in accounts.yaml\(Nearest.hint(to: id, among: known))"
        }
        return .failed
    }

    private static let tokenThere = Rule(
        "session-present", expects: .text(BearerToken.form), source: "all SDKs", .observed, orFail: .sessionMissing
    ) { facts, finding in
        guard facts.needsToken else { return nil }
        return facts.token == nil ? facts.bearer?.presence(&finding) : .passed
    }

    private static let tokenSpace = Rule(
        "session-space", "the API space of the path", "ours: each space has its own key", .ours,
        orFail: .sessionOtherSpace
    ) { facts, finding in
        guard let token = facts.token, let space = facts.space else { return nil }
        finding?.expected = .text(space.id.text)
        finding?.found = token.spaceID.map { .text($0.text) } ?? .absent
        guard let id = token.spaceID else { return .notJudged }
        if id == space.id { return .passed }
        finding?.note = "The token belongs to a session of another API space than the path."
        return .failed
    }

    private static let signature = Rule(
        "signature", "HS256 by the session key of the space in this sandbox", "ours", .ours, orFail: .sessionForged
    ) { facts, finding in
        guard let token = facts.token, let key = facts.key else { return nil }
        let outcome = token.compact.signature(by: key, algorithm: .hs256, &finding)
        if outcome == .failed, finding != nil, let mistake = facts.mistake { finding?.note = mistake }
        return outcome
    }

    // MARK: The session

    /// Whether the session of a token is known, in the order of checking.
    static let sessionRules = RuleList([
        Rule("session-in-time", "a session that has not expired", "ours", .ours, orFail: .sessionExpired) {
            facts, finding in
            guard let expires = facts.standing?.expires, expires <= facts.moment else { return nil }
            finding?.expected = .timeAfter(facts.moment.unixSeconds)
            finding?.found = .time(expires.unixSeconds)
            finding?.note = "An action has expired it."
            return .failed
        },
        Rule("session-open", "a session that was not ended", "ours", .ours, orFail: .sessionEnded) { facts, finding in
            guard let standing = facts.standing else { return nil }
            guard standing.isEnded else { return .passed }
            finding?.found = .text("session \(standing.id) of \(facts.token?.profileID.text ?? ""), which was ended")
            return .failed
        },
        Rule(
            "session-known", "a session of this sandbox", "ours; switch adopts-earlier-sessions", .ours,
            orFail: .sessionUnknown
        ) { facts, finding in
            guard let standing = facts.standing else { return nil }
            finding?.found = .text(standing.id)
            if standing.expires != nil { return .passed }
            finding?.note = facts.note(on: standing)
            return standing.isAdoptable ? .noted : standing.isEnded ? .notJudged : .failed
        },
    ])
}

extension ComapiSessionFacts {
    fileprivate func note(on standing: Standing) -> String {
        if standing.isAdoptable {
            return token?.mintMark == nil
                ? "An earlier start of the program began it; it is adopted."
                : "The token was minted; the session begins."
        }
        if let holder = standing.holder { return "The session is that of \(holder)." }
        if token?.start == sandbox.start, standing.adoptsEarlier || !sandbox.isSeeded {
            return "This start of the program began it and has forgotten it."
        }
        return standing.adoptsEarlier
            ? "Switch adopts-earlier-sessions is off." : "The sandbox was reset, so earlier sessions have ended."
    }

    fileprivate var mistake: String? {
        guard let token, let space, let vendor else { return nil }
        if token.spaceID == nil, token.compact.claims?["nonce"] != nil {
            return
                "This looks like the app's own JWT; it answers a challenge, and the token of the answer is sent here."
        }
        if let name = vendor.sessionKeys.issuer(of: token.compact, for: space) {
            return
                "The signature matches a session of sandbox \(name): the request came to a sandbox other than the token's."
        }
        guard token.compact.isSigned(by: space.secret) else { return nil }
        return "The signature matches the shared secret of the API space, which signs the app's own JWT only."
    }
}

/// A session's token as presented; its members are not yet verified.
final class ComapiSessionToken: Sendable {
    let compact: CompactToken
    /// `nil` if the claim is absent, as in an app's token.
    let spaceID: ComapiID?
    let sessionID: String
    let profileID: ComapiID
    let start: String
    /// The mark of tokens minted by a control call.
    let mintMark: String?

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        spaceID = claims?["apiSpaceId"]?.string.map { ComapiID($0) }
        sessionID = claims?["jti"]?.string ?? ""
        profileID = ComapiID(claims?["sub"]?.string ?? "")
        start = claims?["boot"]?.string ?? ""
        mintMark = claims?["minted"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    func moment(of claim: String) -> Moment? { compact.date(claim).seconds().map { Moment(unixSeconds: $0) } }
}

// MARK: - Issuing

extension TokenDraft {
    /// A session's token, with times in whole Unix seconds.
    ///
    /// Source: `apiSpaceId`, `iat`, `exp`, `sub`, `iss`, `aud` are observed, JS SDK and its mock; `jti`, `boot` are
    /// ours.
    static func session(
        _ id: String, of profile: ComapiID, in space: ComapiSpace, issued: Int, expires: Int, start: String,
        mintMark: String? = nil
    ) -> TokenDraft {
        var claims: JSONObject = [
            "apiSpaceId": space.id.json, "iat": JSON(issued), "exp": JSON(expires), "sub": profile.json,
            "iss": .string(space.issuer), "aud": .string(space.audience), "jti": .string(id), "boot": .string(start),
        ]
        if let mintMark { claims["minted"] = .string(mintMark) }
        return TokenDraft(header: ["alg": "HS256", "typ": "JWT"], claims: claims)
    }

    /// Signs a session's token in a form that the JS SDK can read.
    ///
    /// That SDK decodes the payload with `atob`, which rejects `-` and `_` (observed); so whatever could produce them
    /// is escaped in the JSON.
    func sessionToken(by key: SigningKey) throws(KeyError) -> String {
        let payload = Self.escaped(JSON.object(claims).bytes)
        let input = Base64URL.encode(JSON.object(header).bytes) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs256))
    }

    /// JSON text with `>`, `?`, `~`, DEL and all non-ASCII characters as `\uXXXX`; they occur only in strings.
    static func escaped(_ json: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count)
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            switch unit {
            case 0x3E, 0x3F, 0x7E, 0x7F...:
                let digits = String(unit, radix: 16)
                bytes += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.utf8.count)
                bytes += Array(digits.utf8)
            default: bytes.append(UInt8(truncatingIfNeeded: unit))
            }
        }
        return bytes
    }
}

// MARK: - Keys

/// The keys of session tokens: one for each space of each sandbox, derived from the space's session secret (ours).
///
/// The secret comes from the fixtures, so a token survives a restart, as clients that store theirs expect.
final class ComapiSessionKeys: Sendable {
    private let known = RecentReadings<SigningKey>()
    /// The sandboxes that issued tokens, the latest last.
    private let issuers = Mutex<[String]>([])
    /// ours: the maximum number to try when explaining a token from another sandbox.
    private static let mostIssuers = 64

    func issuingKey(of space: ComapiSpace, in sandbox: SandboxIdentity) -> SigningKey {
        issuers.withLock { names in
            if names.last == sandbox.name { return }
            names.removeAll { $0 == sandbox.name }
            names.append(sandbox.name)
            if names.count > Self.mostIssuers { names.removeFirst() }
        }
        return key(of: space, in: sandbox)
    }

    /// The sandbox that issued a token; `nil` if none of the latest did.
    func issuer(of token: CompactToken, for space: ComapiSpace) -> String? {
        issuers.withLock { $0 }.last { name in
            let key = key(of: space, in: SandboxIdentity(name: name, start: ""))
            return token.isSigned(by: key.verificationKey, algorithm: .hs256)
        }
    }

    /// The key of a space in a sandbox: HMAC-SHA-256 of sandbox name, LF and space id with the session secret as key.
    func key(of space: ComapiSpace, in sandbox: SandboxIdentity) -> SigningKey {
        // Recent readings hash the ends of long texts, so the sandbox goes last: there are more of them than spaces.
        let place = Array("\(space.id.text)\n\(sandbox.name)".utf8)
        return known.reading(of: place[...]) { _ in
            do {
                let name = Array("\(sandbox.name)\n\(space.id.text)".utf8)
                return try SigningKey.secret(try space.sessionSecret.signing.sign(name, algorithm: .hs256))
            } catch {
                // HMAC accepts any key and text; if it ever failed, the fixtures' own key would still sign and verify.
                return space.sessionSecret.signing
            }
        }
    }
}
