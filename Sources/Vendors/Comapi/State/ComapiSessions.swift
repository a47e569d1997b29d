import Emulation
import JSON

/// A session of a user on a device.
struct ComapiSession: Sendable {
    let id: ComapiSessionID
    let profileID: ComapiID
    /// `deviceId`, `platform`, `platformVersion`, `sdkType` and `sdkVersion`, as far as they were given, in this order.
    var device: JSONObject = [:]
    var sourceAddress = ""
    var nonce = ""
    let started: Moment
    /// The instant of the token's `exp`.
    var expires: Moment
    /// Where pushes go: the object of the request, `fcm` or `apns`.
    var registration: JSON?

    var space: ComapiID { id.space }

    /// The members that describe a device.
    static let deviceMembers = ["deviceId", "platform", "platformVersion", "sdkType", "sdkVersion"]

    /// The session as answered. Source: test data of the iOS and Android SDKs, mock of the JS SDK.
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

    /// How a session is begun. Source: all SDKs.
    static let provider = "jsonWebToken"
}

/// The sessions of a sandbox, within bounds.
struct ComapiSessions: Sendable {
    /// Sessions beyond this number push out the oldest, whose tokens are unknown from then on. ours.
    static let capacity = 20_000
    /// How many ended sessions are remembered as such. ours.
    static let endedCapacity = 20_000

    private struct Owner: Hashable {
        let space: ComapiID
        let profile: ComapiID
    }

    private var sessions: [ComapiSessionID: ComapiSession] = [:]
    private var owned: [Owner: ArrivalOrder<ComapiSessionID>] = [:]
    private var order = ArrivalOrder<ComapiSessionID>()
    /// Those that have ended, the first one first.
    private(set) var ended = ArrivalOrder<ComapiSessionID>()
    /// Those that an action had forgotten; a later start forgets even that.
    private var forgotten: Set<ComapiSessionID> = []
    private(set) var sockets = ComapiOpenSockets()

    /// All of them, in the order of their beginning.
    var all: [ComapiSession] { order.compactMap { sessions[$0] } }

    subscript(id: ComapiSessionID) -> ComapiSession? { sessions[id] }

    func isEnded(_ id: ComapiSessionID) -> Bool { ended.contains(id) }

    /// The sessions of a user, in the order of their beginning.
    func sessions(of profile: ComapiID, in space: ComapiID) -> [ComapiSession] {
        (owned[Owner(space: space, profile: profile)] ?? ArrivalOrder()).compactMap { sessions[$0] }
    }

    mutating func add(_ session: ComapiSession) {
        if sessions.count >= Self.capacity { makeRoom() }
        forgotten.remove(session.id)
        guard sessions.updateValue(session, forKey: session.id) == nil else { return }
        owned[Owner(space: session.space, profile: session.profileID), default: ArrivalOrder()].append(session.id)
        order.append(session.id)
    }

    /// Ends a session, and remembers that it was.
    mutating func end(_ id: ComapiSessionID) {
        remove(id)
        sockets.forget(id)
        noteEnd(of: id)
    }

    /// Remembers that a session has ended.
    mutating func noteEnd(of id: ComapiSessionID) {
        ended.append(id)
        if ended.count > Self.endedCapacity { _ = ended.removeFirst(Self.endedCapacity / 100) }
    }

    /// Forgets a session as if it had never been.
    mutating func forget(_ id: ComapiSessionID) {
        remove(id)
        // ours: a bound, so that forgetting in a loop cannot fill the machine.
        if forgotten.count < Self.endedCapacity { forgotten.insert(id) }
    }

    private mutating func remove(_ id: ComapiSessionID) {
        drop(id)
        order.remove(id)
    }

    /// Whether an action has had the session forgotten, so that nobody takes it over again.
    func isForgotten(_ id: ComapiSessionID) -> Bool { forgotten.contains(id) }

    /// Sets where pushes of a session go; `nil` for nowhere.
    mutating func register(_ registration: JSON?, for id: ComapiSessionID) { sessions[id]?.registration = registration }

    /// Has a session end at another moment.
    mutating func expire(_ id: ComapiSessionID, at moment: Moment) {
        sessions[id]?.expires = moment
        sockets.setExpiry(of: id, moment)
    }

    mutating func socketOpened(for session: ComapiSession) { sockets.add(session.id, expires: session.expires) }

    mutating func socketClosed(for id: ComapiSessionID) { sockets.remove(id) }

    /// Counts the sockets of a session no more: they are being closed.
    mutating func forgetSockets(of id: ComapiSessionID) { sockets.forget(id) }

    private mutating func drop(_ id: ComapiSessionID) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        let owner = Owner(space: session.space, profile: session.profileID)
        owned[owner]?.remove(id)
        if owned[owner]?.isEmpty == true { owned[owner] = nil }
    }

    private mutating func makeRoom() {
        for id in order.removeFirst(Self.capacity / 100) { drop(id) }
    }
}
