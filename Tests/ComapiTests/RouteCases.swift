import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Tokens
import Understudy
import Wire

extension RouteCase {
    /// A call by mira, who shares a conversation with a message and has uploaded content.
    private static func mira(
        _ route: String, _ method: HTTPRequest.Method, _ rest: String, body: String = "", status: Int = 200,
        contentType: String? = nil
    ) -> RouteCase {
        RouteCase(
            route, method, Example.path(rest), fields: [("authorization", "Bearer TOKEN")], body: body, status: status,
            contentType: contentType
        ) { world in
            let (mira, _) = try await world.trip()
            let sent = try await world.call(
                .post, Example.path("/conversations/trip-42/messages"), mira.fields, Example.message)
            let upload = try await world.call(.post, Example.path("/content"), mira.fields, "hi")
            return [
                "SESSION": mira.id, "TOKEN": mira.token, "CONTENT": upload.json["id"]?.string ?? "",
                "MESSAGE": sent.json["id"]?.string ?? "",
            ]
        }
    }

    static let all: [RouteCase] = [
        .mira("session.start", .get, "/sessions/start"),
        .mira("session.read", .get, "/sessions/SESSION"),
        .mira("session.end", .delete, "/sessions/SESSION", status: 204),
        .mira(
            "push.register", .put, "/sessions/SESSION/push",
            body: #"{"fcm":{"package":"test.app","registrationId":"tok-1"}}"#),
        .mira("push.remove", .delete, "/sessions/SESSION/push", status: 204),
        .mira("profile.query", .get, "/profiles"),
        .mira("profile.read", .get, "/profiles/bob"),
        .mira(
            "profile.replace", .put, "/profiles/mira",
            body: #"{"id":"mira","firstName":"Mira","_createdOn":"x","nickname":null}"#),
        .mira("profile.patch", .patch, "/profiles/mira", body: #"{"shoeSize":38}"#),
        .mira("conversation.create", .post, "/conversations", body: #"{"id":"other"}"#, status: 201),
        .mira("conversation.list", .get, "/conversations"),
        .mira("conversation.read", .get, "/conversations/trip-42"),
        .mira("conversation.update", .put, "/conversations/trip-42", body: #"{"name":"Trip"}"#),
        .mira("conversation.delete", .delete, "/conversations/trip-42", status: 204),
        .mira("participant.list", .get, "/conversations/trip-42/participants"),
        .mira(
            "participant.add", .post, "/conversations/trip-42/participants",
            body: #"[{"id":"ann","role":"member"}]"#, status: 201),
        .mira("participant.remove", .delete, "/conversations/trip-42/participants?id=bob", status: 204),
        .mira("message.send", .post, "/conversations/trip-42/messages", body: Example.message),
        .mira("message.list", .get, "/conversations/trip-42/messages"),
        .mira(
            "message.status", .post, "/conversations/trip-42/messages/STATUSupdates",
            body: #"[{"messageIds":["MESSAGE"],"status":"read"}]"#,
            contentType: "text/plain; charset=utf-8"),
        .mira("event.list", .get, "/conversations/trip-42/events"),
        .mira("typing.start", .post, "/conversations/trip-42/typing", body: "{}", status: 204),
        .mira("typing.stop", .delete, "/conversations/trip-42/typing", status: 204),
        .mira("content.upload", .post, "/content", body: "bytes"),
        .mira("content.read", .get, "/content/CONTENT", contentType: "application/octet-stream"),
        .mira("facebook.state", .post, "/channels/facebook/state", body: "{}"),
        .mira("preflight", .options, "/no/such/path", status: 204),
        .mira("socket.open", .get, "/socket?token=TOKEN", status: 101),
        RouteCase(
            "session.create", .post, Example.path("/sessions"),
            body: #"{"authenticationId":"CHALLENGE","authenticationToken":"TOKEN"}"#
        ) { world in
            let challenge = try await world.challenge()
            return [
                "CHALLENGE": challenge.id,
                "TOKEN": try await world.mint("comapi/app", ["authenticationId": .string(challenge.id)]),
            ]
        },
        RouteCase("push.click", .get, Example.path("/pushes/PUSH/click")) { world in
            let (mira, bob) = try await world.trip()
            try await world.call(
                .put, Example.path("/sessions/\(bob.id)/push"), bob.fields,
                #"{"fcm":{"package":"p","registrationId":"r"}}"#
            ).expect(200)
            try await world.call(
                .post, Example.path("/conversations/trip-42/messages"), mira.fields,
                #"{"parts":[{"data":"Hi"}],"alert":{"title":"T"}}"#
            ).expect(200)
            let pushes = try await world.control(.get, "state/comapi").json["spaces"]?[0]?["pushes"]?.array
            return ["PUSH": pushes?.last?["id"]?.string ?? ""]
        },
    ]
}

/// The effect of each value of each switch (section 10 of the vendor's spec).
extension SwitchCase {
    private static func answer(
        issued: String? = "1798761600", expires: String? = "1798848000", audience: String = #""https://api.comapi.com""#
    ) -> World.Send {
        { world in
            try await world.answer {
                Forged.claims(nonce: $0.json, audience: audience, issued: issued, expires: expires)
            }
        }
    }

    private static func answer(after delay: String) -> World.Send {
        { world in
            let challenge = try await world.challenge()
            try await world.advance(delay)
            return try await world.answer(challenge, Forged.token(claims: Forged.claims(nonce: challenge.json)))
        }
    }

    private static let answerTwice: World.Send = { world in
        let challenge = try await world.challenge()
        let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
        try await world.answer(challenge, token).expect(200)
        return try await world.answer(challenge, token)
    }

    private static let encodedQuery: World.Send = { world in
        try await world.call(.get, Example.path("/profiles%3Femail=!"), world.session().fields)
    }

    private static let removeByBody: World.Send = { world in
        let (mira, _) = try await world.trip()
        return try await world.call(
            .delete, Example.path("/conversations/trip-42/participants"), mira.fields, #"["bob"]"#)
    }

    static let all = [
        SwitchCase("accepts-millisecond-times", "on", answer(expires: "1798848000000")),
        SwitchCase("accepts-millisecond-times", "off", failure: "milliseconds-exp", answer(expires: "1798848000000")),
        SwitchCase("requires-time-claims", "off", answer(issued: nil)),
        SwitchCase("requires-time-claims", "on", failure: "missing-iat", answer(issued: nil)),
        SwitchCase("challenge-lifetime", "900", answer(after: "900s")),
        SwitchCase("challenge-lifetime", "10", failure: "nonce-expired", answer(after: "11s")),
        SwitchCase("clock-leeway", "60", answer(expires: "1798761541")),
        SwitchCase("clock-leeway", "0", failure: "expired-token", answer(expires: "1798761600")),
        SwitchCase("single-use-challenges", "on", failure: "nonce-reused", answerTwice),
        SwitchCase("single-use-challenges", "off", answerTwice),
        SwitchCase("accepts-audience-array", "on", answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase(
            "accepts-audience-array", "off", failure: "wrong-audience",
            answer(audience: #"["https://api.comapi.com"]"#)),
        SwitchCase("accepts-encoded-query", "on", encodedQuery),
        SwitchCase("accepts-encoded-query", "off", failure: "unknown-path", encodedQuery),
        SwitchCase("accepts-participant-ids-in-body", "on", removeByBody),
        SwitchCase("accepts-participant-ids-in-body", "off", failure: "missing-field", removeByBody),
        SwitchCase("session-lifetime", "3600", shows: "\n2027-01-01T01:00:00.000Z 3600", begin),
        SwitchCase("session-lifetime", "600", shows: "\n2027-01-01T00:10:00.000Z 600", begin),
        SwitchCase("profile-write-status", "200", shows: "200\n", writeProfile),
        SwitchCase("profile-write-status", "201", shows: "201\n", writeProfile),
        SwitchCase(
            "emits-conversation-create", "on",
            shows: "\nconversation.create conversation.participantAdded conversation.participantAdded",
            announcement),
        SwitchCase(
            "emits-conversation-create", "off",
            shows: "\nconversation.participantAdded conversation.participantAdded", announcement),
        SwitchCase("echoes-frames", "on", shows: #"\#n{"name":"echo"} closed 1003"#, echo),
        SwitchCase("echoes-frames", "off", shows: "\nclosed 1003", echo),
        SwitchCase("adopts-earlier-sessions", "on", shows: #""expiresOn":"2027-01-01T01:00:00.000Z""#, earlierSession),
        SwitchCase("adopts-earlier-sessions", "off", failure: "session-unknown", earlierSession),
    ]

    /// When a session ends, and its token's lifetime in seconds.
    private static let begin: World.Send = { world in
        let session = try await world.session()
        let expiry = CompactToken(session.token).claims?["exp"]?.int ?? 0
        return .heard([session.answer.json["session"]?["expiresOn"]?.string ?? "", "\(expiry - Example.moment)"])
    }

    private static let writeProfile: World.Send = { world in
        let (path, mira) = (Example.path("/profiles/mira"), try await world.session())
        let first = try await world.call(.put, path, mira.fields, #"{"shoeSize":38}"#)
        let second = try await world.call(.put, path, mira.fields, #"{"shoeSize":38}"#)
        expect(first.status, is: second.status)
        #expect(first["etag"] != nil && second["etag"] != nil)
        return second
    }

    /// The frames a socket receives for a new conversation, until both participants are named.
    private static let announcement: World.Send = { world in
        let socket = try await world.socket(world.session("bob"))
        let mira = try await world.session("mira")
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        var names: [String] = []
        while names.count(where: { $0 != "conversation.create" }) < 2 {
            names.append(await socket.frame()["name"]?.string ?? "none")
        }
        return .heard(names)
    }

    /// What a socket receives for an echo frame, and then for bytes, which close it.
    private static let echo: World.Send = { world in
        let socket = try await world.socket(world.session())
        socket.send(.text(#"{"name":"echo"}"#))
        socket.send(.binary([1]))
        var heard: [String] = []
        while true {
            switch await socket.next() {
            case .text(let text): heard.append(text)
            case .closed(let closure): return .heard(heard + ["closed \(closure.code.rawValue)"])
            case .binary, .pong: heard.append("something else")
            }
        }
    }

    /// A session from an earlier start, read at a later one with the same switch.
    private static let earlierSession: World.Send = { world in
        let mira = try await world.session()
        let later = world.moved(to: try Stage(Emulator(fixtures: Repository.fixtures)))
        try await later.freeze(at: Example.moment)
        let name = "comapi.adopts-earlier-sessions"
        let value = try await world.control(.get, "settings").json["switches"]?[name]?.string
        try await later.set(name, value ?? "")
        return try await later.call(.get, Example.path("/sessions/\(mira.id)"), mira.fields)
    }
}
