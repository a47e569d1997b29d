import Emulation
import JSON
import Tokens

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
        return ComapiChallengeAnswer(
            refusal: refusal, body: body.object, authenticationID: id,
            token: text.map { judged($0, of: space, arrival) })
    }

    /// The app's token with its signature already checked, before the state is locked.
    private func judged(_ text: String, of space: ComapiSpace, _ arrival: ComapiArrival) -> ComapiAppToken {
        let token = ComapiAppToken(text, of: space)
        _ = token.compact.mistake(with: space.secret) { accounts.spaces.map(\.secret) }
        return token
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
        state.adopt(session, at: call.moment)
    }

    /// If the body cannot be used, the handler rejects it, since it knows the parameters of the response; until then no
    /// rule may reject.
    private func authorize(
        _ answer: ComapiChallengeAnswer, in space: ComapiSpace, _ call: inout ComapiCall, _ state: State
    ) {
        var facts = ComapiAppFacts(answer.token, of: space, among: accounts.spaces, call.switches, at: call.moment)
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

/// The app's JWT as presented.
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
    private var spaces: [ComapiSpace]

    var token: ComapiAppToken?
    /// `nil` for a token without its request.
    var challenge: Challenge?
    var expectedNonce: String?
    /// Another challenge whose nonce the token carries.
    private(set) var otherChallenge: ComapiChallenge?

    var compact: CompactToken? { token?.compact }
    /// The mistake that explains an invalid signature.
    var mistake: ComapiSecretMistake? {
        compact?.mistake(with: space.secret) { spaces.map(\.secret) }.map(ComapiSecretMistake.init)
    }
    var isNonceReused: Bool { otherChallenge?.answeredBy != nil && switches.hasSingleUseChallenges }

    /// Whether the token answers the challenge; `nil` if either is missing.
    var hasNonce: Bool? {
        let nonce = compact?.claims?["nonce"]?.string
        return nonce.flatMap { nonce in expectedNonce.map { $0.hasSameBytes(as: nonce) } }
    }

    init(
        _ token: ComapiAppToken?, of space: ComapiSpace, among spaces: [ComapiSpace], _ switches: ComapiSwitches,
        at moment: Moment
    ) {
        (self.token, self.space, self.spaces) = (token, space, spaces)
        (self.switches, self.moment) = (switches, moment)
    }

    mutating func dropExplanations() { spaces = [] }

    mutating func findChallenge(_ id: String?, in state: ComapiState) {
        let named = id.flatMap { state.challenges[$0] }
        let known = named.flatMap { $0.space == space.id ? $0 : nil }
        challenge = Challenge(id: id, known: known, hint: known == nil ? Self.hint(id, named, state) : nil)
        expectedNonce = known?.nonce
        guard hasNonce == false, let nonce = compact?.claims?["nonce"]?.string else { return }
        otherChallenge = state.challenges.challenge(nonce: nonce)
    }

    /// Why the challenge is unknown in this space.
    private static func hint(_ id: String?, _ challenge: ComapiChallenge?, _ state: ComapiState) -> String? {
        if let challenge { return "The challenge belongs to API space \(challenge.space.text)." }
        guard let id else { return nil }
        if let challenge = state.challenges.challenge(nonce: id) {
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
