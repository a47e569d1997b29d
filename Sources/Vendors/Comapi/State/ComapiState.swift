import Emulation
import JSON

/// What Comapi remembers in one sandbox.
struct ComapiState: Sendable {
    /// What profiles, conversations and messages of a sandbox may take together, in bytes as JSON; beyond it, what would
    /// need more is refused as too large. ours: a bound, so that a load test cannot fill the machine.
    static let recordLimit = 64 << 20
    /// How many profiles, and how many conversations, a sandbox may have. ours.
    static let recordCapacity = 20_000

    var challenges = ComapiChallengeStore()
    var sessions = ComapiSessionStore()
    var contents = ComapiContentStore()
    private(set) var spaces: [ComapiID: ComapiSpaceState] = [:]
    /// Whether sessions of an earlier start of the program are taken over; a reset ends that.
    var adoptsEarlierSessions = true
    /// What a minted token of a session carries to be good here; another one after a reset.
    var mintMark = "first"
    /// The bytes that records take, and how many there are; both estimated upwards.
    private(set) var recordBytes = 0
    private(set) var recordCount = 0

    /// What is kept of a space.
    subscript(space: ComapiID) -> ComapiSpaceState {
        get { spaces[space] ?? ComapiSpaceState(id: space) }
        _modify { yield &spaces[space, default: ComapiSpaceState(id: space)] }
    }

    init() {}

    /// Refuses when there is no room for so many bytes, or so many records.
    func checkRoom(bytes: Int, records: Int = 0) throws(ComapiRefusal) {
        guard recordBytes + bytes <= Self.recordLimit, recordCount + records <= Self.recordCapacity else {
            throw Refusal(
                .bodyTooLarge,
                because: "the sandbox holds \(recordCount) records of \(recordBytes) bytes, and takes no more than "
                    + "\(Self.recordCapacity) of \(Self.recordLimit)")
        }
    }

    /// Counts what was added, or taken away.
    mutating func count(bytes: Int, records: Int = 0) {
        recordBytes = max(0, recordBytes + bytes)
        recordCount = max(0, recordCount + records)
    }

    /// Takes over a session that another start of the program began, with its profile.
    mutating func adopt(_ session: ComapiSession, at moment: Moment) {
        sessions.add(session)
        // Without room for a profile the session goes on without one; its reads then say so.
        guard (try? checkRoom(bytes: 200, records: 1)) != nil else { return }
        makeProfile(of: session.profileID, in: session.space, at: moment)
    }

    /// Makes the profile of a user who has none; one that is there is never touched.
    mutating func makeProfile(of id: ComapiID, in space: ComapiID, at moment: Moment) {
        guard self[space].profiles[id] == nil else { return }
        let profile = ComapiProfile(id: id, members: [:], created: moment)
        self[space].profiles.store(profile)
        count(bytes: profile.byteCount, records: 1)
    }
}

/// What is kept of one space.
struct ComapiSpaceState: CodedRecord {
    /// How many pushes are kept, the newest ones. Source: the spec, 4.8; ours.
    static let pushCapacity = 1000

    private(set) var id = ComapiID("")
    var profiles = RecordTable<ComapiProfile>()
    /// Deleted ones too, since their log goes on when they are created again.
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

    /// Notes that the tracking URL of a push was called.
    ///
    /// - Returns: whether there is such a push.
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
