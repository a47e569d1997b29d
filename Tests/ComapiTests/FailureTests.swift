import Emulation
import JSON
import Support
import Testing

@Suite("Comapi's failures")
struct FailureTests {
    @Test("a path that is known with other methods says which")
    func allow() async throws {
        let world = try await World.comapi()
        let answer = try await world.call(.post, Example.path("/profiles/mira"))
        #expect(answer["allow"] == "GET, PUT, PATCH, OPTIONS")
        #expect(answer.failure == "method-not-allowed")
        let missing = try await world.call(.get, "/apispaces")
        missing.expect(404, Example.notFound, "unknown-path")
    }

    @Test("the upgrade that is required is named")
    func upgrade() async throws {
        let world = try await World.comapi()
        let answer = try await world.call(.get, Example.path("/socket"), world.session().fields)
        #expect(answer["upgrade"] == "websocket")
    }

    /// Invalid bodies: the path in the space, the method, the body, the parameter and the text.
    static let faults: [(String, String, String, String, String, String)] = [
        ("POST", "/conversations", "{", "malformed-body", "body", "is not valid JSON for this call"),
        ("POST", "/conversations", #"{"id":7}"#, "invalid-parameter", "id", "is not valid"),
        ("POST", "/conversations", #"{"id":"x","isPublic":"yes"}"#, "invalid-parameter", "isPublic", "is not valid"),
        ("POST", "/conversations", #"{"id":"x","roles":[]}"#, "invalid-parameter", "roles", "is not valid"),
        (
            "POST", "/conversations", #"{"id":"x","roles":{"owner":{"canSend":1}}}"#, "invalid-parameter",
            "roles.owner.canSend", "is not valid"
        ),
        (
            "POST", "/conversations", #"{"id":"x","participants":[{"role":"owner"}]}"#, "missing-field",
            "participants[0].id", "is required"
        ),
        (
            "POST", "/conversations", #"{"id":"x","participants":["bob"]}"#, "invalid-parameter", "participants[0]",
            "is not valid"
        ),
        ("PUT", "/conversations/trip-42", #"{"id":"other"}"#, "invalid-parameter", "id", "is not valid"),
        (
            "POST", "/conversations/trip-42/participants", "{}", "malformed-body", "body",
            "is not valid JSON for this call"
        ),
        ("DELETE", "/conversations/trip-42/participants", "[7]", "invalid-parameter", "[0]", "is not valid"),
        ("POST", "/conversations/trip-42/messages", #"{"parts":[7]}"#, "invalid-parameter", "parts[0]", "is not valid"),
        (
            "POST", "/conversations/trip-42/messages", #"{"parts":[{"size":"2"}]}"#, "invalid-parameter",
            "parts[0].size",
            "is not valid"
        ),
        (
            "POST", "/conversations/trip-42/messages", #"{"parts":[{}],"alert":"x"}"#, "invalid-parameter", "alert",
            "is not valid"
        ),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"messageIds":["x"],"status":"seen"}]"#,
            "invalid-parameter", "[0].status", "is not valid"
        ),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"messageIds":[7],"status":"read"}]"#,
            "invalid-parameter", "[0].messageIds[0]", "is not valid"
        ),
        (
            "POST", "/conversations/trip-42/messages/statusupdates", #"[{"status":"read"}]"#, "missing-field",
            "[0].messageIds", "is required"
        ),
        ("GET", "/conversations/trip-42/messages?from=-1", "", "invalid-parameter", "from", "is not valid"),
        ("GET", "/conversations/trip-42/events?limit=1001", "", "invalid-parameter", "limit", "is not valid"),
        ("GET", "/conversations?scope=all", "", "invalid-parameter", "scope", "is not valid"),
        ("PUT", "/profiles/mira", #"{"email":7}"#, "invalid-parameter", "email", "is not valid"),
        ("PATCH", "/profiles/mira", "7", "malformed-body", "body", "is not valid JSON for this call"),
        ("POST", "/channels/facebook/state", "", "malformed-body", "body", "is not valid JSON for this call"),
    ]

    @Test("each fault is named with its place", arguments: faults)
    func fault(
        _ method: String, _ path: String, _ body: String, _ failure: String, _ name: String, _ message: String
    ) async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        let answer = try await world.call(try #require(.init(method)), Example.path(path), mira.fields, body)
        answer.expect(400, Example.fault(name, message), failure)
    }

    @Test(
        "a registration is exactly one of two, complete",
        arguments: [
            "{}", #"{"fcm":{}}"#, #"{"fcm":{"package":"p"}}"#, #"{"fcm":"x"}"#,
            #"{"apns":{"bundleId":"b","environment":"test","token":"t"}}"#,
            #"{"fcm":{"package":"p","registrationId":"r"},"apns":{"bundleId":"b","environment":"production","token":"t"}}"#,
        ])
    func registration(_ body: String) async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        try await world.call(.put, Example.path("/sessions/\(mira.id)/push"), mira.fields, body)
            .expect(400, Example.fault("push", "is not valid"), "invalid-parameter")
    }
}
