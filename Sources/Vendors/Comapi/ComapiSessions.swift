import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

struct ComapiSession: Sendable {
    private(set) var id = ComapiSessionID("", in: ComapiID(""))
    private(set) var profileID = ComapiID("")
    /// `deviceId`, `platform`, `platformVersion`, `sdkType` and `sdkVersion`, as far as given, in this order.
    var device: JSONObject = [:]
    var sourceAddress = ""
    var nonce = ""
    private(set) var started = Moment(unixSeconds: 0)
    /// The time of the token's `exp`.
    var expires = Moment(unixSeconds: 0)
    /// The push registration: the request's object, `fcm` or `apns`.
    var registration: JSON?

    var space: ComapiID { id.space }

    static let deviceMembers = ["deviceId", "platform", "platformVersion", "sdkType", "sdkVersion"]

    /// The session as sent. Source: test data of the iOS and Android SDKs, mock of the JS SDK.
    var json: JSON {
        var object: JSONObject = ["id": .string(id.text), "profileId": profileID.json]
        for member in device { object.append(member.name, member.value) }
        object.append("sourceIp", .string(sourceAddress))
        object.append("isActive", true)
        object.append("state", "SessionStarted")
        object.append("provider", .string(ComapiSession.provider))
        object.append("nonce", .string(nonce))
        object.append("createdOn", .string(started.rfc3339))
        object.append("startedOn", .string(started.rfc3339))
        object.append("expiresOn", .string(expires.rfc3339))
        return .object(object)
    }

    /// The provider with which sessions start. Source: all SDKs.
    static let provider = "jsonWebToken"
}

struct ComapiSessionStore: Sendable {
    /// The maximum number of ended sessions to remember. ours.
    static let endedCapacity = 20_000

    /// In order of start.
    var table = RecordTable<ComapiSession>()
    private(set) var ended = InsertionOrder<ComapiSessionID>()
    /// Sessions that an action made the server forget, so that they must not be adopted again; a restart clears this too.
    private(set) var forgotten: Set<ComapiSessionID> = []
    var sockets = ComapiOpenSockets()

    var all: [ComapiSession] { table.all }

    subscript(id: ComapiSessionID) -> ComapiSession? { table[id] }

    /// The sessions of a user, in order of start.
    func sessions(of profile: ComapiID, in space: ComapiID) -> [ComapiSession] {
        table.records(in: ComapiSession.Owner(space: space, profile: profile))
    }

    mutating func add(_ session: ComapiSession) {
        forgotten.remove(session.id)
        table.store(session)
    }

    mutating func end(_ id: ComapiSessionID) {
        table.remove(id)
        sockets.forget(id)
        noteEnd(of: id)
    }

    mutating func noteEnd(of id: ComapiSessionID) {
        ended.append(id)
        if ended.count > Self.endedCapacity { _ = ended.removeFirst(Self.endedCapacity / 100) }
    }

    /// Forgets a session as if it had never existed.
    mutating func forget(_ id: ComapiSessionID) {
        table.remove(id)
        // ours: a bound, so that forgetting in a loop cannot exhaust memory.
        if forgotten.count < Self.endedCapacity { forgotten.insert(id) }
    }

    mutating func expire(_ id: ComapiSessionID, at moment: Moment) {
        table.change(id) { $0.expires = moment }
        sockets.setExpiry(of: id, moment)
    }
}

// MARK: - As a record

extension ComapiSession: KeyedRecord, CodedRecord {
    /// The key under which sessions are listed.
    struct Owner: Hashable, Sendable {
        let space: ComapiID
        let profile: ComapiID
    }

    var key: ComapiSessionID { id }
    var group: Owner? { Owner(space: space, profile: profileID) }
    var memory: Int {
        let registered = registration?.object?.first?.value.object ?? [:]
        let texts = (device.map(\.value) + registered.map(\.value)).compactMap(\.string) + [id.text, profileID.text]
        return texts.reduce(1024) { $0 + $1.utf8.count }
    }

    func clash(over name: Never?) -> String { "session \(id.text) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        var (local, space) = (id.local, id.space)
        coder.member("id", &local)
        coder.member("space", &space)
        id = ComapiSessionID(local.text, in: space)
        coder.member("profile", &profileID)
        coder.member("device", &device, or: [:], write: { .object($0) }) { (node) throws(FixtureProblem) in
            var device = JSONObject()
            for (name, value) in try node.mapping(Self.deviceMembers).members {
                device.append(name, .string(try value.string()))
            }
            return device
        }
        coder.member("source", &sourceAddress, or: "")
        coder.member("nonce", &nonce, or: "")
        coder.instant("started", &started)
        coder.instant("expires", &expires)
        coder.member("registration", &registration, or: .some(nil), write: { $0 }) { (node) throws(FixtureProblem) in
            let value = try node.verbatim()
            do throws(Comapi.Refused) {
                return try ComapiRegistration.read(value)
            } catch {
                throw node.problem(error.reason ?? "is not a registration")
            }
        }
    }
}

/// A challenge that the app answers with its own token.
struct ComapiChallenge: Sendable, KeyedRecord, CodedRecord {
    var id = ""
    var space = ComapiID("")
    var nonce = ""
    var issued = Moment(unixSeconds: 0)
    var expires = Moment(unixSeconds: 0)
    var answeredBy: String?

    // MARK: - As a record

    var key: String { id }
    var names: [String] { [nonce] }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("space", &space)
        coder.member("nonce", &nonce)
        coder.instant("issued", &issued)
        coder.instant("expires", &expires)
        coder.member("answered_by", &answeredBy)
    }
}

/// The challenges of a sandbox in order of issue, indexed by nonce too.
typealias ComapiChallengeStore = RecordTable<ComapiChallenge>

extension ComapiChallengeStore {
    /// ours.
    static var capacity: Int { 10_000 }
    /// How long an expired challenge is kept, so that a late answer gets a specific failure.
    static var remembrance: Duration { .seconds(86_400) }

    /// Adds a challenge; if there is no room, removes expired ones first, then the oldest.
    mutating func add(_ challenge: ComapiChallenge, at moment: Moment) {
        // Only the leading ones: challenges expire nearly always in order of issue.
        remove(added.prefix { self[$0].map { $0.expires + Self.remembrance <= moment } ?? true })
        if count >= Self.capacity { makeRoom(at: moment) }
        store(challenge)
    }

    /// Removes a hundredth at once, so that the next additions need no search.
    private mutating func makeRoom(at moment: Moment) {
        let wanted = Self.capacity / 100
        let expired = all.filter { $0.expires < moment }.map(\.id)
        remove(expired.prefix(wanted))
        remove(keys.prefix(wanted - Swift.min(expired.count, wanted)))
    }

    private mutating func remove(_ ids: some Sequence<String>) { for id in ids { remove(id) } }
}

/// Challenges and sessions. Source: observed, all SDKs; challenge and token are documented, JWT page.
extension Comapi {
    static func startSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let challenge = ComapiChallenge(
            id: call.identifiers.uuid(), space: call.space.id, nonce: call.identifiers.uuid(), issued: call.moment,
            expires: call.moment + .seconds(call.switches.challengeLifetimeSeconds))
        state.challenges.add(challenge, at: call.moment)
        return .json([
            "authenticationId": .string(challenge.id), "provider": .string(ComapiSession.provider),
            "nonce": .string(challenge.nonce), "expiresOn": .string(challenge.expires.rfc3339),
        ])
    }

    static func createSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        guard let answer = call.credentials.answer else { throw Refused(.malformedBody) }
        if let refusal = answer.refusal { throw refusal }
        guard let members = answer.body, let id = answer.authenticationID, let user = answer.token?.userID,
            let challenge = state.challenges[id]
        else { throw Refused(.unknownAuthentication, because: "nobody was authorized; expected a token") }
        let started = Moment(unixSeconds: Double(call.moment.wholeSeconds))
        var session = ComapiSession(
            id: ComapiSessionID(call.identifiers.uuid(), in: call.space.id), profileID: ComapiID(user),
            started: call.moment, expires: started + .seconds(call.switches.sessionLifetimeSeconds))
        session.nonce = challenge.nonce
        session.sourceAddress = call.request.connection.remoteAddress
        describeDevice(members, &session, &call)
        let reply = try sessionAnswer(session, call)
        state.challenges.change(id) { $0.answeredBy = session.id.text }
        state.begin(session, at: call.moment)
        return .json(reply)
    }

    /// Stores what the app reports about its device; members of a wrong type are ignored, with a remark.
    private static func describeDevice(
        _ members: JSONObject, _ session: inout ComapiSession, _ call: inout ComapiCall
    ) {
        for name in ComapiSession.deviceMembers {
            guard let value = members.present(name) else { continue }
            if value.string != nil, value.text.utf8.count <= 1000 {
                session.device.append(name, value)
            } else {
                call.note("ignored-member", "\(name) is not a text of a possible length.")
            }
        }
        guard let push = members.present("push") else { return }
        do throws(Refused) {
            session.registration = try ComapiRegistration.read(push)
        } catch {
            call.note("ignored-member", "push is not a registration: \(error.reason ?? "")")
        }
    }

    /// The session with its token, as `session.create` and `session.read` return it.
    private static func sessionAnswer(_ session: ComapiSession, _ call: ComapiCall) throws(Refused) -> JSON {
        let draft = TokenDraft.session(
            session.id.text, of: session.profileID, in: call.space, issued: session.started.wholeSeconds,
            expires: session.expires.wholeSeconds, start: call.arrival.sandbox.start)
        do {
            let key = call.vendor.sessionKeys.issuingKey(of: call.space, in: call.arrival.sandbox)
            return ["token": .string(try draft.sessionToken(by: key)), "session": session.json]
        } catch {
            throw Refused(.serverError, because: "the token could not be signed: \(error)")
        }
    }

    static func readSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let session = try ownSession(call, state)
        return .json(["token": .string(call.credentials.session?.compact.text ?? ""), "session": session.json])
    }

    static func endSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        state.endSession(try ownSession(call, state).id, &call.outbox)
        return .empty()
    }

    /// The session of the path, which must be the token's own.
    static func ownSession(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiSession {
        let id = ComapiSessionID(call.parameters["session"], in: call.space.id)
        let session = try Refused.require(
            state.sessions[id], .unknownSession,
            "no session of the space has the id \(id.text); expected that of the token"
                + Nearest.slip(id.text, among: [call.caller.sessionID.text]))
        try Refused.require(
            session.id == call.caller.sessionID, .foreignSession,
            "the token belongs to session \(call.caller.sessionID.text), not to \(id.text), which the path names")
        return session
    }
}

extension ComapiState {
    /// Ends a session, including its push registration and sockets.
    mutating func endSession(_ id: ComapiSessionID, _ outbox: inout Outbox) {
        sessions.end(id)
        outbox.close(WebSocketClosure(.normal, reason: "The session was ended."), at: .session(id))
    }
}
