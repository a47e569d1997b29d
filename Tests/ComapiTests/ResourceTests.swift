import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Wire

@testable import Comapi

/// The spec's acceptance examples for profiles, conversations, messages, the socket, browsers and content,
/// with the spec's numbers.
@Suite("Comapi's acceptance examples: resources and socket") struct AcceptanceOfResourcesTests {

    @Test("27: reading twice is one event, and is not undone") func status() async throws {
        let world = try await World.comapi()
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        let sent = try await world.call(.post, path + "/messages", mira.fields, Example.message)
        let id = try #require(sent.json["id"]?.string)
        for (index, status) in ["read", "read", "delivered"].enumerated() {
            let answer = try await world.call(
                .post, path + "/messages/statusUpdates", bob.fields,
                #"[{"messageIds":["\#(id)"],"status":"\#(status)"}]"#)
            answer.expect(200, "OK")
            expect(answer.isNoted("status-skipped"), is: (index > 0))
        }
        let events = try await world.call(.get, path + "/events", mira.fields)
        events.expect(200)
        expect(events.json.array?.map { $0["name"] }, is: ["conversationMessage.sent", "conversationMessage.read"])
    }

    @Test(
        "30: what was uploaded as a page is none to a browser that is led to it",
        arguments: ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", "application/pdf", ""])
    func page(_ type: String) async throws {
        let world = try await World.comapi()
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
            expect(answer["content-type"], is: (type.isEmpty ? "application/octet-stream" : type))
            expect(answer["x-content-type-options"], is: "nosniff")
            expect(answer["content-security-policy"], is: "sandbox; default-src 'none'; frame-ancestors 'none'")
            expect(answer["x-frame-options"], is: "DENY")
            expect(answer["content-disposition"], is: "attachment")
            expect(answer["access-control-allow-origin"], is: "*")
        }
    }
}

@Suite("Comapi's query language") struct ProfileQueryTests {
    private static let profile: JSONObject = [
        "id": "mira", "email": "mira@example.test", "shoeSize": 38, "height": 1.5, "isMember": true, "nothing": nil,
        "address": ["city": "Brno", "zip": "60200"], "plus": "a+b", "tags": ["x"], "odd&name": "=",
    ]

    @Test(
        "a term holds or does not",
        arguments: [
            ("", true), ("&", true), ("email=mira@example.test", true), ("email=Mira@example.test", false),
            ("email=!mira@example.test", false), ("email!=mira@example.test", false), ("email!=x", true),
            ("email=!x", true), ("missing=!x", true), ("missing!=x", true), ("missing=x", false),
            ("shoeSize=38", true), ("shoeSize=38.0", true), ("shoeSize=39", false), ("shoeSize=>37", true),
            ("shoeSize=>38", false), ("shoeSize=>=38", true), ("shoeSize=<38", false), ("shoeSize=<=38", true),
            ("shoeSize=<100", true), ("shoeSize=>4", true), ("height=<2", true), ("email=>a", true),
            ("email=>z", false),
            ("missing=>1", false), ("email=^MIRA", true), ("email=^example", false), ("email=$.TEST", true),
            ("email=$mira", false), ("email=~EXAMPLE", true), ("email=~nobody", false), ("email=~", true),
            ("isMember=true", true), ("isMember=false", false), ("isMember=!false", true), ("zip=60200", false),
            ("address.zip=60200", true), ("address.city=^b", true), ("address.street=", false), ("address=", true),
            ("email=", true), ("missing=", false), ("email=!", false), ("missing=!", true), ("nothing=", true),
            ("email", true), ("id[]=bob&id[]=mira", true), ("id[]=bob", false), ("id[]=!bob&id[]=!ann", true),
            ("id[]=!bob&id[]=!mira", false), ("missing[]=x", false), ("missing[]=!x", true),
            ("email=~mira&shoeSize=>30", true), ("email=~mira&shoeSize=>40", false), ("plus=a+b", true),
            ("plus=a%2Bb", true), ("email=mira%40example.test", true), ("odd%26name==", true),
            ("email=%7EEXAMPLE", true), ("tags=x", false), ("email=%zz", false), ("address.city.x=", false),
        ])
    func term(_ text: String, _ holds: Bool) { expect(ComapiProfileQuery(text[...]).matches(Self.profile), is: holds) }

    @Test("of a long text the first four thousand bytes are searched, start and end are found wherever they are")
    func longText() {
        let text = String(repeating: "x", count: 4092) + "nine" + "ten" + "end"
        let profile: JSONObject = ["text": .string(text)]
        for (query, holds) in [
            ("text=~nine", true), ("text=~ninet", false), ("text=~ten", false), ("text=$NEND", true),
            ("text=^xx", true),
        ] {
            expect(ComapiProfileQuery(query[...]).matches(profile), is: holds, "\(query)")
        }
    }

    @Test("numbers are equal when they are the same number, however large and however they are written")
    func largeNumbers() throws {
        let profile: JSONObject = ["n": try JSON.parse("1e999999999".utf8)]
        #expect(ComapiProfileQuery("n=10e999999998").matches(profile))
        #expect(!ComapiProfileQuery("n=1e999999998").matches(profile))
    }

    @Test("terms are counted, those of one list once") func count() {
        expect(ComapiProfileQuery("a=1&b[]=1&b[]=2&b[]=!3&c=").terms.count, is: 4)
        expect(ComapiProfileQuery("").terms.count, is: 0)
    }
}

@Suite("Comapi's routes") struct RouteTests {
    @Test("ids are split off before they are decoded, and compared byte for byte") func ids() async throws {
        let world = try await World.comapi()
        let user = "a/b?c é"
        let session = try await world.session(user)
        let path = Example.path("/profiles/a%2Fb%3Fc%20%C3%A9")
        let read = try await world.call(.get, path, session.fields)
        read.expect(200)
        expect(read.json["id"]?.string, is: user)
        // The same letter as two code points is another user.
        try await world.call(.get, Example.path("/profiles/a%2Fb%3Fc%20e%CC%81"), session.fields)
            .expect(404, Example.notFound, "unknown-profile")
    }

    @Test("nothing is ever answered with 304, and If-None-Match is ignored") func conditional() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let tag = try await world.call(.get, Example.path("/profiles/mira"), mira.fields)["etag"] ?? ""
        let fields = mira.fields + [("if-none-match", tag), ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")]
        try await world.call(.get, Example.path("/profiles/mira"), fields).expect(200)
    }

    @Test("a template's spaces are each their own") func templates() async throws {
        let world = try await World.comapi()
        let one = try await world.session("mira", in: "suite-one")
        let two = try await world.session("mira", in: "suite-two")
        try await world.call(.put, Example.path("/profiles/mira", in: "suite-one"), one.fields, #"{"email":"x"}"#)
            .expect(200)
        let other = try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), two.fields)
        expect(other.json["email"], is: nil)
        try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), one.fields)
            .expect(401, Example.unauthorized, "session-other-space")
        try await world.call(.get, "/apispaces/suite-/sessions/start").expect(404, Example.notFound, "unknown-space")
    }

    @Test("a tag is that of the members, whatever their order, without those of the server") func tag() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let path = Example.path("/profiles/mira")
        // SHA-256 of {"a":{"y":[{"b":1,"c":2}],"z":"ü"},"firstName":"Mira","id":"mira"}, computed elsewhere.
        let tag = "\"4475ec5625b17109\""
        let body = #"{"firstName":"Mira","a":{"z":"ü","y":[{"c":2,"b":1}]},"_secret":1}"#
        let written = try await world.call(.put, path, mira.fields, body)
        written.expect(200)
        expect(written["etag"], is: tag)
        expect(written.json["_secret"], is: nil)
        for (value, status) in [
            (tag, 200), ("*", 200), ("\"x\", \(tag)", 200), ("W/\(tag)", 412), ("4475ec5625b17109", 412),
        ] {
            let answer = try await world.call(.put, path, mira.fields + [("if-match", value)], body)
            expect(answer.status, is: status, "\(value)")
            if value == "4475ec5625b17109" {
                expect(answer.entry?.explanation?.contains("only the quotes are missing"), is: true)
            }
        }
    }
}

@Suite("Comapi's failures") struct FailureTests {

    /// Invalid bodies: the path in the space, the method, the body, the failure and the parameter.
    static let faults: [(String, String, String, String, String)] = [
        ("POST", "/conversations", "{", "malformed-body", "body"),
        ("POST", "/conversations", #"{"id":7}"#, "invalid-parameter", "id"),
        ("POST", "/conversations", #"{"id":"x","isPublic":"yes"}"#, "invalid-parameter", "isPublic"),
        ("POST", "/conversations", #"{"id":"x","roles":[]}"#, "invalid-parameter", "roles"),
        (
            "POST", "/conversations", #"{"id":"x","roles":{"owner":{"canSend":1}}}"#, "invalid-parameter",
            "roles.owner.canSend"
        ),
        (
            "POST", "/conversations", #"{"id":"x","participants":[{"role":"owner"}]}"#, "missing-field",
            "participants[0].id"
        ),
        ("POST", "/conversations", #"{"id":"x","participants":["bob"]}"#, "invalid-parameter", "participants[0]"),
        ("PUT", "/conversations/trip-42", #"{"id":"other"}"#, "invalid-parameter", "id"),
        ("POST", "/conversations/trip-42/participants", "{}", "malformed-body", "body"),
        ("DELETE", "/conversations/trip-42/participants", "[7]", "invalid-parameter", "[0]"),
        ("POST", "/conversations/trip-42/messages", #"{"parts":[7]}"#, "invalid-parameter", "parts[0]"),
        ("POST", "/conversations/trip-42/messages", #"{"parts":[{"size":"2"}]}"#, "invalid-parameter", "parts[0].size"),
        ("POST", "/conversations/trip-42/messages", #"{"parts":[{}],"alert":"x"}"#, "invalid-parameter", "alert"),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"messageIds":["x"],"status":"seen"}]"#,
            "invalid-parameter", "[0].status"
        ),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"messageIds":[7],"status":"read"}]"#,
            "invalid-parameter", "[0].messageIds[0]"
        ),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"status":"read"}]"#, "missing-field",
            "[0].messageIds"
        ),
        ("GET", "/conversations/trip-42/messages?from=-1", "", "invalid-parameter", "from"),
        ("GET", "/conversations/trip-42/events?limit=1001", "", "invalid-parameter", "limit"),
        ("GET", "/conversations?scope=all", "", "invalid-parameter", "scope"),
        ("PUT", "/profiles/mira", #"{"email":7}"#, "invalid-parameter", "email"),
        ("PATCH", "/profiles/mira", "7", "malformed-body", "body"),
        ("POST", "/channels/facebook/state", "", "malformed-body", "body"),
    ]

    @Test("each fault is named with its place", arguments: faults)
    func fault(_ method: String, _ path: String, _ body: String, _ failure: String, _ name: String) async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        let answer = try await world.call(try #require(.init(method)), Example.path(path), mira.fields, body)
        let messages = ["malformed-body": "is not valid JSON for this call", "missing-field": "is required"]
        answer.expect(400, Example.fault(name, messages[failure] ?? "is not valid"), failure)
    }

    @Test(
        "a registration is exactly one of two, complete",
        arguments: [
            "{}", #"{"fcm":{}}"#, #"{"fcm":{"package":"p"}}"#, #"{"fcm":"x"}"#,
            #"{"apns":{"bundleId":"b","environment":"test","token":"t"}}"#,
        ])
    func registration(_ body: String) async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        try await world.call(.put, Example.path("/sessions/\(mira.id)/push"), mira.fields, body)
            .expect(400, Example.fault("push", "is not valid"), "invalid-parameter")
    }
}
