import Emulation
import HTTPTypes
import JSON
import Synchronization
import Tokens

extension HTTPField.Name {
    /// The operator's key; it stands for the people who onboard and enroll (ours).
    static let operatorKey = Self("x-ims-operator-key") ?? .authorization
    /// The device to which a token id may be bound (ours).
    static let deviceID = Self("x-ims-device-id") ?? .authorization
}

extension IMS {
    /// The issuers, and the changed keys of dev issuers, used to find who signed instead.
    func authenticationContext(in state: State) -> (issuers: IMSIssuerStore, devKeys: [String: IssuerKeys]) {
        (state.issuers, state.devKeys)
    }

    func awaitedKeys(of credentials: IMSFacts) -> KeyRequirement? {
        if case .awaited(let requirement) = credentials.keys { requirement } else { nil }
    }

    func authenticate(_ arrival: Arrival<IMS>, _ findings: inout Findings<IMSFailure>) -> IMSFacts {
        let fields = arrival.request.fields
        switch arrival.route.access {
        case .open: return IMSFacts(IMSFacts.Presented(self, arrival.switches, at: arrival.moment))
        case .operator:
            let presented = IMSFacts.Operator(
                sent: fields[.operatorKey], authorization: fields.bytes(of: .authorization),
                query: arrival.request.credentialInQuery)
            let facts = IMSFacts(
                IMSFacts.Presented(self, arrival.switches, at: arrival.moment, operator: presented))
            findings.judge(facts, by: Self.operatorRules)
            return facts
        case .token, .user:
            if let report = arrival.keyFetch { findings.note(report.finding) }
            let bearer = BearerToken(fields, in: arrival.request)
            let judge = IMSTokenJudge(
                self, arrival.authenticationContext, arrival.switches, at: arrival.moment,
                asking: arrival.keyFetch == nil ? .allowed : .done, in: arrival.sandbox)
            return judge.judge(
                bearer.bytes.map { recentTokens.reading(of: $0, IMSToken.init(bytes:)) }, in: bearer, &findings)
        }
    }

    func keyFetchPolicy(_ switches: IMSSwitches) -> KeyFetchPolicy {
        KeyFetchPolicy(
            coolDown: .seconds(switches.coolDownSeconds), standardLifetime: .seconds(switches.standardLifetimeSeconds))
    }

    // MARK: - Checks that need the state

    func authorize(_ call: inout IMSCall, _ state: inout State) {
        switch call.route.access {
        case .open, .operator: return
        case .token, .user: break
        }
        var facts = call.credentials
        facts.isRefused = call.findings.failure != nil
        if facts.isGenuine, !facts.isRefused { facts.tokenUse = useTokenID(of: facts, call, &state) }
        if case .user = call.route.access { facts.findUser(in: state) }
        call.findings.judge(facts, by: Self.userRules)
    }

    /// Notes that a token was used, unless the request was refused earlier; a refused user has used it too.
    private func useTokenID(of facts: IMSFacts, _ call: IMSCall, _ state: inout State) -> IMSFacts.TokenUse? {
        guard let token = facts.token, let issuer = facts.issuer, issuer.record.replay != .off,
            let id = token.tokenID, let expiry = token.compact.date("exp").seconds()
        else { return nil }
        // Kept as long as the token is valid, including the leeway.
        let end = expiry + Double(issuer.expiryLeeway(call.switches))
        let device = call.request.fields[.deviceID] ?? ""
        let earlier = state.tokenUses.use(
            id, of: issuer.record.issuer, by: device, until: end, at: call.moment.unixSeconds)
        return earlier.map { .repeated(by: $0, now: device) } ?? .first
    }

    /// The likely intended user when no enterprise id in the tenant matches the subject.
    fileprivate static func namesake(
        of subject: String, in tenant: String, _ issuer: IMSIssuer, _ state: State
    ) -> String? {
        if let other = state.users.user(enterpriseID: subject) {
            return "\(other.id) of tenant \(other.tenant) has it; issuer \(issuer.record.name) belongs to tenant "
                + "\(tenant)."
        }
        let namesake =
            IMSUser.number(subject).flatMap { state.users[$0] }
            ?? state.users.user(of: tenant, .activationID, subject) ?? state.users.user(of: tenant, .email, subject)
        guard let user = namesake else { return nil }
        let known = user.enterpriseID.map { "has the enterprise id \($0)" } ?? "has no enterprise id yet"
        return "\(user.id) (activation id \(user.activationID), \(user.email)) \(known); sub is the enterprise id, no "
            + "other name."
    }

    /// A user to be enrolled, for whom a valid token vouches (ours); `nil` when another user has the email already.
    static func adopted(_ subject: String, in tenant: String, _ state: State) -> IMSUser? {
        let email = subject + "@adopted.invalid"
        let user = IMSUser(
            tenant: tenant, enterpriseID: subject, activationID: email, email: email, state: .active)
        let fits = subject.unicodeScalars.count <= IMSBody.longestText
        return fits && state.users.conflict(with: user) == nil ? user : nil
    }
}

extension IMSFacts {
    mutating func findUser(in state: IMSState) {
        guard let issuer, let name = token?.subject else { return }
        var subject = Subject(tenant: issuer.record.tenant, name: name)
        if let user = state.users.user(of: subject.tenant, .enterpriseID, name) {
            subject.user = (user.number, user.state)
        } else {
            subject.isAdopted = switches.unknownUser == .adopt && IMS.adopted(name, in: subject.tenant, state) != nil
            subject.namesake = IMS.namesake(of: name, in: subject.tenant, issuer, state)
        }
        self.subject = subject
    }
}

extension IMS {
    typealias UserHandler = @Sendable (inout IMSCall, IMSUser, inout IMSState) throws(Refused) -> Reply

    /// A route's handler that finds the token's user, whom authorization found or allowed to be adopted.
    static func forUser(_ handler: @escaping UserHandler) -> Handler {
        { (call, state) throws(Refused) in
            let (tenant, subject) = try call.subject()
            if let user = state.users.user(of: tenant, .enterpriseID, subject) {
                return try handler(&call, user, &state)
            }
            guard let newcomer = adopted(subject, in: tenant, state) else { throw Refused(.userUnknown) }
            // The handler may still refuse; then the user is not enrolled.
            var next = state
            let user = next.users.enroll(newcomer, call.identifiers, at: call.moment)
            let reply = try handler(&call, user, &next)
            state = next
            return reply
        }
    }
}

extension Call<IMS> {
    func subject() throws(IMS.Refused) -> (tenant: String, subject: String) {
        guard let subject = credentials.token?.subject, let issuer = credentials.issuer else {
            throw Refused(.tokenMissing, because: "nobody was authorized; expected a token")
        }
        return (issuer.record.tenant, subject)
    }
}

/// What a request presents, and what IMS's rules check.
struct IMSFacts: RuleFacts {
    typealias Failure = IMSFailure

    enum Keys {
        /// Nothing, since the issuer is unknown.
        case none
        /// They must be fetched before the token can be judged.
        case awaited(KeyRequirement)
        case unavailable(String, note: String = "The next attempt must wait for the cool-down.")
        /// They have not been requested.
        case unfetched
        /// The token must name its key, but does not.
        case unnamed(String)
        /// The issuer has no key with that name.
        case unknown
        case some(IMSKeyRing.Candidates)
    }

    enum TokenUse {
        case unknown
        /// By a device; whether this is a replay depends on the device that uses it now.
        case first
        case repeated(by: String, now: String)
    }

    /// The user that the token names.
    struct Subject {
        let tenant: String
        let name: String
        /// The user's number and state; `nil` for an unknown user.
        var user: (number: Int, state: IMSUser.State)?
        /// Whether an unknown user gets enrolled.
        var isAdopted = false
        /// The user who may be meant instead.
        var namesake: String?
    }

    struct Operator {
        let sent: String?
        let authorization: ArraySlice<UInt8>?
        /// The credential that stands in the query, in words.
        let query: String
    }

    /// What is known before the first rule judges.
    ///
    /// An object, since a call copies its facts several times, and each copy would count every reference in it.
    final class Presented: Sendable {
        let switches: IMSSwitches
        let moment: Moment
        /// The key of the people who onboard and enroll.
        let operatorKey: String
        let bearer: BearerToken?
        let token: IMSToken?
        let issuer: IMSIssuer?
        /// Whether an HMAC was made with the issuer's public key as its secret.
        let isSignedBySecret: Bool
        let `operator`: Operator?

        init(
            _ vendor: IMS, _ switches: IMSSwitches, at moment: Moment, bearer: BearerToken? = nil,
            token: IMSToken? = nil, issuer: IMSIssuer? = nil, isSignedBySecret: Bool = false,
            operator: Operator? = nil
        ) {
            (operatorKey, self.switches, self.moment) = (vendor.accounts.operatorKey, switches, moment)
            (self.bearer, self.token, self.issuer) = (bearer, token, issuer)
            (self.isSignedBySecret, self.operator) = (isSignedBySecret, `operator`)
        }
    }

    private let presented: Presented
    /// Needed only to explain failures; released if there are none.
    private(set) var judge: IMSTokenJudge?

    /// Whether a rule failed before the key search, so that nothing looks for the signer.
    var isRefused = false
    var keys = Keys.none
    /// Whether a key of the issuer made the signature. Otherwise the token may be forged.
    var isGenuine = false
    /// The owner of the key that made the signature instead, if that is the reason for a refusal.
    var otherSigner: IMSTokenJudge.Signer?
    var tokenUse: TokenUse?
    var subject: Subject?

    var switches: IMSSwitches { presented.switches }
    var moment: Moment { presented.moment }
    var operatorKey: String { presented.operatorKey }
    var bearer: BearerToken? { presented.bearer }
    var token: IMSToken? { presented.token }
    var issuer: IMSIssuer? { presented.issuer }
    var isSignedBySecret: Bool { presented.isSignedBySecret }
    var `operator`: Operator? { presented.operator }
    var compact: CompactToken? { token?.compact }

    init(_ presented: Presented, judge: IMSTokenJudge? = nil) { (self.presented, self.judge) = (presented, judge) }

    mutating func dropExplanations() { judge = nil }
}

/// A token as IMS reads it; its members are unverified.
final class IMSToken: Sendable {
    let compact: CompactToken
    /// The `iss`; `nil` when absent, empty or not a string.
    let issuer: String?
    /// The `sub`; `nil` when absent, empty or not a string.
    let subject: String?
    /// The header's `kid`; `nil` when absent or not a string.
    let keyID: String?
    /// The `jti`; `nil` when absent, empty or not a string.
    let tokenID: String?
    /// The claim that serves as the start of the token's life; `nil` without `nbf` and `iat`.
    let beginning: String?
    /// The header's `alg` if it names an algorithm with a shared secret.
    let secretAlgorithm: Algorithm?
    // One slot, since nearly every token meets one issuer with one ring only.
    private let verification = Mutex<(ring: IMSKeyRing, places: [Int], outcome: Finding.Outcome)?>(nil)

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
        let compact = CompactToken(bytes: bytes)
        self.compact = compact
        let (header, claims) = (compact.header, compact.claims)
        issuer = Self.text(claims?["iss"])
        subject = Self.text(claims?["sub"])
        keyID = header?["kid"]?.string
        tokenID = Self.text(claims?["jti"])
        beginning = Self.beginning(of: compact)
        secretAlgorithm = compact.namedAlgorithm(among: Self.symmetric)
    }

    private static let symmetric = Algorithm.allCases.filter { $0.family == .hmac }

    /// The claim that serves as the start of a token's life.
    static func beginning(of token: CompactToken) -> String? {
        token.claims?.present("nbf") != nil ? "nbf" : token.claims?.present("iat") != nil ? "iat" : nil
    }

    private static func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    /// Whether one of these keys made the signature; computed once, since it depends on nothing else.
    func signature(by ring: IMSKeyRing, at places: [Int], _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil,
            let known = verification.withLock({ $0?.ring === ring && $0?.places == places ? $0?.outcome : nil })
        {
            return known
        }
        var outcome = Finding.Outcome.notJudged
        for place in places where outcome != .passed {
            finding?.found = nil
            finding?.note = nil
            outcome = compact.signature(by: ring.keys[place], algorithm: .rs256, &finding)
        }
        if finding == nil { verification.withLock { $0 = (ring, places, outcome) } }
        return outcome
    }
}
