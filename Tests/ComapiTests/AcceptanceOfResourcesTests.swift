import HTTPTypes
import JSON
import Support
import Testing
import Wire

/// The spec's acceptance examples for profiles, conversations, messages, the socket, browsers and content,
/// with the spec's numbers.
@Suite("Comapi's acceptance examples: resources and socket")
struct AcceptanceOfResourcesTests {
    @Test("20: a profile is patched under its tag, once", arguments: Depth.allCases)
    func patch(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let path = Example.path("/profiles/mira")
        try await world.call(.put, path, mira.fields, #"{"firstName":"Mira"}"#).expect(200)
        let read = try await world.call(.get, path, mira.fields)
        read.expect(200)
        let tag = try #require(read["etag"])
        let fields = mira.fields + [("If-Match", tag)]
        let patched = try await world.call(.patch, path, fields, #"{"lastName":"Ek"}"#)
        patched.expect(
            200,
            #"{"id":"mira","firstName":"Mira","lastName":"Ek","_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_updatedOn":"2027-01-01T00:00:00.000Z"}"#)
        #expect(patched["etag"] != tag)
        try await world.call(.patch, path, fields, #"{"lastName":"Ek"}"#)
            .expect(412, #"{"message":"Precondition Failed"}"#, "etag-mismatch")
    }

    @Test("21: profiles are found by the query language, also with an encoded question mark", arguments: Depth.allCases)
    func query(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = (try await world.session("mira"), try await world.session("bob"))
        try await world.call(
            .put, Example.path("/profiles/mira"), mira.fields, #"{"email":"mira@example.test","shoeSize":38}"#
        ).expect(200)
        func ids(_ target: String) async throws -> ([String?]?, ReceivedAnswer) {
            let answer = try await world.call(.get, Example.path(target), mira.fields)
            answer.expect(200)
            return (answer.json.array?.map { $0["id"]?.string }, answer)
        }
        let (encoded, answer) = try await ids("/profiles%3Femail=mira@example.test")
        #expect(encoded == ["mira"])
        #expect(answer.isNoted("encoded-question-mark"))
        #expect(try await ids("/profiles?email=~EXAMPLE&shoeSize=>30").0 == ["mira"])
        #expect(try await ids("/profiles?email=!").0 == ["bob"])
    }

    @Test("22: a conversation is created once", arguments: Depth.allCases)
    func create(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let created = try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip)
        created.expect(201)
        #expect(created.json["participantCount"] == 2)
        #expect(created["etag"] == created.json["_etag"]?.string)
        try await world.call(.get, Example.path("/conversations/trip-42/participants"), mira.fields)
            .expect(200, #"[{"id":"bob","role":"participant"},{"id":"mira","role":"owner"}]"#)
        try await world.call(.post, Example.path("/conversations"), mira.fields, Example.trip)
            .expect(409, #"{"message":"Conflict"}"#, "conversation-exists")
    }

    @Test("23: a conversation is listed for its participants, and closed to others", arguments: Depth.allCases)
    func list(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (_, bob) = try await world.trip()
        let list = try await world.call(.get, Example.path("/conversations?scope=participant&"), bob.fields)
        list.expect(200)
        #expect(list.json.array?.map { $0["id"] } == ["trip-42"])
        #expect(list.json[0]?["latestSentEventId"] == nil)
        let other = try await world.session("third")
        try await world.call(.get, Example.path("/conversations/trip-42"), other.fields)
            .expect(403, Example.forbidden, "not-a-participant")
    }

    @Test("24: participants are removed by ids in the body", arguments: Depth.allCases)
    func remove(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, bob) = try await world.trip()
        let socket = try await world.socket(bob)
        let removed = try await world.call(
            .delete, Example.path("/conversations/trip-42/participants"), mira.fields, #"["bob"]"#)
        removed.expect(204, "")
        #expect(removed.isNoted("ids-in-body"))
        #expect(await socket.frame()["name"] == "conversation.participantRemoved")
        try await world.call(.get, Example.path("/conversations/trip-42"), bob.fields)
            .expect(403, Example.forbidden, "not-a-participant")
    }

    @Test(
        "25: a page ends at the sent event that fills it, and keeps what has no message there",
        arguments: Depth.allCases)
    func page(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42/messages")
        let first = try await world.call(.post, path, mira.fields, Example.message)
        let second = try await world.call(.post, path, mira.fields, Example.message)
        let (m1, m2) = (try #require(first.json["id"]?.string), try #require(second.json["id"]?.string))
        first.expect(200, #"{"id":"\#(m1)","eventId":1}"#)
        try await world.call(
            .post, path + "/statusupdates", bob.fields,
            #"[{"messageIds":["\#(m1)"],"status":"read","timestamp":"2027-01-01T01:00:07+01:00"}]"#
        ).expect(200, "OK")
        let newest = try await world.call(.get, path + "?limit=1", mira.fields)
        newest.expect(200)
        #expect(newest.json["latestEventId"] == 3)
        #expect(newest.json["earliestEventId"] == 2)
        #expect(newest.json["messages"]?.array?.map { $0["id"] } == [.string(m2)])
        let orphan = try #require(newest.json["orphanedEvents"]?[0])
        #expect(
            orphan.without(["eventId"]).text
                == #"{"id":3,"data":{"name":"read","eventId":"eventId","profileId":"bob","payload":{"messageId":"\#(m1)","#
                + #""conversationId":"trip-42","isPublicConversation":false,"profileId":"bob","#
                + #""timestamp":"2027-01-01T00:00:07.000Z"}}}"#)
        let oldest = try await world.call(.get, path + "?limit=1&from=1", mira.fields)
        oldest.expect(
            200,
            #"{"latestEventId":1,"earliestEventId":0,"messages":[{"id":"\#(m1)","sentEventId":1,"metadata":{"k":"v"},"#
                + #""context":{"from":{"id":"mira","name":"mira"},"conversationId":"trip-42","sentBy":"mira","#
                + #""sentOn":"2027-01-01T00:00:00.000Z"},"#
                + #""parts":[{"name":"body","type":"text/plain","data":"Hi","size":2}],"#
                + #""statusUpdates":{"bob":{"status":"read","on":"2027-01-01T00:00:07.000Z","#
                + #""timestamp":"2027-01-01T00:00:07.000Z"}}}],"orphanedEvents":[]}"#)
    }

    @Test("26: five messages come in three pages, none twice", arguments: Depth.allCases)
    func pages(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, _) = try await world.trip()
        let path = Example.path("/conversations/trip-42/messages")
        for _ in 0..<5 { try await world.call(.post, path, mira.fields, Example.message).expect(200) }
        var (earliest, ids): ([Int], [JSON?]) = ([], [])
        var from = ""
        for _ in 0..<3 {
            let page = try await world.call(.get, path + "?limit=2" + from, mira.fields)
            page.expect(200)
            earliest.append(try #require(page.json["earliestEventId"]?.int))
            ids += page.json["messages"]?.array?.map { $0["id"] } ?? []
            from = "&from=\((earliest.last ?? 0) - 1)"
        }
        #expect(earliest == [4, 2, 0])
        #expect(ids.count == 5)
        #expect(Set(ids).count == 5)
    }

    @Test("27: reading twice is one event, and is not undone", arguments: Depth.allCases)
    func status(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        let sent = try await world.call(.post, path + "/messages", mira.fields, Example.message)
        let id = try #require(sent.json["id"]?.string)
        for (index, status) in ["read", "read", "delivered"].enumerated() {
            let answer = try await world.call(
                .post, path + "/messages/statusUpdates", bob.fields,
                #"[{"messageIds":["\#(id)"],"status":"\#(status)","timestamp":"2027-01-01T00:00:09.000Z"}]"#)
            answer.expect(200, "OK")
            #expect(answer["content-type"] == "text/plain; charset=utf-8")
            #expect(answer.isNoted("status-skipped") == (index > 0))
        }
        let events = try await world.call(.get, path + "/events", mira.fields)
        events.expect(200)
        #expect(events.json.array?.map { $0["name"] } == ["conversationMessage.sent", "conversationMessage.read"])
        let page = try await world.call(.get, path + "/messages", mira.fields)
        #expect(page.json["messages"]?[0]?["statusUpdates"]?["bob"]?["status"] == "read")
    }

    @Test("28: a socket is greeted, told, and echoed", arguments: Depth.allCases)
    func socket(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let (mira, bob) = try await world.trip()
        let socket = try await world.openSocket(Example.path("/socket?token=\(bob.token)"))
        #expect(
            await socket.frame().without(["eventId", "socketId"]).text
                == #"{"eventId":"eventId","name":"socket.info","socketId":"socketId","accountId":4001,"#
                + #""apiSpaceId":"\#(Example.a)","context":{"createdBy":"bob"},"publishedOn":"2027-01-01T00:00:00.000Z"}"#
        )
        let path = Example.path("/conversations/trip-42/messages")
        let sent = try await world.call(.post, path, mira.fields, Example.message)
        let frame = await socket.frame()
        #expect(frame["name"] == "conversationMessage.sent")
        #expect(frame["context"]?["createdBy"] == "session:mira")
        #expect(frame["conversationEventId"] == 1)
        #expect(frame["payload"]?["messageId"] == sent.json["id"])
        let echo = #"{ "name":"echo","payload":{},"publishedOn":"2027-01-01T00:00:00.000Z" }"#
        socket.send(.text(echo))
        #expect(await socket.next() == .text(echo))
        socket.ping(Array("are you there".utf8))
        #expect(await socket.next() == .pong(Array("are you there".utf8)))
        let refused = await #expect(throws: SocketRefused.self) {
            _ = try await world.openSocket(Example.path("/socket"))
        }
        refused?.answer.expect(401, Example.unauthorized, "session-missing")
    }

    @Test("29: a browser on another origin is answered", arguments: Depth.allCases)
    func browser(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let preflight = try await world.call(
            .options, Example.path("/profiles/mira"),
            [("Origin", "http://app.test"), ("Access-Control-Request-Method", "GET")])
        preflight.expect(204, "")
        #expect(preflight["access-control-allow-origin"] == "*")
        #expect(preflight["access-control-expose-headers"] == "ETag")
        #expect(preflight["access-control-allow-methods"] == "GET, POST, PUT, PATCH, DELETE, OPTIONS")
        #expect(preflight["access-control-max-age"] == "600")
        #expect(
            preflight["access-control-allow-headers"]
                == "authorization, cache-control, content-type, content-filename, if-match, if-modified-since, pragma, "
                + "x-understudy-sandbox")
        let mira = try await world.session()
        let read = try await world.call(
            .get, Example.path("/profiles/mira"), mira.fields + [("Origin", "http://app.test")])
        read.expect(200)
        #expect(read["access-control-allow-origin"] == "*")
        #expect(read["access-control-expose-headers"] == "ETag")
    }

    @Test("30: content comes in three forms, and is read without a token", arguments: Depth.allCases)
    func content(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let form =
            "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"c.txt\"\r\nContent-Type: text/plain\r\n"
            + "\r\nmultipart\r\n--xyz--\r\n"
        let uploads: [(String, World.Fields, String, String, String, String)] = [
            (
                "/content", [("content-type", "application/json")],
                #"{"data":"aGk=","name":"a.txt","type":"text/plain"}"#, "a.txt", "content", "hi"
            ),
            (
                "/content", [("content-type", "multipart/form-data; boundary=xyz")], form, "c.txt", "content",
                "multipart"
            ),
            (
                "/content?folder=x", [("content-type", "text/plain"), ("content-filename", "b.txt")], "raw bytes",
                "b.txt", "x", "raw bytes"
            ),
        ]
        for (target, fields, body, name, folder, bytes) in uploads {
            let answer = try await world.call(.post, Example.path(target), mira.fields + fields, body)
            answer.expect(200)
            #expect(answer.json["name"]?.string == name)
            #expect(answer.json["folder"]?.string == folder)
            #expect(answer.json["size"]?.int == bytes.utf8.count)
            #expect(answer.json["private"] == false)
            let url = try #require(answer.json["url"]?.string)
            let path = try #require(url.firstRange(of: "/~")).lowerBound
            #expect(url.hasPrefix("http://127.0.0.1"))
            let content = try await world.bare(.get, String(url[path...]))
            #expect(content.status == 200)
            #expect(content.text == bytes)
            #expect(content["content-type"] == "text/plain")
            #expect(content["x-content-type-options"] == "nosniff")
            #expect(content["access-control-allow-origin"] == "*")
        }
    }

    @Test(
        "30: what was uploaded as a page is none to a browser that is led to it", arguments: Depth.allCases,
        ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", "application/pdf", ""])
    func page(_ depth: Depth, _ type: String) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let page = "<script>fetch('/_understudy/journal')</script>"
        let fields = mira.fields + (type.isEmpty ? [] : [("content-type", type)])
        let upload = try await world.call(.post, Example.path("/content"), fields, page)
        upload.expect(200)
        let id = try #require(upload.json["id"]?.string)
        for destination in ["document", "iframe", nil] {
            let fields = destination.map { [("sec-fetch-dest", $0)] } ?? []
            let answer = try await world.call(.get, Example.path("/content/\(id)"), fields)
            answer.expect(200, page)
            #expect(answer["content-type"] == (type.isEmpty ? "application/octet-stream" : type))
            #expect(answer["x-content-type-options"] == "nosniff")
            #expect(
                answer["content-security-policy"] == "sandbox; default-src 'none'; frame-ancestors 'none'")
            #expect(answer["x-frame-options"] == "DENY")
            #expect(answer["content-disposition"] == "attachment")
            #expect(answer["access-control-allow-origin"] == "*")
        }
    }
}
