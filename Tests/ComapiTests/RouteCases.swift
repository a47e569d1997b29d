import HTTPTypes
import JSON
import Support
import Testing
import Tokens

/// A successful call of each route.
extension RouteCase {
    /// A call by mira, who shares a conversation with a message and has uploaded content.
    private static func mira(
        _ route: String, _ method: HTTPRequest.Method, _ rest: String, body: String = "", status: Int = 200,
        answer: String? = nil, contentType: String? = nil
    ) -> RouteCase {
        RouteCase(
            route, method, Example.path(rest), fields: [("authorization", "Bearer TOKEN")], body: body, status: status,
            answer: answer, contentType: contentType
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
        .mira("session.end", .delete, "/sessions/SESSION", status: 204, answer: ""),
        .mira(
            "push.register", .put, "/sessions/SESSION/push",
            body: #"{"fcm":{"package":"test.app","registrationId":"tok-1"}}"#, answer: ""),
        .mira(
            "push.remove", .delete, "/sessions/SESSION/push", status: 204, answer: ""),
        .mira(
            "profile.query", .get, "/profiles",
            answer: #"[{"id":"bob","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"},"#
                + #"{"id":"mira","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"}]"#),
        .mira(
            "profile.read", .get, "/profiles/bob",
            answer: #"{"id":"bob","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        .mira(
            "profile.replace", .put, "/profiles/mira",
            body: #"{"id":"mira","firstName":"Mira","_createdOn":"x","nickname":null}"#,
            answer: #"{"id":"mira","firstName":"Mira","_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        .mira(
            "profile.patch", .patch, "/profiles/mira", body: #"{"shoeSize":38}"#,
            answer: #"{"id":"mira","shoeSize":38,"_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        .mira(
            "conversation.create", .post, "/conversations", body: #"{"id":"other"}"#, status: 201),
        .mira("conversation.list", .get, "/conversations"),
        .mira("conversation.read", .get, "/conversations/trip-42"),
        .mira(
            "conversation.update", .put, "/conversations/trip-42", body: #"{"name":"Trip"}"#),
        .mira(
            "conversation.delete", .delete, "/conversations/trip-42", status: 204, answer: ""),
        .mira(
            "participant.list", .get, "/conversations/trip-42/participants",
            answer: #"[{"id":"bob","role":"participant"},{"id":"mira","role":"owner"}]"#),
        .mira(
            "participant.add", .post, "/conversations/trip-42/participants",
            body: #"[{"id":"ann","role":"member"}]"#, status: 201, answer: ""),
        .mira(
            "participant.remove", .delete, "/conversations/trip-42/participants?id=bob", status: 204,
            answer: ""),
        .mira(
            "message.send", .post, "/conversations/trip-42/messages", body: Example.message),
        .mira("message.list", .get, "/conversations/trip-42/messages"),
        .mira(
            "message.status", .post, "/conversations/trip-42/messages/STATUSupdates",
            body: #"[{"messageIds":["MESSAGE"],"status":"read"}]"#, answer: "OK",
            contentType: "text/plain; charset=utf-8"),
        .mira("event.list", .get, "/conversations/trip-42/events"),
        .mira(
            "typing.start", .post, "/conversations/trip-42/typing", body: "{}", status: 204,
            answer: ""),
        .mira(
            "typing.stop", .delete, "/conversations/trip-42/typing", status: 204, answer: ""),
        .mira("content.upload", .post, "/content", body: "bytes"),
        .mira(
            "content.read", .get, "/content/CONTENT", answer: "hi",
            contentType: "application/octet-stream"),
        .mira("facebook.state", .post, "/channels/facebook/state", body: "{}"),
        .mira("preflight", .options, "/no/such/path", status: 204, answer: ""),
        .mira("socket.open", .get, "/socket?token=TOKEN", status: 101, answer: ""),
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
        RouteCase("push.click", .get, Example.path("/pushes/PUSH/click"), answer: "") { world in
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
