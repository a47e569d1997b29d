import Expectations
import JSON
import Support
import Testing

@Suite("Okta's device authorization grant") struct DeviceFlowTests {
    private func start(_ world: World) async throws -> String {
        let code = try await world.startDevice().device
        #expect(!code.isEmpty)
        return code
    }

    private func expectPending(_ answer: ReceivedAnswer, sourceLocation: SourceLocation = #_sourceLocation) {
        answer.refuses(
            400, error: "authorization_pending", "The device authorization is pending. Please try again later.",
            "device-pending", sourceLocation: sourceLocation)
    }

    @Test("each poll that came too early adds five seconds to the pause") func growingPause() async throws {
        // With so many polls too early, neither pause depends on how fast the machine is.
        let world = try await World(at: nil)
        try await world.set("okta.device-interval", "100")
        let device = try await start(world)
        expectPending(try await world.poll(device))
        for _ in 1...20 { expect(try await world.poll(device).failure, is: "device-slow-down") }
        try await world.advance("110s")
        let early = try await world.poll(device)
        expect(early.failure, is: "device-slow-down")
        expect(early.reason?.hasSuffix("expected a pause of 200 s, and 5 s more from now on"), is: true)
        try await world.advance("205s")
        expectPending(try await world.poll(device))
    }

    @Test("while the clock is frozen, the pace is noted and not judged") func frozenClock() async throws {
        let world = try await World()
        let device = try await start(world)
        let first = try await world.poll(device)
        expect(first.outcome(of: "poll-interval"), is: .passed)
        let second = try await world.poll(device)
        expectPending(second)
        expect(second.outcome(of: "poll-interval"), is: .noted)
    }

    @Test("a code is only good at its own server, and unknown ones for nobody") func foreignCodes() async throws {
        let world = try await World()
        let unknown = "4ebdb4de-0000-4000-8000-000000000000"
        let org = try await world.submit(
            [("client_id", Example.tv), ("scope", "openid")], to: Example.org + "/device/authorize")
        for (code, reason) in [
            (unknown, "a device code that is unknown here; expected one of this sandbox"),
            (org.member("device_code"), "server default; expected org, which gave the device code"),
        ] {
            let answer = try await world.poll(code)
            answer.refuses(
                400, error: "invalid_grant", "The device code is invalid or has expired.", "device-code-invalid")
            expect(answer.reason, is: "found " + reason)
        }
        try await world.poll("").refuses(
            400, error: "invalid_request", "The required parameter 'device_code' is missing.", "parameter-missing")
    }

    @Test("nobody gets tokens for a user who was suspended after approving") func suspended() async throws {
        let world = try await World()
        let device = try await world.startDevice()
        try await world.perform("approve-device", ["user_code": .string(device.user), "user": .string(Example.cleo)])
        try await world.perform("set-status", ["user": .string(Example.cleo), "status": "SUSPENDED"]).expect(200)
        let answer = try await world.poll(device.device)
        answer.refuses(
            403, error: "access_denied", "The resource owner or authorization server denied the request.",
            "device-denied")
        expect(answer.reason, is: "found a user who is SUSPENDED, \(Example.cleo); expected ACTIVE")
    }

    @Test("a client has at most a thousand open codes") func tooMany() async throws {
        let world = try await World()
        for _ in 0..<1000 { _ = try await start(world) }
        let answer = try await world.submit(
            [("client_id", Example.tv), ("scope", "openid")], to: Example.custom + "/device/authorize")
        expect(answer.failure, is: "user-codes-too-many")
        expect(
            answer.reason,
            is: "found 1000 devices of client \(Example.tv) that wait for an answer; expected fewer than 1000")
        try await world.advance("600s")
        _ = try await start(world)
        try await world.delete()
    }

    @Test("actions refuse codes that no device waits under, and users who cannot sign in") func actions() async throws {
        let world = try await World()
        let device = try await world.startDevice()
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
    private func submit(
        _ page: World.Page, _ world: World, _ userCode: String? = nil, _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer {
        try await world.submit(
            page.form([("user_code", userCode ?? page.userCode)]), to: "/activate", page.fields + fields)
    }

    @Test("2.3: a code is taken in small letters and with a hyphen") func typedCode() async throws {
        let world = try await World()
        let (page, device) = try await world.activation()
        let code = page.userCode.lowercased()
        try await submit(page, world, "\(code.prefix(4))-\(code.suffix(4))").expect(200)
        let tokens = try await world.poll(device)
        tokens.expect(200)
        expect(tokens.claims(of: "id_token")["sub"], is: .string(Example.ada))
        expect(tokens.claims(of: "id_token")["amr"], is: ["pwd"])
    }

    @Test("the address of a device fills in its code, and approves nothing by itself")
    func completeAddress() async throws {
        let world = try await World()
        let device = try await world.startDevice()
        let answer = try await world.call(.get, "/activate?user_code=\(device.user)", .json)
        expect(answer.json["user_code"], is: .string(device.user))
        expect(answer["set-cookie"]?.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"), is: true)
        expect(try await world.poll(device.device).failure, is: "device-pending")
    }

    @Test("a used or expired code is as wrong as an unknown one") func oldCodes() async throws {
        let world = try await World()
        let (page, _) = try await world.activation()
        let old = try await world.startDevice().user
        try await submit(page, world).expect(200)
        expect(try await submit(page, world).failure, is: "user-code-invalid")
        try await world.advance("600s")
        expect(try await submit(page, world, old).failure, is: "user-code-invalid")
    }

    @Test("a form that was not filled in on the page is refused") func forgery() async throws {
        let world = try await World()
        let (page, device) = try await world.activation()
        let other = World.Page(try await world.call(.get, "/activate", .json))
        let code = ("user_code", page.userCode)
        let misfit = "a csrf that does not fit tx and the cookie understudy_tx; expected that of the page"
        let foreign = page.fields + [("origin", "http://evil.example")]
        let hidden = page.fields + [("origin", "null"), ("sec-fetch-site", "cross-site")]
        for (form, fields, reason) in [
            (page.form([code]), .json, "no cookie understudy_tx; expected the one that comes with the page"),
            (page.form([code]), other.fields, misfit),
            ([("tx", other.tx), ("csrf", page.csrf), code], page.fields, misfit), ([code], page.fields, misfit),
            (page.form([code]), foreign, "a form from http://evil.example; expected http://localhost:8080"),
            (
                page.form([code]), hidden,
                "a form from a page that hides its origin (cross-site); expected http://localhost:8080"
            ),
        ] as [(Parameters, World.Fields, String)] {
            let answer = try await world.submit(form, to: "/activate", fields)
            expect(answer.status, is: 403)
            expect(answer.failure, is: "login-forged")
            expect(answer.reason, is: "found " + reason)
        }
        expect(try await world.poll(device).failure, is: "device-pending")
    }

    @Test(
        "forms from our own page come under these origins",
        arguments: [
            [("origin", "http://localhost:8080")], [("origin", "null"), ("sec-fetch-site", "same-origin")],
            [("origin", "null")], [("origin", "http://127.0.0.1:9"), ("host", "127.0.0.1:9")],
        ])
    func ownOrigins(_ fields: World.Fields) async throws {
        let world = try await World()
        try await submit(world.activation().page, world, nil, fields).expect(200)
    }
}
