import JSON
import Support
import Testing

@Suite("Okta's device authorization grant")
struct DeviceFlowTests {
    /// The codes of a device.
    private struct Device {
        let device: String
        let user: String
    }

    private static let pending =
        #"{"error":"authorization_pending","error_description":"The device authorization is pending. Please try again later."}"#
    private static let invalid =
        #"{"error":"invalid_grant","error_description":"The device code is invalid or has expired."}"#
    private static let expired = #"{"error":"expired_token","error_description":"The device code has expired."}"#
    private static let denied =
        #"{"error":"access_denied","error_description":"The resource owner or authorization server denied the request."}"#

    private func start(
        _ world: World, _ scope: String = "openid+offline_access", at endpoints: String = Example.custom
    ) async throws -> Device {
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=\(scope)", to: endpoints + "/device/authorize")
        answer.expect(200)
        return Device(
            device: try #require(answer.json["device_code"]?.string),
            user: try #require(answer.json["user_code"]?.string))
    }

    private func poll(_ world: World, _ device: Device, as client: String = Example.tv) async throws -> ReceivedAnswer {
        try await world.token(
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=\(client)&device_code=\(device.device)")
    }

    @Test("2.1: a device polls until somebody approves it", arguments: Depth.allCases)
    func approval(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid+offline_access", to: Example.custom + "/device/authorize")
        let (code, user) = (
            try #require(answer.json["device_code"]?.string), try #require(answer.json["user_code"]?.string)
        )
        answer.expect(
            200,
            #"{"device_code":"\#(code)","user_code":"\#(user)","verification_uri":"http://localhost:8080/activate","#
                + #""verification_uri_complete":"http://localhost:8080/activate?user_code=\#(user)","expires_in":600,"#
                + #""interval":5}"#)
        #expect(answer["content-type"] == "application/json")
        #expect(user.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{8}/) != nil)
        let device = Device(device: code, user: user)
        let first = try await poll(world, device)
        first.expect(400, Self.pending, "device-pending")
        #expect(first.reason == "found nobody's answer to user code \(user); expected an approval")
        try await world.perform("approve-device", ["user_code": .string(user), "user": "ada@example.test"])
            .expect(200, #"{"user_code":"\#(user)","client":"\#(Example.tv)"}"#)
        let tokens = try await poll(world, device)
        tokens.expect(200)
        #expect(tokens.json["refresh_token"]?.string != nil)
        #expect(tokens.claims(of: "id_token")["nonce"] == nil)
        #expect(tokens.claims(of: "id_token")["sub"] == .string(Example.ada))
        #expect(tokens.claims(of: "access_token")["cid"] == .string(Example.tv))
        let again = try await poll(world, device)
        again.expect(400, Self.invalid, "device-code-invalid")
        #expect(again.reason == "found a device code that was used; expected one use")
    }

    @Test("2.2: a device that polls too fast is slowed down; a refusal ends its wait", arguments: Depth.allCases)
    func refusal(_ depth: Depth) async throws {
        // The clock runs, and a busy machine may take its time between two polls.
        let world = try await World(depth, at: nil)
        try await world.set("okta.device-interval", "300")
        let device = try await start(world)
        try await poll(world, device).expect(400, Self.pending, "device-pending")
        let fast = try await poll(world, device)
        fast.expect(
            400,
            #"{"error":"slow_down","error_description":"Slow down the polling frequency. Please try again later."}"#,
            "device-slow-down")
        #expect(fast.outcome(of: "poll-interval") == .failed)
        try await world.perform("deny-device", ["user_code": .string(device.user)]).expect(200)
        try await world.advance("305s")
        let refused = try await poll(world, device)
        refused.expect(403, Self.denied, "device-denied")
        #expect(refused.reason == "found that \(Example.ada) refused the device; expected an approval")
    }

    @Test("each poll that came too early adds five seconds to the pause")
    func growingPause() async throws {
        // With so many polls too early, neither pause depends on how fast the machine is.
        let world = try await World(at: nil)
        try await world.set("okta.device-interval", "100")
        let device = try await start(world)
        try await poll(world, device).expect(400, Self.pending, "device-pending")
        for _ in 1...20 { #expect(try await poll(world, device).failure == "device-slow-down") }
        try await world.advance("110s")
        let early = try await poll(world, device)
        #expect(early.failure == "device-slow-down")
        #expect(early.reason?.hasSuffix("expected a pause of 200 s, and 5 s more from now on") == true)
        try await world.advance("205s")
        try await poll(world, device).expect(400, Self.pending, "device-pending")
    }

    @Test("while the clock is frozen, the pace is noted and not judged")
    func frozenClock() async throws {
        let world = try await World()
        let device = try await start(world)
        let first = try await poll(world, device)
        #expect(first.outcome(of: "poll-interval") == .passed)
        let second = try await poll(world, device)
        second.expect(400, Self.pending, "device-pending")
        #expect(second.outcome(of: "poll-interval") == .noted)
        try await world.set("okta.device-interval", "1")
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid", to: Example.custom + "/device/authorize")
        #expect(answer.json["interval"] == 1)
    }

    @Test("2.3: codes end after ten minutes, and are forgotten ten minutes later", arguments: Depth.allCases)
    func expiry(_ depth: Depth) async throws {
        let world = try await World(depth)
        let device = try await start(world)
        try await world.advance("601s")
        let late = try await poll(world, device)
        late.expect(400, Self.expired, "device-code-expired")
        #expect(late.reason == "the device code expired at 2027-01-15T08:10:00.000Z; expected a poll before")
        try await world.advance("600s")
        try await poll(world, device).expect(400, Self.invalid, "device-code-invalid")
        let next = try await start(world)
        try await world.perform("expire-device", ["user_code": .string(next.user)]).expect(200)
        try await poll(world, next).expect(400, Self.expired, "device-code-expired")
    }

    @Test("2.3: a device needs scopes, and a client with its grant", arguments: Depth.allCases)
    func requests(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = Example.custom + "/device/authorize"
        let bare = try await world.submit("client_id=\(Example.tv)", to: path)
        bare.expect(
            400, #"{"error":"invalid_scope","error_description":"No scopes were requested."}"#, "scope-missing")
        let foreign = try await world.submit("client_id=\(Example.native)&scope=openid", to: path)
        foreign.expect(
            400,
            #"{"error":"unauthorized_client","error_description":"The client is not authorized to use the provided grant "#
                + #"type. Configured grant types: [authorization_code, refresh_token]"}"#, "grant-type-not-allowed")
        #expect(foreign.reason?.hasPrefix("found client \(Example.native), which has the grants") == true)
        try await world.submit("client_id=\(Example.tv)&scope=nope", to: path).expect(
            400,
            #"{"error":"invalid_scope","error_description":"One or more scopes are not configured for the authorization "#
                + #"server resource."}"#, "scope-unknown")
    }

    @Test("a code is only good for its own client and server, and unknown ones for nobody")
    func foreignCodes() async throws {
        let world = try await World()
        let unknown = try await poll(world, Device(device: "4ebdb4de-0000-4000-8000-000000000000", user: ""))
        unknown.expect(400, Self.invalid, "device-code-invalid")
        #expect(unknown.reason == "found a device code that is unknown here; expected one of this sandbox")
        let org = try await start(world, at: Example.org)
        let crossed = try await poll(world, org)
        crossed.expect(400, Self.invalid, "device-code-invalid")
        #expect(crossed.reason == "found server default; expected org, which gave the device code")
        let missing = try await world.token(
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=\(Example.tv)")
        missing.expect(
            400, #"{"error":"invalid_request","error_description":"The required parameter 'device_code' is missing."}"#,
            "parameter-missing")
    }

    @Test("waiting, approved and used devices survive a restart")
    func restart() async throws {
        let world = try await World.restartable()
        let (waiting, approved, used) = (try await start(world), try await start(world), try await start(world))
        _ = try await poll(world, waiting)
        for device in [approved, used] {
            try await world.perform("approve-device", ["user_code": .string(device.user)])
        }
        try await poll(world, used).expect(200)
        let again = try world.restarted()
        try await poll(again, waiting).expect(400, Self.pending, "device-pending")
        try await poll(again, used).expect(400, Self.invalid, "device-code-invalid")
        try await poll(again, approved).expect(200)
    }

    @Test("nobody gets tokens for a user who was suspended after approving")
    func suspended() async throws {
        let world = try await World()
        let device = try await start(world)
        try await world.perform("approve-device", ["user_code": .string(device.user), "user": .string(Example.cleo)])
        try await world.perform("set-status", ["user": .string(Example.cleo), "status": "SUSPENDED"]).expect(200)
        let answer = try await poll(world, device)
        answer.expect(403, Self.denied, "device-denied")
        #expect(answer.reason == "found a user who is SUSPENDED, \(Example.cleo); expected ACTIVE")
    }

    @Test("a client has at most a thousand open codes")
    func tooMany() async throws {
        let world = try await World()
        for _ in 0..<1000 { _ = try await start(world, "openid") }
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid", to: Example.custom + "/device/authorize")
        answer.expect(
            429,
            #"{"error":"too_many_user_codes","error_description":"Too many user codes generated. Please try again later."}"#,
            "user-codes-too-many")
        #expect(
            answer.reason
                == "found 1000 devices of client \(Example.tv) that wait for an answer; expected fewer than 1000")
        try await world.advance("600s")
        _ = try await start(world)
        try await world.delete()
    }

    @Test("actions refuse codes that no device waits under, and users who cannot sign in")
    func actions() async throws {
        let world = try await World()
        let device = try await start(world)
        let suspended = try await world.perform(
            "approve-device", ["user_code": .string(device.user), "user": "ben@example.test"])
        #expect(suspended.status == 400)
        #expect(suspended.text.contains("user ben@example.test is SUSPENDED, and only ACTIVE users sign in"))
        for action in ["approve-device", "deny-device", "expire-device"] {
            let answer = try await world.perform(action, ["user_code": "AAAAAAAA"])
            #expect(answer.status == 400)
            #expect(
                answer.text.contains("no device waits under user code AAAAAAAA; it is unknown, answered or expired"))
        }
    }
}
