import Emulation
import JSON
import Wire

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
