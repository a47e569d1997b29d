import Emulation
import JSON
import Tokens
import Wire

struct ComapiCredentials: Sendable {
    /// The space of the path, if configured.
    var space: ComapiSpace?
    var session: ComapiSessionToken?
    var answer: ComapiChallengeAnswer?
    /// The upload, parsed here so that megabytes are not parsed while the state is locked.
    var upload: Result<ComapiUpload, Comapi.Refused>?
}

/// A challenge's answer: the body of `session.create`, and the app's token in it.
struct ComapiChallengeAnswer: Sendable {
    /// Why the body cannot be used.
    let refusal: Comapi.Refused?
    let body: JSONObject?
    let authenticationID: String?
    /// `nil` if the body has none.
    let token: ComapiAppToken?
}

// MARK: - Checks without state

extension Comapi {
    func token(of credentials: ComapiCredentials) -> CompactToken? {
        credentials.session?.compact ?? credentials.answer?.token?.compact
    }

    func authenticate(_ arrival: ComapiArrival, _ findings: inout Findings<ComapiFailure>) -> ComapiCredentials {
        var credentials = ComapiCredentials()
        var facts = ComapiSessionFacts(self, arrival.switches, in: arrival.sandbox, at: arrival.moment)
        if case .query = arrival.route.access {
            facts.hasEncodedQuery = ComapiPath.encodedQuery(in: arrival.request.path) != nil
        }
        if case .anybody = arrival.route.access {
            findings.judge(facts, by: Self.callRules)
            return credentials
        }
        let id = arrival.parameters["space"]
        credentials.space = accounts.space(id)
        (facts.spaceID, facts.space) = (id, credentials.space)
        if let space = credentials.space { present(arrival, to: space, &credentials, &facts) }
        findings.judge(facts, by: Self.callRules)
        if case .upload = arrival.route.access, findings.failure == nil {
            credentials.upload = Result { () throws(Refused) in try ComapiUpload(arrival) }
        }
        return credentials
    }

    private func present(
        _ arrival: ComapiArrival, to space: ComapiSpace, _ credentials: inout ComapiCredentials,
        _ facts: inout ComapiSessionFacts
    ) {
        switch arrival.route.access {
        case .anybody, .space: break
        case .challenge: credentials.answer = answer(arrival, of: space)
        case .session, .query, .upload, .socket:
            facts.needsToken = true
            facts.bearer = BearerToken(arrival.request.fields, in: arrival.request)
            credentials.session = presentedToken(arrival, facts.bearer)
            if let token = credentials.session { facts.take(token, of: space) }
        }
    }

    /// The token of a request: from the header, or for the socket also from the query; the header takes precedence.
    private func presentedToken(_ arrival: ComapiArrival, _ header: BearerToken?) -> ComapiSessionToken? {
        var bytes = header?.bytes
        if header?.isSent == false, case .socket = arrival.route.access {
            bytes = arrival.queryValue("token").map { Array($0.utf8)[...] }
            if bytes?.isEmpty == true { bytes = nil }
        }
        return bytes.map { recentTokens.reading(of: $0, ComapiSessionToken.init(bytes:)) }
    }

    /// The ids of spaces, for hints about misspellings.
    var knownSpaces: [String] { accounts.spaces.map(\.id.text) + accounts.templates.map { $0.id.text + "*" } }

    /// Reads the body of `session.create` and the token in it.
    private func answer(_ arrival: ComapiArrival, of space: ComapiSpace) -> ComapiChallengeAnswer {
        let body: Fields<Comapi>
        do throws(Refused) {
            body = try Fields(bodyOf: arrival.request, notedBy: arrival)
        } catch {
            return ComapiChallengeAnswer(refusal: error, body: nil, authenticationID: nil, token: nil)
        }
        let ((id, text), refusal) = body.outcome {
            $0.accept(ComapiSession.deviceMembers, as: "string")
            $0.accept(["push"], as: "object")
            return (
                $0.optionalText("authenticationId", isRequired: true),
                $0.optionalText("authenticationToken", isRequired: true)
            )
        }
        let token = text.map { ComapiAppToken($0, of: space) }
        // Its signature is checked already, before the state is locked.
        _ = token?.compact.mistake(with: space.secret) { accounts.spaces.map(\.secret) }
        return ComapiChallengeAnswer(refusal: refusal, body: body.object, authenticationID: id, token: token)
    }

    // MARK: Checks that need state

    func authorize(_ call: inout ComapiCall, _ state: inout State) {
        guard let space = call.credentials.space else { return }
        if let answer = call.credentials.answer { authorize(answer, in: space, &call, state) }
        guard let token = call.credentials.session else { return }
        var facts = ComapiSessionFacts(self, call.switches, in: call.arrival.sandbox, at: call.moment)
        facts.take(token, of: space)
        facts.findSession(in: state)
        call.findings.judge(facts, by: Self.sessionRules)
        guard call.findings.failure == nil, let session = facts.adopted else { return }
        guard !state.size.isFull else {
            let note = "The sandbox is full, so it cannot adopt the session."
            return call.findings.add(Finding("room", .failed, note: note, source: "ours"), orFail: .bodyTooLarge)
        }
        state.begin(session, at: call.moment)
    }

    /// If the body cannot be used, the handler rejects it, since it knows the parameters of the response; until then no
    /// rule may reject.
    private func authorize(
        _ answer: ComapiChallengeAnswer, in space: ComapiSpace, _ call: inout ComapiCall, _ state: State
    ) {
        var facts = ComapiAppFacts(
            switches: call.switches, moment: call.moment, space: space, spaces: accounts.spaces, token: answer.token)
        facts.findChallenge(answer.authenticationID, in: state)
        if answer.refusal == nil {
            call.findings.judge(facts, by: Self.appRules)
        } else {
            call.findings.note(Self.appRules.findings(on: facts).map(\.noted))
        }
    }
}

extension Call<Comapi> {
    var caller: ComapiCaller {
        // Only routes that require a session ask for the caller; each route's own test would reveal a mistake.
        ComapiCaller(
            space: space, profileID: credentials.session?.profileID ?? ComapiID(""),
            sessionID: ComapiSessionID(credentials.session?.sessionID ?? "", in: space.id))
    }

    var space: ComapiSpace { credentials.space ?? vendor.accounts.spaces[0] }
}

struct ComapiCaller: Sendable {
    let space: ComapiSpace
    let profileID: ComapiID
    let sessionID: ComapiSessionID
}

final class ComapiAppToken: Sendable {
    let compact: CompactToken
    /// The user that it names in a space, if any.
    let userID: String?

    init(_ text: String, of space: ComapiSpace) {
        compact = CompactToken(text)
        let user = compact.claims?[space.idClaim]?.string ?? ""
        userID = user.utf8.isEmpty ? nil : user
    }
}

struct ComapiAppFacts: RuleFacts {
    typealias Failure = ComapiFailure

    struct Challenge {
        let id: String?
        /// `nil` if this space issued no such challenge.
        let known: ComapiChallenge?
        /// What the id might be instead.
        let hint: String?
    }

    let switches: ComapiSwitches
    let moment: Moment
    let space: ComapiSpace
    /// Only explains failures; dropped if there are none.
    private(set) var spaces: [ComapiSpace]

    var token: ComapiAppToken?
    /// `nil` for a token without its request.
    var challenge: Challenge?
    var expectedNonce: String?
    /// Another challenge whose nonce the token carries.
    private(set) var otherChallenge: ComapiChallenge?

    var compact: CompactToken? { token?.compact }
    var mistake: ComapiSecretMistake? {
        compact?.mistake(with: space.secret) { spaces.map(\.secret) }.map(ComapiSecretMistake.init)
    }
    var isNonceReused: Bool { otherChallenge?.answeredBy != nil && switches.hasSingleUseChallenges }

    /// Whether the token answers the challenge; `nil` if either is missing.
    var hasNonce: Bool? {
        let nonce = compact?.claims?["nonce"]?.string
        return nonce.flatMap { nonce in expectedNonce.map { $0.hasSameBytes(as: nonce) } }
    }

    mutating func dropExplanations() { spaces = [] }

    mutating func findChallenge(_ id: String?, in state: ComapiState) {
        let named = id.flatMap { state.challenges[$0] }
        let known = named.flatMap { $0.space == space.id ? $0 : nil }
        challenge = Challenge(id: id, known: known, hint: known == nil ? Self.hint(id, named, state) : nil)
        expectedNonce = known?.nonce
        guard hasNonce == false, let nonce = compact?.claims?["nonce"]?.string else { return }
        otherChallenge = state.challenges[named: nonce]
    }

    private static func hint(_ id: String?, _ challenge: ComapiChallenge?, _ state: ComapiState) -> String? {
        if let challenge { return "The challenge belongs to API space \(challenge.space.text)." }
        guard let id else { return nil }
        if let challenge = state.challenges[named: id] {
            return
                "That is the nonce of challenge \(challenge.id); the token carries it, and authenticationId is the challenge's."
        }
        let slip = Nearest.slip(id, among: state.challenges.keys.suffix(100)).dropFirst(2)
        return slip.isEmpty ? nil : slip.prefix(1).uppercased() + slip.dropFirst() + "."
    }
}

/// The identity of a session: an id within a space, since minting calls may give several spaces the same id.
struct ComapiSessionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let space: ComapiID
    /// The id as clients know it.
    let local: ComapiID

    var description: String { JSON.array([space.json, local.json]).text }

    init(_ text: some StringProtocol, in space: ComapiID) {
        self.space = space
        local = ComapiID(text)
    }

    /// The id as clients know it.
    var text: String { local.text }

    static func < (left: ComapiSessionID, right: ComapiSessionID) -> Bool {
        (left.space, left.local) < (right.space, right.local)
    }
}

/// An API space with its settings in the portal.
final class ComapiSpace: Sendable {
    let id: ComapiID
    let accountID: Int
    let issuer: String
    let audience: String
    /// The secret that is shared with the app's backend.
    let secret: SecretKey
    /// The name of the claim that contains the user's id.
    let idClaim: String
    /// The secret from which the keys of session tokens are derived.
    let sessionSecret: SecretKey

    /// The beginning of its paths.
    var path: String { "/apispaces/\(PercentEncoding.encode(id.text))" }

    /// A space with the settings of a template.
    init(_ id: ComapiID, like template: ComapiSpace) {
        self.id = id
        (accountID, issuer, audience) = (template.accountID, template.issuer, template.audience)
        (idClaim, sessionSecret) = (template.idClaim, template.sessionSecret)
        secret = template.secret.shared(with: Self.phrase(id))
    }

    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "account_id", "issuer", "audience", "shared_secret", "id_claim", "session_secret")
        let (shared, session) = (try entry.required("shared_secret"), try entry.required("session_secret"))
        id = ComapiID(try entry.required("id").string())
        accountID = try entry.required("account_id").int()
        issuer = try entry.required("issuer").address()
        audience = try entry.required("audience").address()
        secret = try Self.secret(shared, of: id)
        idClaim = try entry.required("id_claim").string()
        sessionSecret = try Self.secret(session, of: id)
    }

    private static func phrase(_ id: ComapiID) -> String { "API space \(id.text)" }

    private static func secret(_ node: FixtureNode, of id: ComapiID) throws(FixtureProblem) -> SecretKey {
        let text = try node.string()
        do {
            return try SecretKey(text, of: phrase(id), for: .hs256)
        } catch {
            throw node.problem("cannot be used as a secret: \(error)")
        }
    }
}

/// The spaces in `accounts.yaml`, and the templates for further ones.
struct ComapiAccounts: Sendable {
    /// The spaces with a complete id, in file order.
    let spaces: [ComapiSpace]
    /// Templates, whose id is a prefix of space ids; the longest prefix comes first.
    let templates: [ComapiSpace]
    private let byID: [ComapiID: ComapiSpace]

    /// The space with this id, if configured or matched by a template. ours: the vendor has no templates.
    func space(_ id: String) -> ComapiSpace? {
        let id = ComapiID(id)
        if let space = byID[id] { return space }
        // Bounds the memory per id; clients hardly need more than the length of a UUID. ours.
        guard id.text.utf8.count <= 200 else { return nil }
        let template = templates.first { template in
            id.text.utf8.count > template.id.text.utf8.count && id.text.utf8.starts(with: template.id.text.utf8)
        }
        return template.map { ComapiSpace(id, like: $0) }
    }

    /// The space that a mint request or an action names; by default the first one.
    func space(named id: String?) throws(ControlRefusal) -> ComapiSpace {
        guard let id else { return spaces[0] }
        return try ControlRefusal.require(space(id), "no API space has the id", id, among: spaces.map(\.id.text))
    }
}

// MARK: - accounts.yaml

extension ComapiAccounts {
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("spaces")
        var (spaces, templates): ([ComapiSpace], [ComapiSpace]) = ([], [])
        var byID: [ComapiID: ComapiSpace] = [:]
        try document.required("spaces").forEachRecord { (node) throws(FixtureProblem) in
            let space = try ComapiSpace(node)
            guard !space.id.text.isEmpty else { throw node.problem("a space needs an id") }
            if space.id.text.hasSuffix("*") {
                guard space.id.text.count > 1 else { throw node.problem("a template needs letters before the *") }
                templates.append(ComapiSpace(ComapiID(space.id.text.dropLast()), like: space))
            } else {
                guard byID.updateValue(space, forKey: space.id) == nil else {
                    throw node.problem("another space has the id \(space.id.text)")
                }
                spaces.append(space)
            }
        }
        guard !spaces.isEmpty else { throw document.node.problem("there must be one space that is not a template") }
        self.spaces = spaces
        self.templates = templates.sorted { $0.id.text.utf8.count > $1.id.text.utf8.count }
        self.byID = byID
    }
}
