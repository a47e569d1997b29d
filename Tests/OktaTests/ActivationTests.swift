import JSON
import Support
import Testing

@Suite("Okta's page for devices")
struct ActivationTests {
    private static let html = ("accept", "text/html")
    private static let json = ("accept", "application/json")

    /// An opened page.
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
        return (
            try #require(answer.json["device_code"]?.string), try #require(answer.json["user_code"]?.string)
        )
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

    @Test("2.3: a code is taken in small letters and with a hyphen", arguments: Depth.allCases)
    func typedCode(_ depth: Depth) async throws {
        let world = try await World(depth)
        let device = try await device(world)
        let page = try await open(world)
        let typed = device.user.lowercased().prefix(4) + "-" + device.user.lowercased().suffix(4)
        let done = try await world.submit(page.form(String(typed)), to: "/activate", page.fields + [Self.html])
        done.expect(200)
        #expect(done.text.contains("Device activated"))
        #expect(done.text.contains("Follow the instructions on your device for next steps"))
        let tokens = try await poll(world, device.device)
        tokens.expect(200)
        #expect(tokens.claims(of: "id_token")["sub"] == .string(Example.ada))
        #expect(tokens.claims(of: "id_token")["amr"] == ["pwd"])
    }

    @Test("2.3: a wrong code shows the page again", arguments: Depth.allCases)
    func wrongCode(_ depth: Depth) async throws {
        let world = try await World(depth)
        let page = try await open(world)
        let again = try await world.submit(page.form("AAAAAAAA"), to: "/activate", page.fields + [Self.html])
        #expect(again.status == 200)
        #expect(again.text.contains("Invalid code. Try again."))
        #expect(again.text.contains(#"data-failure="user-code-invalid""#))
        #expect(again.failure == "user-code-invalid")
        #expect(
            again.reason == "found a user code that is unknown, answered or expired; expected that of a waiting device")
        try await world.submit(page.form("AAAAAAAA"), to: "/activate", page.fields + [Self.json]).expect(
            400, #"{"error":"invalid_user_code","error_description":"The user code is invalid or has expired."}"#,
            "user-code-invalid")
    }

    @Test("the address of a device fills in its code, and approves nothing by itself")
    func completeAddress() async throws {
        let world = try await World()
        let device = try await device(world)
        let answer = try await world.call(.get, "/activate?user_code=\(device.user)", [Self.json])
        #expect(answer.json["page"] == "activate")
        #expect(answer.json["user_code"] == .string(device.user))
        #expect(answer.json["fields"] == ["tx", "csrf", "user_code", "action"])
        #expect(try await poll(world, device.device).failure == "device-pending")
    }

    @Test("a used or expired code is as wrong as an unknown one")
    func oldCodes() async throws {
        let world = try await World()
        let (used, old) = (try await device(world), try await device(world))
        let page = try await open(world)
        try await world.submit(page.form(used.user), to: "/activate", page.fields).expect(200)
        #expect(
            try await world.submit(page.form(used.user), to: "/activate", page.fields).failure == "user-code-invalid")
        try await world.advance("600s")
        #expect(
            try await world.submit(page.form(old.user), to: "/activate", page.fields).failure == "user-code-invalid")
    }

    @Test("a form that was not filled in on the page is refused", arguments: Depth.allCases)
    func forgery(_ depth: Depth) async throws {
        let world = try await World(depth)
        let device = try await device(world)
        let (page, other) = (try await open(world), try await open(world))
        func submit(_ form: String, _ fields: World.Fields, because reason: String) async throws {
            let answer = try await world.submit(form, to: "/activate", fields + [Self.json])
            #expect(answer.status == 403)
            #expect(answer.failure == "login-forged")
            #expect(answer.reason == reason)
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
        #expect(try await poll(world, device.device).failure == "device-pending")
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
