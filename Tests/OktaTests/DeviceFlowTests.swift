import Expectations
import JSON
import Support
import Testing

@Suite("Okta's device authorization grant") struct DeviceFlowTests {
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

    @Test("each poll that came too early adds five seconds to the pause") func growingPause() async throws {
        // With so many polls too early, neither pause depends on how fast the machine is.
        let world = try await World(at: nil)
        try await world.set("okta.device-interval", "100")
        let device = try await start(world)
        try await poll(world, device).expect(400, Self.pending, "device-pending")
        for _ in 1...20 { expect(try await poll(world, device).failure, is: "device-slow-down") }
        try await world.advance("110s")
        let early = try await poll(world, device)
        expect(early.failure, is: "device-slow-down")
        expect(early.reason?.hasSuffix("expected a pause of 200 s, and 5 s more from now on"), is: true)
        try await world.advance("205s")
        try await poll(world, device).expect(400, Self.pending, "device-pending")
    }

    @Test("while the clock is frozen, the pace is noted and not judged") func frozenClock() async throws {
        let world = try await World()
        let device = try await start(world)
        let first = try await poll(world, device)
        expect(first.outcome(of: "poll-interval"), is: .passed)
        let second = try await poll(world, device)
        second.expect(400, Self.pending, "device-pending")
        expect(second.outcome(of: "poll-interval"), is: .noted)
        try await world.set("okta.device-interval", "1")
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid", to: Example.custom + "/device/authorize")
        expect(answer.json["interval"], is: 1)
    }

    @Test("a code is only good for its own client and server, and unknown ones for nobody")
    func foreignCodes() async throws {
        let world = try await World()
        let unknown = try await poll(world, Device(device: "4ebdb4de-0000-4000-8000-000000000000", user: ""))
        unknown.expect(400, Self.invalid, "device-code-invalid")
        expect(unknown.reason, is: "found a device code that is unknown here; expected one of this sandbox")
        let org = try await start(world, at: Example.org)
        let crossed = try await poll(world, org)
        crossed.expect(400, Self.invalid, "device-code-invalid")
        expect(crossed.reason, is: "found server default; expected org, which gave the device code")
        let missing = try await world.token(
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=\(Example.tv)")
        missing.expect(
            400, #"{"error":"invalid_request","error_description":"The required parameter 'device_code' is missing."}"#,
            "parameter-missing")
    }

    @Test("nobody gets tokens for a user who was suspended after approving") func suspended() async throws {
        let world = try await World()
        let device = try await start(world)
        try await world.perform("approve-device", ["user_code": .string(device.user), "user": .string(Example.cleo)])
        try await world.perform("set-status", ["user": .string(Example.cleo), "status": "SUSPENDED"]).expect(200)
        let answer = try await poll(world, device)
        answer.expect(403, Self.denied, "device-denied")
        expect(answer.reason, is: "found a user who is SUSPENDED, \(Example.cleo); expected ACTIVE")
    }

    @Test("a client has at most a thousand open codes") func tooMany() async throws {
        let world = try await World()
        for _ in 0..<1000 { _ = try await start(world, "openid") }
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid", to: Example.custom + "/device/authorize")
        answer.expect(
            429,
            #"{"error":"too_many_user_codes","error_description":"Too many user codes generated. Please try again later."}"#,
            "user-codes-too-many")
        expect(
            answer.reason,
            is: "found 1000 devices of client \(Example.tv) that wait for an answer; expected fewer than 1000")
        try await world.advance("600s")
        _ = try await start(world)
        try await world.delete()
    }

    @Test("actions refuse codes that no device waits under, and users who cannot sign in") func actions() async throws {
        let world = try await World()
        let device = try await start(world)
        let suspended = try await world.perform(
            "approve-device", ["user_code": .string(device.user), "user": "ben@example.test"])
        expect(suspended.status, is: 400)
        #expect(suspended.text.contains("user ben@example.test is SUSPENDED, and only ACTIVE users sign in"))
        for action in ["approve-device", "deny-device", "expire-device"] {
            let answer = try await world.perform(action, ["user_code": "AAAAAAAA"])
            expect(answer.status, is: 400)
            #expect(
                answer.text.contains("no device waits under user code AAAAAAAA; it is unknown, answered or expired"))
        }
    }
}

@Suite("Okta's page for devices") struct ActivationTests {
    private static let html = ("accept", "text/html")
    private static let json = ("accept", "application/json")

    private struct Page {
        let tx: String
        let csrf: String
        let cookie: String

        func form(_ userCode: String) -> String { "tx=\(tx)&csrf=\(csrf)&user_code=\(userCode)" }
        var fields: World.Fields { [("cookie", cookie)] }
    }

    private func device(_ world: World) async throws -> (device: String, user: String) {
        let answer = try await world.submit(
            "client_id=\(Example.tv)&scope=openid", to: Example.custom + "/device/authorize")
        return (try #require(answer.json["device_code"]?.string), try #require(answer.json["user_code"]?.string))
    }

    private func open(_ world: World, _ query: String = "") async throws -> Page {
        let answer = try await world.call(.get, "/activate" + query, [Self.json])
        answer.expect(200)
        let cookie = try #require(answer["set-cookie"])
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
        return Page(
            tx: try #require(answer.json["tx"]?.string), csrf: try #require(answer.json["csrf"]?.string),
            cookie: String(cookie.prefix { $0 != ";" }))
    }

    private func poll(_ world: World, _ code: String) async throws -> ReceivedAnswer {
        try await world.token(
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=\(Example.tv)&device_code=\(code)")
    }

    @Test("2.3: a code is taken in small letters and with a hyphen") func typedCode() async throws {
        let world = try await World()
        let device = try await device(world)
        let page = try await open(world)
        let typed = device.user.lowercased().prefix(4) + "-" + device.user.lowercased().suffix(4)
        let done = try await world.submit(page.form(String(typed)), to: "/activate", page.fields + [Self.html])
        done.expect(200)
        #expect(done.text.contains("Device activated"))
        #expect(done.text.contains("Follow the instructions on your device for next steps"))
        let tokens = try await poll(world, device.device)
        tokens.expect(200)
        expect(tokens.claims(of: "id_token")["sub"], is: .string(Example.ada))
        expect(tokens.claims(of: "id_token")["amr"], is: ["pwd"])
    }

    @Test("the address of a device fills in its code, and approves nothing by itself")
    func completeAddress() async throws {
        let world = try await World()
        let device = try await device(world)
        let answer = try await world.call(.get, "/activate?user_code=\(device.user)", [Self.json])
        expect(answer.json["page"], is: "activate")
        expect(answer.json["user_code"], is: .string(device.user))
        expect(answer.json["fields"], is: ["tx", "csrf", "user_code", "action"])
        expect(try await poll(world, device.device).failure, is: "device-pending")
    }

    @Test("a used or expired code is as wrong as an unknown one") func oldCodes() async throws {
        let world = try await World()
        let (used, old) = (try await device(world), try await device(world))
        let page = try await open(world)
        try await world.submit(page.form(used.user), to: "/activate", page.fields).expect(200)
        expect(
            try await world.submit(page.form(used.user), to: "/activate", page.fields).failure, is: "user-code-invalid")
        try await world.advance("600s")
        expect(
            try await world.submit(page.form(old.user), to: "/activate", page.fields).failure, is: "user-code-invalid")
    }

    @Test("a form that was not filled in on the page is refused") func forgery() async throws {
        let world = try await World()
        let device = try await device(world)
        let (page, other) = (try await open(world), try await open(world))
        func submit(_ form: String, _ fields: World.Fields, because reason: String) async throws {
            let answer = try await world.submit(form, to: "/activate", fields + [Self.json])
            expect(answer.status, is: 403)
            expect(answer.failure, is: "login-forged")
            expect(answer.reason, is: reason)
        }
        let form = page.form(device.user)
        try await submit(form, [], because: "found no cookie understudy_tx; expected the one that comes with the page")
        let misfit = "found a csrf that does not fit tx and the cookie understudy_tx; expected that of the page"
        try await submit(form, other.fields, because: misfit)
        try await submit("tx=\(other.tx)&csrf=\(page.csrf)&user_code=\(device.user)", page.fields, because: misfit)
        try await submit("user_code=\(device.user)", page.fields, because: misfit)
        try await submit(
            form, page.fields + [("origin", "http://evil.example")],
            because: "found a form from http://evil.example; expected http://localhost:8080")
        try await submit(
            form, page.fields + [("origin", "null"), ("sec-fetch-site", "cross-site")],
            because: "found a form from a page that hides its origin (cross-site); expected http://localhost:8080")
        expect(try await poll(world, device.device).failure, is: "device-pending")
    }

    @Test(
        "forms from our own page come under these origins",
        arguments: [
            [("origin", "http://localhost:8080")], [("origin", "null"), ("sec-fetch-site", "same-origin")],
            [("origin", "null")], [("origin", "http://127.0.0.1:9"), ("host", "127.0.0.1:9")],
        ])
    func ownOrigins(_ fields: World.Fields) async throws {
        let world = try await World()
        let device = try await device(world)
        let page = try await open(world)
        try await world.submit(page.form(device.user), to: "/activate", page.fields + fields).expect(200)
    }
}
