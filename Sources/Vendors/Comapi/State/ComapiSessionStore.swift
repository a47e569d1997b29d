import Emulation
import JSON

struct ComapiSession: Sendable {
    private(set) var id: ComapiSessionID
    private(set) var profileID: ComapiID
    /// `deviceId`, `platform`, `platformVersion`, `sdkType` and `sdkVersion`, as far as given, in this order.
    var device: JSONObject = [:]
    var sourceAddress = ""
    var nonce = ""
    private(set) var started: Moment
    /// The time of the token's `exp`.
    var expires: Moment
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
    /// Sessions that an action made the server forget; a restart clears this too.
    private var forgotten: Set<ComapiSessionID> = []
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

    /// Whether an action made the server forget the session, so that it must not be adopted again.
    func isForgotten(_ id: ComapiSessionID) -> Bool { forgotten.contains(id) }

    /// Sets the push registration of a session; `nil` for none.
    mutating func register(_ registration: JSON?, for id: ComapiSessionID) {
        table.change(id) { $0.registration = registration }
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

    init() {
        let start = Moment(unixSeconds: 0)
        self.init(id: ComapiSessionID("", in: ComapiID("")), profileID: ComapiID(""), started: start, expires: start)
    }

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
            do throws(ComapiRefusal) {
                return try ComapiRegistration.read(value)
            } catch {
                throw node.problem(error.reason ?? "is not a registration")
            }
        }
    }
}
