import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Challenges and sessions. Source: observed, all SDKs; challenge and token are documented, JWT page.
extension Comapi {
    static func startSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let challenge = ComapiChallenge(
            id: call.identifiers.uuid(), space: call.space.id, nonce: call.identifiers.uuid(), issued: call.moment,
            expires: call.moment + .seconds(call.switches.challengeLifetimeSeconds))
        state.challenges.add(challenge, at: call.moment)
        return .json([
            "authenticationId": .string(challenge.id), "provider": .string(ComapiSession.provider),
            "nonce": .string(challenge.nonce), "expiresOn": .string(challenge.expires.rfc3339),
        ])
    }

    static func createSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        guard let answer = call.credentials.answer else { throw Refusal(.malformedBody) }
        if let refusal = answer.refusal { throw refusal }
        guard let members = answer.body, let id = answer.authenticationID, let user = answer.token?.userID,
            let challenge = state.challenges[id]
        else { throw Refusal(.unknownAuthentication, because: "nobody was authorized; expected a token") }
        let started = Moment(unixSeconds: Double(call.moment.wholeSeconds))
        var session = ComapiSession(
            id: ComapiSessionID(call.identifiers.uuid(), in: call.space.id), profileID: ComapiID(user),
            started: call.moment,
            expires: started + .seconds(call.switches.sessionLifetimeSeconds))
        session.nonce = challenge.nonce
        session.sourceAddress = call.request.connection.remoteAddress
        describeDevice(members, &session, &call)
        let reply = try sessionAnswer(session, call)
        state.challenges.answer(id, by: session.id.text)
        state.sessions.add(session)
        state.makeProfile(of: session.profileID, in: call.space.id, at: call.moment)
        return .json(reply)
    }

    /// Stores what the app reports about its device; members of a wrong type are ignored, with a remark.
    private static func describeDevice(
        _ members: JSONObject, _ session: inout ComapiSession, _ call: inout ComapiCall
    ) {
        for name in ComapiSession.deviceMembers {
            guard let value = members.present(name) else { continue }
            if value.string != nil, value.text.utf8.count <= 1000 {
                session.device.append(name, value)
            } else {
                call.note("ignored-member", "\(name) is not a text of a possible length.")
            }
        }
        guard let push = members.present("push") else { return }
        do throws(Refused) {
            session.registration = try ComapiRegistration.read(push)
        } catch {
            call.note("ignored-member", "push is not a registration: \(error.reason ?? "")")
        }
    }

    /// The session with its token, as `session.create` and `session.read` return it.
    private static func sessionAnswer(_ session: ComapiSession, _ call: ComapiCall) throws(Refused) -> JSON {
        let claims = ComapiSessionClaims(
            space: call.space, profileID: session.profileID, sessionID: session.id.text,
            issued: session.started.wholeSeconds, expires: session.expires.wholeSeconds,
            start: call.arrival.sandbox.start)
        do {
            let key = call.vendor.sessionKeys.key(of: call.space, in: call.arrival.sandbox)
            call.vendor.sessionKeys.noteIssue(in: call.arrival.sandbox)
            return ["token": .string(try claims.draft.sessionToken(by: key)), "session": session.json]
        } catch {
            throw Refusal(.serverError, because: "the token could not be signed: \(error)")
        }
    }

    static func readSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let session = try ownSession(call, state)
        return .json(["token": .string(call.credentials.session?.compact.text ?? ""), "session": session.json])
    }

    static func endSession(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        state.endSession(try ownSession(call, state).id, &call.outbox)
        return .empty()
    }

    /// The session of the path, which must be the token's own.
    static func ownSession(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiSession {
        let id = ComapiSessionID(call.parameters["session"], in: call.space.id)
        let session = try Refused.require(
            state.sessions[id], .unknownSession,
            "no session of the space has the id \(id.text); expected that of the token")
        try Refused.require(
            session.id == call.caller.sessionID, .foreignSession,
            "the token belongs to session \(call.caller.sessionID.text), not to \(id.text), which the path names")
        return session
    }
}

extension ComapiState {
    /// Ends a session, including its push registration and sockets.
    mutating func endSession(_ id: ComapiSessionID, _ outbox: inout Outbox) {
        sessions.end(id)
        outbox.close(WebSocketClosure(.normal, reason: "The session was ended."), at: .session(id))
    }
}
