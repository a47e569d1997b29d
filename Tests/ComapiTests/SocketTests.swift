import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Wire

/// The socket and its frames (section 5 of the vendor's spec).
@Suite("Comapi's socket", .timeLimit(.minutes(15))) struct SocketTests {
    private static let conversation = "/conversations/trip-42"

    struct Deed: Sendable, CustomStringConvertible {
        let description: String
        /// Whether mira makes the call; otherwise bob.
        var byMira = true
        let method: HTTPRequest.Method
        let path: String
        var body = ""
        let mira: [String]
        let bob: [String]
    }

    @Test("each deed is told to those who are concerned, and to nobody else", arguments: Depth.allCases, deeds)
    func deed(_ depth: Depth, _ deed: Deed) async throws {
        let world = try await World.comapi(depth)
        let (mira, bob) = try await world.trip()
        let other = try await world.session("other")
        let sockets = [try await world.socket(mira), try await world.socket(bob), try await world.socket(other)]
        let message = try await world.call(
            .post, Example.path(Self.conversation + "/messages"), mira.fields, Example.message)
        for socket in sockets.prefix(2) { expect(await socket.frame()["name"], is: "conversationMessage.sent") }
        let answer = try await world.call(
            deed.method, Example.path(deed.path), (deed.byMira ? mira : bob).fields,
            deed.body.replacing("MESSAGE", with: message.json["id"]?.string ?? ""))
        #expect((200...299).contains(answer.status), "\(answer.text)")
        // A socket that received nothing gets the echo first.
        for socket in sockets { socket.send(.text(#"{"name":"echo"}"#)) }
        for (socket, expected) in zip(sockets, [deed.mira, deed.bob, []]) {
            let frames = await socket.frames(expected.count + 1)
            expect(frames.map { $0["name"]?.string }, is: expected + ["echo"])
            for frame in frames.dropLast() {
                expect(frame["context"]?["createdBy"], is: .string("session:\(deed.byMira ? "mira" : "bob")"))
                expect(frame["apiSpaceId"], is: .string(Example.a))
                expect(frame["accountId"], is: 4001)
                if deed.path.hasPrefix("/conversations") { expect(frame["conversationId"], is: "trip-42") }
            }
        }
    }

    private static let deeds: [Deed] = [
        Deed(
            description: "a message", method: .post, path: conversation + "/messages", body: Example.message,
            mira: ["conversationMessage.sent"], bob: ["conversationMessage.sent"]),
        Deed(
            description: "delivery", byMira: false, method: .post, path: conversation + "/messages/statusupdates",
            body: #"[{"messageIds":["MESSAGE"],"status":"delivered"}]"#, mira: ["conversationMessage.delivered"],
            bob: ["conversationMessage.delivered"]),
        Deed(
            description: "reading", byMira: false, method: .post, path: conversation + "/messages/statusupdates",
            body: #"[{"messageIds":["MESSAGE"],"status":"read"}]"#, mira: ["conversationMessage.read"],
            bob: ["conversationMessage.read"]),
        Deed(
            description: "the sender's own status", method: .post, path: conversation + "/messages/statusupdates",
            body: #"[{"messageIds":["MESSAGE","none"],"status":"read"}]"#, mira: [], bob: []),
        Deed(
            description: "typing", method: .post, path: conversation + "/typing", mira: [],
            bob: ["conversation.participantTyping"]),
        Deed(
            description: "typing no more", byMira: false, method: .delete, path: conversation + "/typing",
            mira: ["conversation.participantTypingOff"], bob: []),
        Deed(
            description: "a newcomer", method: .post, path: conversation + "/participants", body: #"[{"id":"ann"}]"#,
            mira: ["conversation.participantAdded"], bob: ["conversation.participantAdded"]),
        Deed(
            description: "another role", method: .post, path: conversation + "/participants",
            body: #"[{"id":"bob","role":"owner"},{"id":"mira","role":"owner"}]"#,
            mira: ["conversation.participantUpdated"], bob: ["conversation.participantUpdated"]),
        Deed(
            description: "a removal", method: .delete, path: conversation + "/participants?id=bob&id=none",
            mira: ["conversation.participantRemoved"], bob: ["conversation.participantRemoved"]),
        Deed(
            description: "leaving", byMira: false, method: .delete, path: conversation + "/participants?id=bob",
            mira: ["conversation.participantRemoved"], bob: ["conversation.participantRemoved"]),
        Deed(
            description: "another name", method: .put, path: conversation, body: #"{"name":"Trip"}"#,
            mira: ["conversation.update"], bob: ["conversation.update"]),
        Deed(description: "the same name", method: .put, path: conversation, body: "{}", mira: [], bob: []),
        Deed(
            description: "deletion", method: .delete, path: conversation, mira: ["conversation.delete"],
            bob: ["conversation.delete"]),
        Deed(
            description: "a profile", method: .patch, path: "/profiles/mira", body: #"{"shoeSize":38}"#,
            mira: ["profile.update"], bob: []),
        Deed(
            description: "the same profile", method: .patch, path: "/profiles/mira", body: #"{"none":null}"#, mira: [],
            bob: []),
    ]

    @Test(
        "what the log shows is what sockets were told, and goes on when a conversation comes back",
        arguments: Depth.allCases)
    func log(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let socket = try await world.socket(mira)
        let path = Example.path("/conversations/trip-42")
        let message = #"{"parts":[{"data":"Hi"}],"alert":{"title":"T"}}"#
        try await world.call(.post, path + "/messages", mira.fields, message).expect(200)
        let told = await socket.frame()
        expect(told["payload"]?["alert"], is: ["title": "T"])
        try await world.call(.get, path + "/events", mira.fields).expect(200, "[\(told.text)]")
        try await world.call(.delete, path, mira.fields).expect(204)
        try await world.call(.get, path + "/events", mira.fields).expect(404, Example.notFound, "unknown-conversation")
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        let sent = try await world.call(.post, path + "/messages", mira.fields, message)
        expect(sent.json["eventId"], is: 2)
        let events = try await world.call(.get, path + "/events?from=2", mira.fields)
        expect(events.json.array?.count, is: 1)
        let all = try await world.call(.get, path + "/events?limit=1", mira.fields)
        expect(all.json.array?.map { $0["conversationEventId"] }, is: [1])
    }

    @Test("the header's token wins over the query's, and one of them is enough", arguments: Depth.allCases)
    func credentials(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        for (query, fields) in [("", mira.fields), ("?token=broken", mira.fields), ("?token=\(mira.token)", [])] {
            let socket = try await world.openSocket(Example.path("/socket\(query)"), fields)
            expect(await socket.frame()["name"], is: "socket.info")
        }
        for (query, fields, failure) in [
            ("?token=\(mira.token)", [("authorization", "Bearer broken")], "session-malformed"),
            ("?token=", [], "session-missing"), ("?token=broken", [], "session-malformed"),
        ] as [(String, World.Fields, String)] {
            let refused = await #expect(throws: SocketRefused.self) {
                _ = try await world.openSocket(Example.path("/socket\(query)"), fields)
            }
            refused?.answer.expect(401, Example.unauthorized, failure)
        }
    }

    @Test("other frames are ignored with a remark, a binary one closes with 1003", arguments: Depth.allCases)
    func otherFrames(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let socket = try await world.socket(try await world.session())
        for text in ["no JSON", "[]", #"{"name":"other"}"#] { socket.send(.text(text)) }
        socket.send(.binary([1, 2]))
        #expect(await socket.next().isClosed(with: .unsupportedData))
        let journal = try await world.control(.get, "journal?route=socket.open")
        expect(journal.text.ranges(of: "ignored-frame").count, is: 3)
    }
}
