import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// The socket with live events. Source: observed, all SDKs; close codes, idle timeout and recipients are ours.
extension Comapi {
    /// The maximum frame length from a client, in bytes.
    private static let longestFrame = 64 * 1024
    /// The idle timeout of a client: Android pings every 60 s, iOS every 240 s (observed).
    private static let silence = Duration.seconds(600)

    static func openSocket(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let handshake: WebSocketHandshake
        do throws(WebSocketHandshake.Problem) {
            handshake = try WebSocketHandshake(call.request)
        } catch {
            throw Refused(.upgradeRequired, because: "the handshake of a WebSocket is broken: \(error)")
        }
        let caller = call.caller
        return call.openSocket(
            handshake,
            SocketOpening(
                topics: [.session(caller.sessionID), .profile(caller.profileID, in: caller.space.id)], label: caller,
                maximumMessageBytes: longestFrame, silence: silence))
    }

    /// Sends the greeting; closes the socket if the session ended before the response was sent.
    func socketOpened(_ call: inout SocketCall<Comapi>, _ state: inout State) {
        guard let session = state.sessions[call.label.sessionID] else {
            call.close(WebSocketClosure(.normal, reason: "The session was ended."))
            return
        }
        state.sessions.sockets.add(session.id, expires: session.expires)
        call.reply(
            ComapiFrame.greeting(
                socket: call.identifiers.uuid(), event: call.identifiers.uuid(), of: call.label.profileID,
                in: call.label.space, at: call.moment))
    }

    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Comapi>, _ state: inout State) {
        switch message {
        case .binary: call.close(WebSocketClosure(.unsupportedData, reason: "Frames are JSON text."))
        case .text(let text):
            let name = (try? JSON.parse(text.utf8))?["name"]?.string
            if name == "echo", call.switches.echoesFrames {
                call.reply(message)
            } else {
                call.note(
                    Finding(
                        "ignored-frame", .noted, expected: .text("a frame of the name echo"),
                        found: .text(name ?? "no frame with a name"), source: "mock of the JS SDK; switch echoes-frames"
                    ))
            }
        }
    }

    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Comapi>, _ state: inout State) {
        state.sessions.sockets.remove(call.label.sessionID)
    }

    func nextDeadline(in state: State) -> Moment? { state.sessions.sockets.earliest }

    func deadlinePassed(_ call: inout DeadlineCall<Comapi>, _ state: inout State) {
        for session in state.sessions.sockets.over(at: call.moment) {
            state.sessions.closeSockets(of: session, because: "The session has expired.", &call.outbox)
        }
    }
}

extension ComapiSessionStore {
    mutating func closeSockets(of id: ComapiSessionID, because reason: String, _ outbox: inout Outbox) {
        // They are being closed.
        sockets.forget(id)
        outbox.close(WebSocketClosure(.policyViolation, reason: reason), at: .session(id))
    }
}

/// The sessions with open sockets, and the earliest time one of them expires.
struct ComapiOpenSockets: Sendable {
    private var open: [ComapiSessionID: (count: Int, expires: Moment)] = [:]
    /// Cached, since it is read after every exchange.
    private(set) var earliest: Moment?

    func over(at moment: Moment) -> [ComapiSessionID] { open.filter { $0.value.expires <= moment }.map(\.key).sorted() }

    mutating func add(_ session: ComapiSessionID, expires: Moment) {
        open[session, default: (0, expires)].count += 1
        if earliest.map({ expires < $0 }) ?? true { earliest = expires }
    }

    mutating func remove(_ session: ComapiSessionID) {
        guard let entry = open[session] else { return }
        if entry.count > 1 { open[session]?.count -= 1 } else { forget(session) }
    }

    mutating func forget(_ session: ComapiSessionID) {
        guard let entry = open.removeValue(forKey: session) else { return }
        if entry.expires == earliest { findEarliest() }
    }

    mutating func setExpiry(of session: ComapiSessionID, _ moment: Moment) {
        guard open[session] != nil else { return }
        open[session]?.expires = moment
        findEarliest()
    }

    private mutating func findEarliest() { earliest = open.values.map(\.expires).min() }
}

/// The actor, place and time of a change that sockets are notified of.
struct ComapiOccasion: Sendable {
    let space: ComapiSpace
    /// The user who makes the change.
    let actor: ComapiID
    let moment: Moment
    let identifiers: IdentifierSource
    /// The base of URLs in the frames; empty if no request gave one.
    var base = ""
}

extension ComapiOccasion {
    init(_ call: ComapiCall) {
        self.init(
            space: call.space, actor: call.caller.profileID, moment: call.moment, identifiers: call.identifiers,
            base: call.base)
    }
}

/// A frame sent to sockets and shown in the list of events, as JSON text.
///
/// Source: names and payloads observed, test data of the iOS and Android SDKs.
struct ComapiFrame: Sendable {
    let name: String
    let eventID: String
    let actor: ComapiID
    let moment: Moment
    let space: ComapiSpace
    var members: JSONObject = [:]
    let payload: JSON

    var json: JSON {
        var object: JSONObject = [
            "eventId": .string(eventID), "apiSpaceId": space.id.json, "accountId": JSON(space.accountID),
            "name": .string(name),
            // Always present, since the JS SDK reads it unchecked (observed).
            "context": ["createdBy": .string("session:\(actor.text)"), "createdOn": .string(moment.rfc3339)],
            "publishedOn": .string(moment.rfc3339),
        ]
        for member in members { object.append(member.name, member.value) }
        object.append("payload", payload)
        return .object(object)
    }

    var message: WebSocketMessage { .text(json.text) }

    /// The first frame of a socket. Source: mock of the JS SDK, test data of the Android SDK.
    static func greeting(socket: String, event: String, of profile: ComapiID, in space: ComapiSpace, at moment: Moment)
        -> WebSocketMessage
    {
        let frame: JSON = [
            "eventId": .string(event), "name": "socket.info", "socketId": .string(socket),
            "accountId": JSON(space.accountID), "apiSpaceId": space.id.json, "context": ["createdBy": profile.json],
            "publishedOn": .string(moment.rfc3339),
        ]
        return .text(frame.text)
    }
}

// MARK: - Recipients

extension SocketTopic {
    static func session(_ id: ComapiSessionID) -> SocketTopic {
        SocketTopic("session:\(exact(id.space.text))/\(exact(id.text))")
    }

    /// The sockets of all sessions of a user.
    static func profile(_ id: ComapiID, in space: ComapiID) -> SocketTopic {
        SocketTopic("profile:\(exact(space.text))/\(exact(id.text))")
    }

    /// Keeps texts apart that look alike but have different bytes, since addresses are compared as texts.
    private static func exact(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "/") }
            ? text : PercentEncoding.encode(text)
    }
}

extension Call<Comapi> {
    /// Sends a frame to sockets once the call has succeeded.
    mutating func send(_ frame: ComapiFrame, to addresses: [SocketTopic]) { outbox.send(frame.message, to: addresses) }
}

// MARK: - Frames

extension ComapiFrame {
    init(_ name: String, _ occasion: ComapiOccasion, _ members: JSONObject = [:], payload: JSON) {
        self.init(
            name: name, eventID: occasion.identifiers.uuid(), actor: occasion.actor, moment: occasion.moment,
            space: occasion.space, members: members, payload: payload)
    }

    /// Source of `etag`: fixtures of the iOS SDK; the JS SDK looks for `eTag` and misses it, as in production.
    static func profileUpdate(_ profile: ComapiProfile, _ occasion: ComapiOccasion) -> ComapiFrame {
        ComapiFrame(
            "profile.update", occasion,
            ["profileId": profile.id.json, "etag": .string(profile.etag), "revision": JSON(profile.revision)],
            payload: profile.json)
    }

    /// `conversation.create`, `.undelete`, `.update` or `.delete`.
    ///
    /// Source of a deletion's `date`, and of `etag` and `revision` beside its payload: a recording and a test of the
    /// Android SDK.
    static func conversation(
        _ name: String, _ conversation: ComapiConversation, _ occasion: ComapiOccasion
    ) -> ComapiFrame {
        var payload = name == "delete" ? ["date": .string(occasion.moment.rfc3339)] : conversation.core
        if name == "create" {
            let members = conversation.joined.map { $0.member(of: conversation.id, in: occasion.space) }
            payload.append("participants", .array(members))
        }
        return ComapiFrame(
            "conversation.\(name)", occasion,
            [
                "conversationId": conversation.id.json, "etag": .string(conversation.etag),
                "revision": JSON(conversation.revision),
            ], payload: .object(payload))
    }

    /// `conversation.participantAdded`, `…Updated` or `…Removed`.
    static func participant(
        _ change: String, _ participant: ComapiParticipant, of conversation: ComapiID, _ occasion: ComapiOccasion
    ) -> ComapiFrame {
        var payload: JSONObject = ["profileId": participant.id.json]
        if change != "Removed" { payload.append("role", .string(participant.role.rawValue)) }
        payload.append("conversationId", conversation.json)
        payload.append("apiSpaceId", occasion.space.id.json)
        return ComapiFrame(
            "conversation.participant\(change)", occasion, ["conversationId": conversation.json],
            payload: .object(payload))
    }

    static func typing(
        _ isTyping: Bool, _ profile: ComapiID, in conversation: ComapiID, _ occasion: ComapiOccasion
    ) -> ComapiFrame {
        ComapiFrame(
            isTyping ? "conversation.participantTyping" : "conversation.participantTypingOff", occasion,
            ["conversationId": conversation.json],
            payload: ["conversationId": conversation.json, "profileId": profile.json])
    }

    static func event(_ event: ComapiEvent, of conversation: ComapiConversation, in space: ComapiSpace) -> ComapiFrame {
        var members: JSONObject = ["conversationId": conversation.id.json, "conversationEventId": JSON(event.id)]
        // Source: recordings of the Android SDK.
        if !event.isSent { members.append("revision", JSON(event.id)) }
        return ComapiFrame(
            name: "conversationMessage.\(event.name)", eventID: event.eventID, actor: event.actor,
            moment: event.moment, space: space, members: members, payload: conversation.payload(of: event))
    }
}
