import Emulation
import HTTPTypes
import JSON
import Tokens

/// Sessions in browsers: a page reaches its own as `me`, by the cookie; administrators reach each by its id.
///
/// Source: recorded answers (pysdk); that pages use `me`: authjs.
extension Okta {
    static func createSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let text = try call.json { $0.text("sessionToken") }
        let (session, user) = try Refused.require(
            state.openSession(by: text, call), .authnFailed,
            "sessionToken is unknown, used or expired; expected one of authn, used once")
        return .json(session.json(of: user, as: "me", call, state))
    }

    static func readSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (session, user) = try session(call, state)
        return .json(session.json(of: user, as: call.sessionName, call, state))
    }

    static func refreshSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (session, user) = try session(call, state)
        let refreshed = state.refresh(session, at: call.moment)
        return .json(refreshed.json(of: user, as: call.sessionName, call, state))
    }

    static func endSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (session, _) = try session(call, state)
        state.sessions.remove(session.key)
        if call.sessionName == OktaSession.own { call.setCookie("sid", nil) }
        return .empty()
    }

    static func getOwnUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let session = call.request.cookie("sid").flatMap { state.session($0, at: call.moment) }
        let user = try Refused.require(
            session.flatMap { state.users[$0.userID] }, .sessionInvalid,
            "\(missingSession(call)); expected one from a sign-in in this browser")
        return .json(user.json(at: call.arrival.base))
    }

    /// Exchanges a session token for the cookie of a session, and sends the browser on. Source: guide:session-cookie;
    /// that a bad token leads there too, without a cookie: ours.
    static func redirectWithSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = try call.form()
        let (token, address) = (try parameters.required("token"), try parameters.required("redirectUrl"))
        guard let origin = OktaAddress(address)?.origin.text, call.isTrusted(origin, in: &state) else {
            throw Okta.refusal("redirectUrl", "is \(address); expected an address at a trusted origin")
        }
        if let (session, _) = state.openSession(by: token, call) {
            call.setCookie("sid", session.id)
        } else {
            call.findings.note(
                "session-token", expected: .text("a session token of authn, used once"),
                found: .text("one that is unknown, used or expired"), source: "ours")
        }
        return .respond(.onward(to: address, from: call.request))
    }

    private static func session(_ call: OktaCall, _ state: State) throws(Refused) -> (OktaSession, OktaUser) {
        let (name, isOwn) = (call.sessionName, call.sessionName == OktaSession.own)
        let session = (isOwn ? call.request.cookie("sid") : name).flatMap { state.session($0, at: call.moment) }
        guard let session, let user = state.users[session.userID] else {
            throw Refused(
                .sessionNotFound, ["id": .string(name), "kind": isOwn ? "Session" : "AppSession"],
                because: (isOwn ? missingSession(call) : "no session has the id \(name)")
                    + "; expected one that is open")
        }
        return (session, user)
    }

    static func missingSession(_ call: OktaCall) -> String {
        call.request.cookie("sid") == nil ? "there is no cookie sid" : "the cookie sid names no session"
    }
}

extension OktaCall {
    fileprivate var sessionName: String { parameters["session"].isEmpty ? OktaSession.own : parameters["session"] }
}

extension OktaSession {
    /// What the session of the browser that asks is called.
    fileprivate static let own = "me"

    fileprivate func json(of user: OktaUser, as name: String, _ call: OktaCall, _ state: OktaState) -> JSON {
        func link(_ path: String, _ methods: JSON...) -> JSON {
            ["href": .string(call.arrival.base + "/api/v1/" + path), "hints": ["allow": .array(methods)]]
        }
        var owner: JSONObject = ["name": .string(user.name)]
        for member in link("users/" + (name == Self.own ? name : user.id), "GET").object ?? [:] {
            owner[member.name] = member.value
        }
        let time = JSON.string(authenticated.shown)
        return [
            "id": .string(id), "userId": .string(user.id), "login": .string(user.login), "createdAt": time,
            "expiresAt": .string(expires.shown), "status": "ACTIVE", "lastPasswordVerification": time,
            "lastFactorVerification": methods.contains("mfa") ? time : .null, "amr": .array(methods.map(JSON.string)),
            "idp": ["id": .string(call.vendor.accounts.orgID), "type": "OKTA"],
            "mfaActive": .bool(state.factors(of: user.id).contains { $0.status == .active }),
            "_links": [
                "self": link("sessions/" + name, "GET", "DELETE"),
                "refresh": link("sessions/\(name)/lifecycle/refresh", "POST"), "user": .object(owner),
            ],
        ]
    }
}

extension OktaState {
    /// The session with that id, unless it has ended.
    func session(_ id: String, at moment: Moment) -> OktaSession? {
        sessions[id].flatMap { moment < $0.expires ? $0 : nil }
    }

    /// Lets a session last as long again from now.
    @discardableResult
    mutating func refresh(_ session: OktaSession, at moment: Moment) -> OktaSession {
        var refreshed = session
        refreshed.refreshed = moment
        sessions.change(session.key) { $0 = refreshed }
        return refreshed
    }

    mutating func openSession(_ authentication: OktaAuthentication, of userID: String, _ call: OktaCall) -> OktaSession
    {
        let session = OktaSession(
            id: call.identifiers.oktaID(ofLength: 25), userID: userID, authenticated: authentication.moment,
            methods: authentication.methods)
        sessions.add(session, within: Self.bound)
        users.change(ExactText(userID)) { $0.lastLogin = call.moment }
        return session
    }

    /// A session by a session token; `nil` if the token is unknown, used or expired, or its user gone.
    fileprivate mutating func openSession(by token: String, _ call: OktaCall) -> (OktaSession, OktaUser)? {
        guard let ticket = sessionTokens[token], ticket.complaint(at: call.moment) == nil,
            let user = ticket.content.userID.flatMap({ users[$0] }), user.isActive
        else { return nil }
        sessionTokens.change(ticket.key) { $0.isUsed = true }
        var authentication = ticket.content
        authentication.moment = call.moment
        return (openSession(authentication, of: user.id, call), user)
    }
}
