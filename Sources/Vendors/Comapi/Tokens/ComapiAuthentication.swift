import Emulation
import JSON
import Tokens

/// What a request presented.
struct ComapiCredentials: Sendable {
    /// The space of the path, when it is configured.
    var space: ComapiSpace?
    /// The token of a session, when there is one.
    var session: ComapiSessionToken?
    /// What was read of the answer to a challenge.
    var answer: ComapiChallengeAnswer?
    /// What was uploaded, read here since some megabytes must not be read under a lock.
    var upload: Result<ComapiUpload, ComapiRefusal>?
}

/// A challenge's answer: the body of `session.create`, and the app's token in it.
struct ComapiChallengeAnswer: Sendable {
    /// Why the body cannot be used.
    let refusal: ComapiRefusal?
    let body: JSONObject?
    let authenticationID: String?
    /// `nil` when the body has none.
    let token: ComapiAppToken?
}

// MARK: - What needs no state

extension Comapi {
    func claims(of credentials: ComapiCredentials) -> JSONObject? {
        credentials.session?.compact.claims ?? credentials.answer?.token?.compact.claims
    }

    func authenticate(_ arrival: ComapiArrival, _ findings: inout Findings<ComapiFailure>) -> ComapiCredentials {
        var credentials = ComapiCredentials()
        var facts = ComapiSessionFacts(self, arrival.switches, in: arrival.sandbox, at: arrival.moment)
        facts.hasEncodedQuery =
            arrival.route.id == "profile.query" && ComapiPath.encodedQuery(in: arrival.request.path) != nil
        if case .anybody = arrival.route.access {
            findings.judge(facts, by: Self.callRules)
            return credentials
        }
        let id = arrival.parameters["space"]
        credentials.space = accounts.space(id)
        (facts.spaceID, facts.space) = (id, credentials.space)
        if let space = credentials.space { present(arrival, to: space, &credentials, &facts) }
        findings.judge(facts, by: Self.callRules)
        if arrival.route.id == "content.upload", findings.failure == nil {
            credentials.upload = Result { () throws(ComapiRefusal) in try ComapiUpload(arrival.request) }
        }
        return credentials
    }

    /// Reads what a request presents to a space.
    private func present(
        _ arrival: ComapiArrival, to space: ComapiSpace, _ credentials: inout ComapiCredentials,
        _ facts: inout ComapiSessionFacts
    ) {
        switch arrival.route.access {
        case .anybody, .space: break
        case .challenge: credentials.answer = answer(arrival, of: space)
        case .session, .socket:
            facts.needsToken = true
            facts.bearer = BearerToken(arrival.request.fields)
            credentials.session = presentedToken(arrival, facts.bearer)
            if let token = credentials.session { facts.take(token, of: space) }
        }
    }

    /// The token that a request presents: the header's, or on the socket the query's; the header wins.
    private func presentedToken(_ arrival: ComapiArrival, _ header: BearerToken?) -> ComapiSessionToken? {
        var bytes = header?.bytes
        if header?.isSent == false, case .socket = arrival.route.access {
            bytes = arrival.request.queryItems.first { $0.name == "token" }.map { Array($0.value.utf8)[...] }
            if bytes?.isEmpty == true { bytes = nil }
        }
        return bytes.map { recentTokens.reading(of: $0, ComapiSessionToken.init(bytes:)) }
    }

    /// The ids of spaces that people may mean.
    var knownSpaces: [String] { accounts.spaces.map(\.id.text) + accounts.templates.map { $0.id.text + "*" } }

    /// Reads the body of `session.create` and the token in it.
    private func answer(_ arrival: ComapiArrival, of space: ComapiSpace) -> ComapiChallengeAnswer {
        let body: Fields<Comapi>
        do throws(ComapiRefusal) {
            body = try Fields(bodyOf: arrival.request)
        } catch {
            return ComapiChallengeAnswer(refusal: error, body: nil, authenticationID: nil, token: nil)
        }
        let ((id, text), refusal) = body.outcome {
            (
                $0.optionalText("authenticationId", isRequired: true),
                $0.optionalText("authenticationToken", isRequired: true)
            )
        }
        return ComapiChallengeAnswer(
            refusal: refusal, body: body.object, authenticationID: id,
            token: text.map { judged($0, of: space, arrival) })
    }

    /// The app's token, its signature judged already: later the state is locked.
    private func judged(_ text: String, of space: ComapiSpace, _ arrival: ComapiArrival) -> ComapiAppToken {
        let token = ComapiAppToken(text, of: space)
        _ = token.mistake(by: space, among: accounts.spaces)
        return token
    }
}

// MARK: - What only the state can tell

extension Comapi {
    func authorize(_ call: inout ComapiCall, _ state: inout ComapiState) {
        guard let space = call.credentials.space else { return }
        if let answer = call.credentials.answer { authorize(answer, in: space, &call, state) }
        guard let token = call.credentials.session else { return }
        var facts = ComapiSessionFacts(self, call.switches, in: call.arrival.sandbox, at: call.moment)
        facts.take(token, of: space)
        facts.findSession(in: state)
        call.findings.judge(facts, by: Self.sessionRules)
        if call.findings.failure == nil, let session = facts.adopted { state.adopt(session, at: call.moment) }
    }

    /// A body that cannot be used is refused by the handler, which knows the parameters of the answer; until then nothing
    /// else may decide.
    private func authorize(
        _ answer: ComapiChallengeAnswer, in space: ComapiSpace, _ call: inout ComapiCall, _ state: ComapiState
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
    /// Whoever was authorized.
    var caller: ComapiCaller {
        // Only routes that ask for a session have handlers that ask for a caller; a route's own test shows a mistake.
        ComapiCaller(
            space: space, profileID: credentials.session?.profileID ?? ComapiID(""),
            sessionID: ComapiSessionID(credentials.session?.sessionID ?? "", in: space.id))
    }

    /// The space of the path.
    var space: ComapiSpace { credentials.space ?? vendor.accounts.spaces[0] }
}

/// Who calls.
struct ComapiCaller: Sendable {
    let space: ComapiSpace
    let profileID: ComapiID
    let sessionID: ComapiSessionID
}
