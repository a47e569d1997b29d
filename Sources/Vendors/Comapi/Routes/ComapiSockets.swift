import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

struct ComapiSocket: Sendable {
    let sessionID: ComapiSessionID
    let profileID: ComapiID
    let space: ComapiSpace
}

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
            throw Refusal(.upgradeRequired, because: "the handshake of a WebSocket is broken: \(error)")
        }
        let caller = call.caller
        return call.openSocket(
            handshake,
            SocketOpening(
                topics: [.session(caller.sessionID), .profile(caller.profileID, in: caller.space.id)],
                label: ComapiSocket(sessionID: caller.sessionID, profileID: caller.profileID, space: caller.space),
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

    /// Closes the sockets of expired sessions.
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
