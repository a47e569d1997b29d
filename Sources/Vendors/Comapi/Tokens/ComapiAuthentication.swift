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
        notePath(arrival, &findings)
        if case .anybody = arrival.route.access { return credentials }
        credentials.space = judgeSpace(arrival, &findings)
        guard let space = credentials.space else { return credentials }
        switch arrival.route.access {
        case .anybody, .space: break
        case .challenge: credentials.answer = answer(arrival, of: space)
        case .session, .socket:
            credentials.session = presentedToken(arrival, &findings)
            if let token = credentials.session {
                judge(token, of: space, in: arrival.sandbox, at: arrival.moment, &findings)
            }
            if arrival.route.id == "content.upload", findings.failure == nil {
                credentials.upload = Result { () throws(ComapiRefusal) in try ComapiUpload(arrival.request) }
            }
        }
        return credentials
    }

    /// Spellings of the path that are accepted, and remarked.
    private func notePath(_ arrival: ComapiArrival, _ findings: inout Findings<ComapiFailure>) {
        guard arrival.route.id == "profile.query", ComapiPath.encodedQuery(in: arrival.request.path) != nil else {
            return
        }
        let isAccepted = arrival.switches.acceptsEncodedQuery
        findings.add(
            Finding(
                "encoded-question-mark", isAccepted ? .noted : .failed, expected: .text("/profiles?QUERY"),
                found: .text("a question mark that is a part of the path"),
                source: "iOS SDK; switch accepts-encoded-query"),
            orFail: .unknownPath)
    }

    private func judgeSpace(_ arrival: ComapiArrival, _ findings: inout Findings<ComapiFailure>) -> ComapiSpace? {
        let id = arrival.parameters["space"]
        let space = accounts.space(id)
        findings.add(
            Finding(
                "space", space == nil ? .failed : .passed, expected: .text("the id of a configured API space"),
                found: .text(id),
                note: space == nil ? "Spaces stand in accounts.yaml\(Nearest.hint(to: id, among: knownSpaces))" : nil,
                source: "ours"),
            orFail: .unknownSpace)
        return space
    }

    /// The ids of spaces that people may mean.
    private var knownSpaces: [String] { accounts.spaces.map(\.id.text) + accounts.templates.map { $0.id.text + "*" } }

    /// Reads the body of `session.create` and judges the token in it.
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
            token: text.map {
                ComapiAppToken($0, of: space, among: accounts.spaces, arrival.switches, at: arrival.moment)
            })
    }
}

// MARK: - What only the state can tell

extension Comapi {
    func authorize(_ call: inout ComapiCall, _ state: inout ComapiState) {
        guard let space = call.credentials.space else { return }
        if let answer = call.credentials.answer {
            ComapiChallengeRules(space: space, state: state, switches: call.switches, moment: call.moment)
                .judge(answer, &call.findings)
        }
        if let token = call.credentials.session { authorize(token, in: space, &call, &state) }
    }

    /// Whether the session is still open, or one of an earlier start that is adopted.
    private func authorize(
        _ token: ComapiSessionToken, in space: ComapiSpace, _ call: inout ComapiCall, _ state: inout ComapiState
    ) {
        let rules = ComapiSessionStanding(
            token: token, space: space, switches: call.switches, sandbox: call.arrival.sandbox, moment: call.moment)
        let standing = rules.judge(state, &call.findings)
        if case .adoptable = standing, call.findings.failure == nil {
            state.adopt(rules.session, at: call.moment)
        }
    }
}

/// Whether the session of a token is known, in the order of the spec (section 7.3).
struct ComapiSessionStanding {
    enum Standing {
        case known
        /// Another start of the program began it, or a control call made its token.
        case adoptable
        case unknown
    }

    let token: ComapiSessionToken
    let space: ComapiSpace
    let switches: ComapiSwitches
    let sandbox: SandboxIdentity
    let moment: Moment

    private var id: ComapiSessionID { ComapiSessionID(token.sessionID, in: space.id) }

    /// The session as its token tells it.
    var session: ComapiSession {
        ComapiSession(
            id: id, profileID: token.profileID,
            started: Moment(unixSeconds: token.issueSeconds ?? moment.unixSeconds),
            expires: Moment(unixSeconds: token.expirySeconds ?? moment.unixSeconds))
    }

    func judge(_ state: ComapiState, _ findings: inout Findings<ComapiFailure>) -> Standing {
        let namesake = state.sessions[id]
        let known = namesake.flatMap { $0.profileID == token.profileID ? $0 : nil }
        if let known, known.expires <= moment {
            findings.add(
                Finding(
                    "session-in-time", .failed, expected: .timeAfter(moment.unixSeconds),
                    found: .time(known.expires.unixSeconds), note: "An action has ended its time.", source: "ours"),
                orFail: .sessionExpired)
        }
        let isEnded = state.sessions.isEnded(id)
        findings.add(
            Finding(
                "session-open", isEnded ? .failed : .passed, expected: .text("a session that was not ended"),
                found: isEnded ? .text("session \(id.text) of \(token.profileID.text), which was ended") : nil,
                source: "ours"),
            orFail: .sessionEnded)
        let isAdoptable = namesake == nil && isAdoptable(state)
        let standing: Standing = known != nil ? .known : isAdoptable ? .adoptable : .unknown
        findings.add(
            Finding(
                "session-known",
                standing == .unknown ? isEnded ? .notJudged : .failed : standing == .known ? .passed : .noted,
                expected: .text("a session of this sandbox"), found: .text(id.text),
                note: note(standing, namesake, state),
                source: "ours; switch adopts-earlier-sessions"),
            orFail: .sessionUnknown)
        return isEnded ? .unknown : standing
    }

    private func isAdoptable(_ state: ComapiState) -> Bool {
        if let mark = token.mintMark, token.start == sandbox.start { return mark == state.mintMark }
        // With a seed all starts have one name; what this one has forgotten is known by its id then.
        let isEarlier =
            token.start != sandbox.start || sandbox.isSeeded && !state.sessions.isForgotten(id)
        return switches.adoptsEarlierSessions && state.adoptsEarlierSessions && isEarlier
    }

    private func note(_ standing: Standing, _ namesake: ComapiSession?, _ state: ComapiState) -> String? {
        switch standing {
        case .known: return nil
        case .adoptable:
            return token.mintMark == nil
                ? "An earlier start of the program began it; it is taken over."
                : "The token was minted; the session begins."
        case .unknown:
            if let namesake { return "The session is that of \(namesake.profileID.text)." }
            if token.start == sandbox.start, state.adoptsEarlierSessions || !sandbox.isSeeded {
                return "This start of the program began it and has forgotten it."
            }
            return state.adoptsEarlierSessions
                ? "Switch adopts-earlier-sessions is off." : "The sandbox was reset, so earlier sessions are over."
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
