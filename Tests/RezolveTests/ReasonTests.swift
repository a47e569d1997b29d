import JSON
import Support
import Testing
import Tokens

/// The one-line reason names the cause.
@Suite("Rezolve's reasons")
struct ReasonTests {
    private static func list(_ token: @escaping @Sendable () throws -> String)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        { try await $0.call(.get, Example.addresses, .keyN.bearer(try token()).device(Example.device)) }
    }

    private static func list(_ fields: World.Fields) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.get, Example.addresses, fields) }
    }

    private static func ping(_ token: @escaping @Sendable () throws -> String)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        { try await $0.call(.get, "/v2/credentials/ping", World.Fields().bearer(try token())) }
    }

    private static func apiKey(_ value: String) -> World.Fields {
        [("x-rezolve-partner-apikey", value)].bearer(Example.jwtAda).device(Example.device)
    }

    private static let decoded = Base64URL.decodeLeniently(Array(Example.secret.utf8)) ?? []

    private static func signed(_ secret: [UInt8], _ claims: String = Forged.adaClaims()) throws -> String {
        let input =
            Base64URL.encode(Array(Forged.loginHeader.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let key = try SigningKey.secret(secret)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs512))
    }

    private static let signatures: [Mistake] = [
        Mistake(
            description: "secret base64-decoded",
            phrases: ["partner 317", "when the secret is base64-decoded first"], send: list { try signed(decoded) }),
        Mistake(
            description: "secret base64-decoded, at RUA",
            phrases: ["partner 317", "when the secret is base64-decoded first"], send: ping { try signed(decoded) }),
        Mistake(
            description: "white space added",
            phrases: ["white space is added at the ends of the secret"],
            send: list { try signed(Array((Example.secret + "\n").utf8)) }),
        Mistake(
            description: "another partner's key", phrases: ["partner 317", "matches the secret of partner 3"],
            send: list { try signed(Array("secret".utf8)) }),
        Mistake(
            description: "another partner's key, at RUA", phrases: ["partner 317", "matches the secret of partner 3"],
            send: ping { try signed(Array("secret".utf8)) }),
        Mistake(
            description: "api key as token", phrases: ["api key of partner 317", "x-rezolve-partner-apikey"],
            send: list { Example.apiKeyN }),
        Mistake(
            description: "auth key as token", secrets: [Example.secret],
            phrases: ["auth key of partner 317", "never sent"], send: list { Example.secret }),
    ]

    private static let keys: [Mistake] = [
        Mistake(
            description: "a JWT as api key", secrets: [Example.jwtAda], phrases: ["a JWT", "belongs in Authorization"],
            send: list(apiKey(Example.jwtAda))),
        Mistake(
            description: "an auth key as api key", secrets: [Example.secret], phrases: ["auth key", "never sent"],
            send: list(apiKey(Example.secret))),
        Mistake(
            description: "a partner id as api key", phrases: ["the id of partner 317"], send: list(apiKey("317"))),
        Mistake(
            description: "an api key in capitals", phrases: ["differs from the api key of partner 317"],
            send: list(apiKey(Example.apiKeyN.uppercased()))),
        Mistake(
            description: "an api key in quotes", phrases: ["differs from the api key of partner 317"],
            send: list(apiKey("\"\(Example.apiKeyN)\""))),
        Mistake(
            description: "an empty api key", phrases: ["empty"],
            send: { try await $0.call(.get, Example.addresses, apiKey("")) }),
        Mistake(
            description: "another partner's api key, at RUA",
            phrases: ["api key of partner 3", "api key of partner 317", "entity123"],
            send: { try await $0.call(.get, "/v2/credentials/ping", .keyS.bearer(Example.jwtAda)) }),
    ]

    private static let claims: [Mistake] = [
        Mistake(
            description: "a path of another customer", phrases: ["entity123", "entity456"],
            send: { try await $0.call(.get, Example.ben + "/addressbook", .ada) }),
        Mistake(
            description: "a path of another partner", phrases: ["317", "path-partner", "found 3"],
            send: { try await $0.call(.get, "/api/v1/partner/3/customer/entity123/profile", .ada) }),
        Mistake(
            description: "swapped claims", phrases: ["user-1001", "entity123", "swapped"],
            send: list { try Forged.token(claims: Forged.adaClaims(entity: #""user-1001""#, user: #""entity123""#)) }),
        Mistake(
            description: "the partner's id for the user's", phrases: ["user-1001", "317", "partner-entity-id = any"],
            send: list { Example.jwtV2Bug.isEmpty ? "" : try Forged.token(claims: Forged.adaClaims(user: "317")) }),
        Mistake(
            description: "a customer whom nobody registered, at RUA", phrases: ["nobody", "registered"],
            send: ping { try Forged.token(claims: Forged.adaClaims(entity: #""nobody""#, user: #""x""#)) }),
        Mistake(
            description: "a registration JWT at RUA", phrases: ["registration JWT", "user-2001"],
            send: ping { Example.regNew }),
        Mistake(
            description: "an empty member", phrases: [#"found """#, "non-empty string"],
            send: list { try Forged.token(claims: Forged.adaClaims(device: #""""#)) }),
        Mistake(
            description: "a name that is too long", phrases: ["256 characters", "1 to 255 characters"],
            send: list {
                try Forged.token(claims: Forged.adaClaims(user: "\"\(String(repeating: "u", count: 256))\""))
            }),
        Mistake(
            description: "exp beyond every clock", phrases: ["9007199254740993", "above 2^53"],
            send: list { try Forged.token(claims: Forged.adaClaims(exp: "9007199254740993")) }),
        Mistake(
            description: "exp in milliseconds, of which none may be so many",
            phrases: [
                "looks like milliseconds", "2027-01-15T08:30:00Z", "1800 s",
            ],
            send: {
                try await $0.set("rezolve.max-lifetime-seconds", "1800")
                return try await list { try Forged.token(claims: Forged.adaClaims(exp: "1800001800000")) }($0)
            }),
        Mistake(
            description: "another device", phrases: ["found another", Example.device, "x-rezolve-device-id"],
            send: list(.keyN.bearer(Example.jwtAda).device("another"))),
    ]

    private static let bodies: [Mistake] = [
        Mistake(
            description: "no body at RUA", phrases: ["the body is empty, not a JSON object"],
            send: { try await $0.call(.post, "/v2/credentials/login", .keyN) }),
        Mistake(
            description: "members of RUA",
            phrases: ["there is no member password", "deviceId is a JSON number, not a string"],
            send: {
                try await $0.call(
                    .post, "/v2/credentials/login", .keyN, #"{"username":"ada@example.test","deviceId":1}"#)
            }),
        Mistake(
            description: "an empty device id", phrases: ["deviceId is empty; expected at least 1 character"],
            send: {
                try await $0.call(.post, "/v2/credentials/login", .keyN, Example.login.replacing("dev-1", with: ""))
            }),
        Mistake(
            description: "members of core", phrases: ["name is a JSON null, not a string", "phone has 3 characters"],
            send: { try await $0.call(.post, Example.ada + "/phonebook", .ada, #"{"name":null,"phone":"555"}"#) }),
        Mistake(
            description: "a taken name", phrases: ["user 1001 has the phone +15550100 already"],
            send: {
                try await $0.call(
                    .post, "/v2/credentials/register", .keyN, #"{"password":"not-a-secret-2","phone":"+15550100"}"#)
            }),
        Mistake(
            description: "the commerce part",
            phrases: ["/api/v2/partner belongs to the commerce part", "not emulated"],
            send: { try await $0.call(.get, "/api/v2/partner/317/cart", .ada) }),
    ]

    @Test("names the cause, both sides, and no secret", arguments: signatures + keys + claims + bodies)
    func reason(_ mistake: Mistake) async throws { try await mistake.check(in: World()) }

    @Test("a token is explained by the same words", arguments: signatures.prefix(3))
    func explained(_ mistake: Mistake) async throws {
        let world = try await World()
        let answer = try await mistake.send(world)
        let fields = answer.entry?.request.fields.values(of: .authorization) ?? []
        let token = String((fields.first ?? "").dropFirst("Bearer ".count))
        let explained = try await world.control(
            .post, "tokens/explain", JSON.object(["token": .string(token), "vendor": "rezolve"]).text)
        let findings = explained.json["verdicts"]?[0]?["findings"]?.array ?? []
        let note = findings.first { $0["check"] == "signature" }?["note"]?.string ?? ""
        #expect(note.contains(mistake.phrases.last ?? ""), "\(note)")
    }

    @Test("an exp in milliseconds that passes leaves a note", arguments: [Example.addresses, "/v2/credentials/ping"])
    func milliseconds(_ path: String) async throws {
        let token = try Forged.token(claims: Forged.adaClaims(exp: "1800001800000"))
        let answer = try await World().call(.get, path, .keyN.bearer(token).device(Example.device))
        answer.expect(200)
        let note = answer.findings.first { $0.check == "milliseconds-exp" }
        #expect(note?.outcome == .noted)
        #expect(note?.note?.contains("exp looks like milliseconds") == true)
    }
}
