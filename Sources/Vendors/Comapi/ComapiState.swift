import Emulation
import JSON
import Wire

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

    /// Begins a session, or adopts one that another run of the program began; its user gets a profile unless there is one.
    mutating func begin(_ session: ComapiSession, at moment: Moment) {
        sessions.add(session)
        guard self[session.space].profiles[session.profileID] == nil else { return }
        self[session.space].profiles.store(ComapiProfile(id: session.profileID, created: moment, updated: moment))
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

/// Changes without a request from the app (all ours).
extension Comapi {
    private static let conversation = ActionMember.required("conversation", "id of the conversation")
    private static let space = ActionMember.optional("space", "id of the API space; by default the first one")

    static let actions = [
        ofSession("end-session", about: "Ends a session, as the app itself could.") { id, _, state, outbox in
            state.endSession(id, &outbox)
        },
        ofSession("expire-session", about: "Expires a session now, whatever its token says.") {
            id, moment, state, outbox in
            state.sessions.expire(id, at: moment)
            state.sessions.closeSockets(of: id, because: "The session has expired.", &outbox)
        },
        ofSession("forget-session", about: "Forgets a session, as a server would that lost its memory.") {
            id, _, state, outbox in
            state.sessions.closeSockets(of: id, because: "The session was forgotten.", &outbox)
            state.sessions.forget(id)
        },
        ofSession(
            "drop-sockets", about: "Closes the sockets of a session with 1001, as a server would that goes down."
        ) { id, _, state, outbox in
            state.sessions.sockets.forget(id)
            outbox.close(WebSocketClosure(.goingAway, reason: "An action dropped it."), at: .session(id))
        },
        action(
            "answer-challenge", about: "Marks a challenge as answered, as if another client had been quicker.",
            members: [.required("challenge", "its authenticationId")], body: answerChallenge),
        action(
            "send-message", about: "Sends a message as another user, who joins the conversation if necessary.",
            members: [
                conversation, .required("profile", "id of the sender"),
                .optional("text", "the text; by default Hi"), space,
            ], body: sendMessage),
        action(
            "mark-message", about: "Records that a user has received or read a message.",
            members: [
                conversation, .required("profile", "id of the user"),
                .optional("message", "id of the message; by default the newest one"),
                .optional("status", "delivered or read; by default read"), space,
            ], body: markMessage),
    ]

    // MARK: Sessions

    private static func ofSession(
        _ name: String, about: String,
        _ change: @escaping @Sendable (ComapiSessionID, Moment, inout State, inout Outbox) -> Void
    ) -> VendorAction<Comapi> {
        action(
            name, about: about,
            members: [
                .required("session", "id of the session"),
                .optional("space", "id of its API space; needed if two spaces have a session of that id"),
            ]
        ) { (call, state, outbox) throws(ControlRefusal) in
            let session = try existingSession(call, state)
            change(session.id, call.moment, &state, &outbox)
            return ["session": session.id.local.json, "profile": session.profileID.json, "space": session.space.json]
        }
    }

    private static func answerChallenge(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let id = try call.required("challenge")
        let challenge = try ControlRefusal.require(
            state.challenges[id], "no challenge has the authenticationId", id,
            among: state.challenges.all.suffix(20).map(\.id))
        state.challenges.change(id) { $0.answeredBy = "the action answer-challenge" }
        return ["challenge": .string(id), "space": challenge.space.json]
    }

    private static func existingSession(_ call: Action, _ state: State) throws(ControlRefusal) -> ComapiSession {
        let (id, space) = (ComapiID(try call.required("session")), try call.text("space").map { ComapiID($0) })
        let found = state.sessions.all.filter { $0.id.local == id && (space == nil || $0.space == space) }
        let session = try ControlRefusal.require(
            found.first, "no session has the id", id.text, among: state.sessions.all.suffix(20).map(\.id.text))
        try ControlRefusal.require(
            found.count == 1,
            "\(found.count) spaces have a session \(id.text): \(found.map(\.space.text).joined(separator: ", "));"
                + " name the space")
        return session
    }

    // MARK: Messages

    private static func sendMessage(
        _ call: Action, _ state: inout State, _ outbox: inout Outbox
    ) throws(ControlRefusal) -> JSON {
        let (id, occasion) = try conversation(call, state)
        let text = try call.text("text") ?? "Hi"
        let part: JSON = ["name": "body", "type": "text/plain", "data": .string(text), "size": JSON(text.utf8.count)]
        let isNew = state[occasion.space.id].conversations[id]?.participants[occasion.actor] == nil
        return try ControlRefusal.wording {
            let draft = try Fields<Comapi>(["parts": [part]]).read(ComapiMessageDraft.init)
            if isNew { state.join(ComapiParticipant(id: occasion.actor), to: id, occasion, &outbox) }
            return try state.send(draft, to: id, occasion, &outbox).sentReceipt
        }
    }

    private static func markMessage(
        _ call: Action, _ state: inout State, _ outbox: inout Outbox
    ) throws(ControlRefusal) -> JSON {
        let (id, occasion) = try conversation(call, state)
        let name = try call.text("status") ?? "read"
        let status = try ControlRefusal.require(
            ComapiMessageStatus(rawValue: name), "status is \(name); expected delivered or read")
        let newest = state[occasion.space.id].conversations[id]?.log.events.last(where: \.isSent)?.messageID
        guard let message = try call.text("message") ?? newest else { throw ControlRefusal("there is no message yet") }
        let update = ComapiStatusUpdate(messageID: message, status: status, on: call.moment)
        if let reason = state.apply(update, to: id, occasion, &outbox) { throw ControlRefusal(reason) }
        return ["message": .string(message), "status": .string(name)]
    }

    private static func conversation(
        _ call: Action, _ state: State
    ) throws(ControlRefusal) -> (ComapiID, ComapiOccasion) {
        let space = try call.vendor.accounts.space(named: try call.text("space"))
        let id = ComapiID(try call.required("conversation"))
        guard let conversation = state[space.id].conversations[id], conversation.deleted == nil else {
            let known = state[space.id].conversations.keys.prefix(20).map(\.text)
            throw ControlRefusal("no conversation has the id \(id.text)\(Nearest.hint(to: id.text, among: known))")
        }
        let actor = ComapiID(try call.required("profile"))
        return (id, ComapiOccasion(space: space, actor: actor, moment: call.moment, identifiers: call.identifiers))
    }
}
