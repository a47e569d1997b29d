import HTTPTypes
import JSON
import Support
import Testing

/// A call that every route answers with success.
struct RouteCase: Sendable, CustomStringConvertible {
    let id: String
    let method: HTTPRequest.Method
    let path: String
    var body = ""
    let status: Int
    /// The exact content, where no fresh id is in it.
    var answer: String?
    var type: String? = "application/json; charset=utf-8"

    var description: String { id }
}

@Suite("Comapi's routes")
struct RouteTests {
    @Test("every route answers with its status and its body", arguments: Depth.allCases, routes)
    func route(_ depth: Depth, _ route: RouteCase) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let sent = try await world.call(
            .post, Example.path("/conversations/trip-42/messages"), mira.fields, Example.message)
        let upload = try await world.call(.post, Example.path("/content"), mira.fields, "hi")
        func filled(_ text: String) -> String {
            text.replacing("SESSION", with: mira.id).replacing("CONTENT", with: upload.json["id"]?.string ?? "")
                .replacing("MESSAGE", with: sent.json["id"]?.string ?? "").replacing("TOKEN", with: mira.token)
        }
        let answer = try await world.call(
            route.method, Example.path(filled(route.path)), mira.fields, filled(route.body))
        answer.expect(route.status, route.answer)
        #expect(answer.entry?.record.route == route.id)
        #expect(answer["content-type"] == route.type)
        #expect(answer["access-control-allow-origin"] == "*")
        let isTagged = ["profile.read", "profile.replace", "profile.patch", "conversation.create", "conversation.read"]
        #expect((answer["etag"] != nil) == (isTagged + ["conversation.update"]).contains(route.id))
    }

    @Test("no route is without a case but those of challenge, socket and clicks, which have suites of their own")
    func coverage() async throws {
        let comapi = try #require(try await World().emulator.vendors.first { $0.identity.id == "comapi" })
        #expect(
            Set(Self.routes.map(\.id)).union(["session.create", "socket.open", "push.click"])
                == Set(comapi.routes.map(\.id)))
        #expect(comapi.routes.allSatisfy { $0.endpoints.count == 1 }, "a second endpoint needs a second case")
    }

    @Test("HEAD is answered as GET is", arguments: Depth.allCases)
    func head(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let answer = try await world.call(.head, Example.path("/profiles/mira"), mira.fields)
        #expect(answer.status == 200)
        #expect(answer.entry?.record.route == "profile.read")
    }

    @Test("ids are split off before they are decoded, and compared byte for byte")
    func ids() async throws {
        let world = try await World.comapi()
        let user = "a/b?c é"
        let session = try await world.session(user)
        let path = Example.path("/profiles/a%2Fb%3Fc%20%C3%A9")
        let read = try await world.call(.get, path, session.fields)
        read.expect(200)
        #expect(read.json["id"]?.string == user)
        // The same letter, made of two characters, is another user.
        try await world.call(.get, Example.path("/profiles/a%2Fb%3Fc%20e%CC%81"), session.fields)
            .expect(404, Example.notFound, "unknown-profile")
    }

    @Test("a base that ends in a slash is accepted, and remarked; slashes elsewhere are not")
    func slashes() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let answer = try await world.call(.get, "/" + Example.path("/profiles/mira"), mira.fields)
        answer.expect(200)
        #expect(answer.isNoted("double-slash"))
        for path in ["/profiles//mira", "/profiles/mira/", "//profiles/mira"] {
            try await world.call(.get, Example.path(path), mira.fields).expect(404, Example.notFound, "unknown-path")
        }
    }

    @Test("nothing is ever answered with 304, and If-None-Match is ignored")
    func conditional() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let tag = try await world.call(.get, Example.path("/profiles/mira"), mira.fields)["etag"] ?? ""
        let fields = mira.fields + [("if-none-match", tag), ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")]
        try await world.call(.get, Example.path("/profiles/mira"), fields).expect(200)
    }

    @Test("a template's spaces are each their own")
    func templates() async throws {
        let world = try await World.comapi()
        let one = try await world.session("mira", in: "suite-one")
        let two = try await world.session("mira", in: "suite-two")
        try await world.call(.put, Example.path("/profiles/mira", in: "suite-one"), one.fields, #"{"email":"x"}"#)
            .expect(200)
        let other = try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), two.fields)
        #expect(other.json["email"] == nil)
        try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), one.fields)
            .expect(401, Example.unauthorized, "session-other-space")
        try await world.call(.get, "/apispaces/suite-/sessions/start").expect(404, Example.notFound, "unknown-space")
    }

    private static let flags = #"{"canSend":true,"canAddParticipants":true,"canRemoveParticipants":true}"#
    private static func trip(_ members: String = "", latest: Int = 1) -> String {
        #"{"id":"trip-42",\#(members)"roles":{"owner":\#(flags),"participant":\#(flags)},"isPublic":false,"#
            + #""messageScope":"a2p","participantCount":2,"latestSentEventId":\#(latest),"#
    }

    private static let routes: [RouteCase] = [
        RouteCase(id: "session.start", method: .get, path: "/sessions/start", status: 200),
        RouteCase(id: "session.read", method: .get, path: "/sessions/SESSION", status: 200),
        RouteCase(id: "session.end", method: .delete, path: "/sessions/SESSION", status: 204, answer: "", type: nil),
        RouteCase(
            id: "push.register", method: .put, path: "/sessions/SESSION/push",
            body: #"{"fcm":{"package":"test.app","registrationId":"tok-1"}}"#, status: 200, answer: "", type: nil),
        RouteCase(
            id: "push.remove", method: .delete, path: "/sessions/SESSION/push", status: 204, answer: "", type: nil),
        RouteCase(
            id: "profile.query", method: .get, path: "/profiles", status: 200,
            answer: #"[{"id":"bob","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"},"#
                + #"{"id":"mira","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"}]"#),
        RouteCase(
            id: "profile.read", method: .get, path: "/profiles/bob", status: 200,
            answer: #"{"id":"bob","_createdOn":"2027-01-01T00:00:00.000Z","_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        RouteCase(
            id: "profile.replace", method: .put, path: "/profiles/mira",
            body: #"{"id":"mira","firstName":"Mira","_createdOn":"x","nickname":null}"#, status: 200,
            answer: #"{"id":"mira","firstName":"Mira","_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        RouteCase(
            id: "profile.patch", method: .patch, path: "/profiles/mira", body: #"{"shoeSize":38}"#, status: 200,
            answer: #"{"id":"mira","shoeSize":38,"_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_updatedOn":"2027-01-01T00:00:00.000Z"}"#),
        RouteCase(
            id: "conversation.create", method: .post, path: "/conversations", body: #"{"id":"other"}"#, status: 201),
        RouteCase(id: "conversation.list", method: .get, path: "/conversations", status: 200),
        RouteCase(id: "conversation.read", method: .get, path: "/conversations/trip-42", status: 200),
        RouteCase(
            id: "conversation.update", method: .put, path: "/conversations/trip-42", body: #"{"name":"Trip"}"#,
            status: 200),
        RouteCase(
            id: "conversation.delete", method: .delete, path: "/conversations/trip-42", status: 204, answer: "",
            type: nil),
        RouteCase(
            id: "participant.list", method: .get, path: "/conversations/trip-42/participants", status: 200,
            answer: #"[{"id":"bob","role":"participant"},{"id":"mira","role":"owner"}]"#),
        RouteCase(
            id: "participant.add", method: .post, path: "/conversations/trip-42/participants",
            body: #"[{"id":"ann","role":"member"}]"#, status: 201, answer: "", type: nil),
        RouteCase(
            id: "participant.remove", method: .delete, path: "/conversations/trip-42/participants?id=bob", status: 204,
            answer: "", type: nil),
        RouteCase(
            id: "message.send", method: .post, path: "/conversations/trip-42/messages", body: Example.message,
            status: 200),
        RouteCase(id: "message.list", method: .get, path: "/conversations/trip-42/messages", status: 200),
        RouteCase(
            id: "message.status", method: .post, path: "/conversations/trip-42/messages/STATUSupdates",
            body: #"[{"messageIds":["MESSAGE"],"status":"read"}]"#, status: 200, answer: "OK",
            type: "text/plain; charset=utf-8"),
        RouteCase(id: "event.list", method: .get, path: "/conversations/trip-42/events", status: 200),
        RouteCase(
            id: "typing.start", method: .post, path: "/conversations/trip-42/typing", body: "{}", status: 204,
            answer: "", type: nil),
        RouteCase(
            id: "typing.stop", method: .delete, path: "/conversations/trip-42/typing", status: 204, answer: "",
            type: nil),
        RouteCase(id: "content.upload", method: .post, path: "/content", body: "bytes", status: 200),
        RouteCase(
            id: "content.read", method: .get, path: "/content/CONTENT", status: 200, answer: "hi",
            type: "application/octet-stream"),
        RouteCase(id: "facebook.state", method: .post, path: "/channels/facebook/state", body: "{}", status: 200),
        RouteCase(id: "preflight", method: .options, path: "/no/such/path", status: 204, answer: "", type: nil),
    ]

    @Test("a tag is that of the members, whatever their order, without those of the server")
    func tag() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let path = Example.path("/profiles/mira")
        // SHA-256 of {"a":{"y":[{"b":1,"c":2}],"z":"ü"},"firstName":"Mira","id":"mira"}, computed elsewhere.
        let tag = "\"4475ec5625b17109\""
        let body = #"{"firstName":"Mira","a":{"z":"ü","y":[{"c":2,"b":1}]},"_secret":1}"#
        let written = try await world.call(.put, path, mira.fields, body)
        written.expect(200)
        #expect(written["etag"] == tag)
        #expect(written.json["_secret"] == nil)
        for (value, status) in [
            (tag, 200), ("*", 200), ("\"x\", \(tag)", 200), ("W/\(tag)", 412), ("4475ec5625b17109", 412),
        ] {
            let answer = try await world.call(.put, path, mira.fields + [("if-match", value)], body)
            #expect(answer.status == status, "\(value)")
            if value == "4475ec5625b17109" {
                #expect(answer.entry?.explanation?.contains("only the quotes are missing") == true)
            }
        }
    }

    @Test("a conversation is answered in full wherever it is")
    func conversation() async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        try await world.call(.post, Example.path("/conversations/trip-42/messages"), mira.fields, Example.message)
            .expect(200)
        let read = try await world.call(.get, Example.path("/conversations/trip-42"), mira.fields)
        let tag = try #require(read["etag"])
        let expected = JSON.string(tag).text
        read.expect(
            200,
            Self.trip() + #""_etag":\#(expected),"_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_createdBy":"session:mira","_updatedOn":"2027-01-01T00:00:00.000Z","_updatedBy":"session:mira"}"#)
        try await world.call(.get, Example.path("/conversations"), mira.fields).expect(200, "[\(read.text)]")
        #expect(tag.wholeMatch(of: /"[0-9a-f]{16}"/) != nil)
    }
}
