import Emulation
import JSON

struct ComapiState: Sendable {
    /// The maximum size of a sandbox's profiles, conversations and messages together, in bytes as JSON; beyond it,
    /// requests that need more are rejected as too large. ours: a bound, so that a load test cannot exhaust memory.
    static let recordLimit = 64 << 20
    /// The maximum number of profiles and conversations together in a sandbox. ours.
    static let recordCapacity = 20_000

    var challenges = ComapiChallengeStore()
    var sessions = ComapiSessionStore()
    var contents = ComapiContentStore()
    private(set) var spaces: [ComapiID: ComapiSpaceState] = [:]
    /// Whether sessions of an earlier run of the program are adopted; a reset ends that.
    var adoptsEarlierSessions = true
    /// The mark that a minted session token needs to be valid here; a reset changes it.
    var mintMark = "first"
    /// The size of the records in bytes, and their number; both are upper estimates.
    private(set) var recordBytes = 0
    private(set) var recordCount = 0

    subscript(space: ComapiID) -> ComapiSpaceState {
        get { spaces[space] ?? ComapiSpaceState(id: space) }
        _modify { yield &spaces[space, default: ComapiSpaceState(id: space)] }
    }

    init() {}

    /// Writes the rows of each space.
    mutating func codeSpaces(_ coder: inout RecordCoder) {
        coder.nested("spaces", keys: spaces.keys.sorted().map(\.text)) { id, coder in
            coder.note(isChanged: true)
            spaces[ComapiID(id)]?.code(&coder)
        }
    }

    /// Rejects a change if there is no room for its bytes or records.
    func checkRoom(bytes: Int, records: Int = 0) throws(ComapiRefusal) {
        guard recordBytes + bytes <= Self.recordLimit, recordCount + records <= Self.recordCapacity else {
            throw Refusal(
                .bodyTooLarge,
                because: "the sandbox holds \(recordCount) records of \(recordBytes) bytes, and takes no more than "
                    + "\(Self.recordCapacity) of \(Self.recordLimit)")
        }
    }

    /// Counts added or removed bytes and records.
    mutating func count(bytes: Int, records: Int = 0) {
        recordBytes = max(0, recordBytes + bytes)
        recordCount = max(0, recordCount + records)
    }

    /// Adopts a session that another run of the program began, with its profile.
    mutating func adopt(_ session: ComapiSession, at moment: Moment) {
        sessions.add(session)
        // Without room for a profile the session has none, and reads of it say so.
        guard (try? checkRoom(bytes: 200, records: 1)) != nil else { return }
        makeProfile(of: session.profileID, in: session.space, at: moment)
    }

    /// Creates a user's profile unless it exists; never changes an existing one.
    mutating func makeProfile(of id: ComapiID, in space: ComapiID, at moment: Moment) {
        guard self[space].profiles[id] == nil else { return }
        let profile = ComapiProfile(id: id, members: [:], created: moment)
        self[space].profiles.store(profile)
        count(bytes: profile.byteCount, records: 1)
    }
}

struct ComapiSpaceState: CodedRecord {
    /// The maximum number of pushes; the newest are kept. ours.
    static let pushCapacity = 1000

    private(set) var id = ComapiID("")
    var profiles = RecordTable<ComapiProfile>()
    /// Including deleted ones, since their log continues if they are created again.
    var conversations = RecordTable<ComapiConversation>()
    private(set) var pushes: [JSON] = []

    init() {}

    init(id: ComapiID) { self.id = id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.table("profiles", &profiles, isRequired: false, atMost: ComapiState.recordCapacity)
        coder.table("conversations", &conversations, isRequired: false, atMost: ComapiState.recordCapacity)
        coder.list("pushes", coder.elements { pushes }, atMost: Self.pushCapacity) { (node) throws(FixtureProblem) in
            pushes.append(try node.verbatim())
        }
    }

    /// Records that the tracking URL of a push was called.
    ///
    /// - Returns: whether the push exists.
    mutating func noteClick(ofPush id: String, at moment: Moment) -> Bool {
        guard let index = pushes.lastIndex(where: { $0["id"]?.string?.hasSameBytes(as: id) == true }),
            var push = pushes[index].object
        else { return false }
        push["clicks"] = JSON(Ordinal.next(after: push["clicks"]?.int ?? 0))
        push["clickedOn"] = .string(moment.rfc3339)
        pushes[index] = .object(push)
        return true
    }

    mutating func note(push: JSON) {
        pushes.append(push)
        if pushes.count > Self.pushCapacity { pushes.removeFirst(pushes.count - Self.pushCapacity) }
    }
}
