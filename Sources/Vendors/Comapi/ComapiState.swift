import Emulation
import JSON
import Tokens

struct ComapiState: Sendable {
    var challenges = ComapiChallengeStore()
    var sessions = ComapiSessionStore()
    /// Uploads, oldest first.
    var contents = RecordTable<ComapiContent>()
    fileprivate(set) var spaces: [ComapiID: ComapiSpaceState] = [:]
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

/// State as JSON; the fixtures give none, so all state comes from requests.
extension Comapi: RecordedVendor {
    var initialState: State { ComapiState() }

    func size(of state: State) -> StateSize { state.size }

    func uploads(in state: State) -> Int? { state.contents.size.bytes }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        if coder.isReading {
            // Importing state into a sandbox does not change whose tokens it accepts.
            let old = state
            state = ComapiState()
            (state.adoptsEarlierSessions, state.mintMark) = (old.adoptsEarlierSessions, old.mintMark)
        }
        coder.note(isChanged: !state.adoptsEarlierSessions || state.mintMark != initialState.mintMark)
        coder.member("adopts_earlier_sessions", &state.adoptsEarlierSessions, or: state.adoptsEarlierSessions)
        coder.member("mint_mark", &state.mintMark, or: state.mintMark)
        var challenges = state.challenges.all
        coder.list("challenges", &challenges, atMost: ComapiChallengeStore.capacity)
        if coder.isReading { for one in challenges { state.challenges.add(one, at: Moment(unixSeconds: 0)) } }
        coder.table("sessions", &state.sessions.table, isRequired: false)
        let ended = coder.elements { state.sessions.ended.map { ["id": $0.local.json, "space": $0.space.json] } }
        coder.list("ended_sessions", ended, atMost: ComapiSessionStore.endedCapacity) { (node) throws(FixtureProblem) in
            let entry = try node.mapping("id", "space")
            let space = ComapiID(try entry.required("space").string())
            state.sessions.noteEnd(of: ComapiSessionID(try entry.required("id").string(), in: space))
        }
        if coder.isWritingRows {
            coder.nested("spaces", keys: state.spaces.keys.sorted().map(\.text)) { id, coder in
                coder.note(isChanged: true)
                state.spaces[ComapiID(id)]?.code(&coder)
            }
        } else {
            var spaces = coder.isReading ? [] : state.spaces.values.sorted { $0.id < $1.id }
            coder.list("spaces", &spaces) { space in
                if state.spaces[space.id] != nil { return "another space has the id \(space.id.text)" }
                state[space.id] = space
                return nil
            }
        }
        var contents = state.contents.all
        coder.list("contents", &contents)
        if coder.isReading { for content in contents { state.contents.store(content) } }
    }

    /// A reset also ends sessions of earlier runs, and invalidates tokens minted before it.
    ///
    /// The new mark is derived from the old one: with a seed, the same calls yield the same tokens.
    func state(afterResetting old: State) -> State {
        var state = ComapiState()
        state.adoptsEarlierSessions = false
        state.mintMark = "reset-\((old.mintMark.split(separator: "-").last.flatMap { Int($0) } ?? 0) &+ 1)"
        return state
    }
}

extension RecordCoder {
    /// A moment: Unix seconds, or an RFC 3339 date.
    ///
    /// The seconds may exceed the clock's range, as may a session's end, which its token sets.
    mutating func instant(_ name: String, _ value: inout Moment, or standard: Moment? = nil) {
        member(name, &value, or: standard, write: { $0.written }, read: Self.instant)
    }

    mutating func instant(_ name: String, _ value: inout Moment?) {
        member(name, &value, or: .some(nil), write: { $0?.written }, read: Self.instant)
    }

    private static func instant(_ node: FixtureNode) throws(FixtureProblem) -> Moment {
        guard let text = try node.verbatim().string else { return try node.keptMoment() }
        guard let moment = Moment(text: text) else { throw node.problem("“\(text)” is not a moment") }
        return moment
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

    /// A space with the settings of a template.
    init(_ id: ComapiID, like template: ComapiSpace) {
        self.id = id
        (accountID, issuer, audience) = (template.accountID, template.issuer, template.audience)
        (idClaim, sessionSecret) = (template.idClaim, template.sessionSecret)
        secret = template.secret.shared(with: Self.phrase(id))
    }

    /// Reads a space of `accounts.yaml`.
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
