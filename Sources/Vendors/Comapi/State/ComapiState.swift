import Emulation
import JSON

struct ComapiState: Sendable {
    var challenges = ComapiChallengeStore()
    var sessions = ComapiSessionStore()
    var contents = ComapiContentStore()
    private(set) var spaces: [ComapiID: ComapiSpaceState] = [:]
    /// Whether sessions of an earlier run of the program are adopted; a reset ends that.
    var adoptsEarlierSessions = true
    /// The mark that a minted session token needs to be valid here; a reset changes it.
    var mintMark = "first"
    /// Of all spaces together, which may be as many as their records.
    private var spacesSize = StateSize()

    /// Challenges are not counted: the oldest of them go first.
    var size: StateSize { spacesSize + sessions.table.size + contents.size }

    subscript(space: ComapiID) -> ComapiSpaceState {
        get { spaces[space] ?? ComapiSpaceState(id: space) }
        _modify {
            let before = spaces[space]?.size ?? StateSize()
            defer { spacesSize += (spaces[space]?.size ?? StateSize()) - before }
            yield &spaces[space, default: ComapiSpaceState(id: space)]
        }
    }

    init() {}

    /// Writes the rows of each space.
    mutating func codeSpaces(_ coder: inout RecordCoder) {
        coder.nested("spaces", keys: spaces.keys.sorted().map(\.text)) { id, coder in
            coder.note(isChanged: true)
            spaces[ComapiID(id)]?.code(&coder)
        }
    }

    /// Adopts a session that another run of the program began, with its profile.
    mutating func adopt(_ session: ComapiSession, at moment: Moment) {
        sessions.add(session)
        makeProfile(of: session.profileID, in: session.space, at: moment)
    }

    /// Creates a user's profile unless it exists; never changes an existing one.
    mutating func makeProfile(of id: ComapiID, in space: ComapiID, at moment: Moment) {
        guard self[space].profiles[id] == nil else { return }
        self[space].profiles.store(ComapiProfile(id: id, members: [:], created: moment))
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
    private var pushBytes = 0

    /// The newest pushes count by their bytes only.
    var size: StateSize { profiles.size + conversations.size + StateSize(bytes: pushBytes) }

    init() {}

    init(id: ComapiID) { self.id = id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.table("profiles", &profiles, isRequired: false)
        coder.table("conversations", &conversations, isRequired: false)
        coder.list("pushes", coder.elements { pushes }, atMost: Self.pushCapacity) { (node) throws(FixtureProblem) in
            note(push: try node.verbatim())
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
        pushBytes += JSON.object(push).bytes.count - pushes[index].bytes.count
        pushes[index] = .object(push)
        return true
    }

    mutating func note(push: JSON) {
        pushes.append(push)
        pushBytes += push.bytes.count
        if pushes.count > Self.pushCapacity { pushBytes -= pushes.removeFirst().bytes.count }
    }
}
