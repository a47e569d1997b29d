import Emulation
import JSON
import Support
import Testing
import Tokens

/// Effects of switches beyond the cases of `SwitchCases.swift`.
@Suite("Rezolve's switches")
struct SwitchTests {
    @Test("answers of RUA hold what was sent, or null where the schemas of the vendor's tests have it")
    func userAnswers() async throws {
        for (profile, name, times) in [
            (BehaviourProfile.documented, JSON.string("A"), JSON(1)), (.observed, .null, .null),
        ] {
            let world = try await World()
            try await world.set(profile: profile)
            let user = try await world.call(
                .post, "/v2/credentials/register", .keyN,
                #"{"username":"a","password":"not-a-secret-2","firstName":"A","lastName":"A"}"#)
            user.expect(201)
            #expect(user.json["firstName"] == name)
            #expect(user.json["lastName"] == name)
            let path = "/v2/credentials/register/guest"
            let entity = try await world.call(.post, path, .keyN).json["sdkEntity"]?.string ?? ""
            let body = #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#
            #expect(try await world.call(.post, path, .keyN, body).json["timesLoggedIn"] == times)
            let core = try await world.call(
                .post, "/api/v2/authentication/login/guest", .keyN.bearer(Example.regNew), body)
            #expect(core.json["timesLoggedIn"] == 2, "core's answer is the wiki's in both profiles")
        }
    }

    @Test("the renewed token comes with Bearer or bare", arguments: [("bearer", "Bearer ey"), ("none", "ey")])
    func tokenPrefix(_ value: String, _ prefix: String) async throws {
        let world = try await World()
        try await world.set("rezolve.rua-token-prefix", value)
        let answer = try await world.call(.get, "/v2/credentials/ping", .keyN.bearer(Example.jwtAda))
        let accessToken = try #require(answer.json["accessToken"]?.string)
        #expect(accessToken.hasPrefix(prefix))
        #expect(answer["authorization"] == accessToken)
    }

    @Test("the renewal of the JWT page's sample opens core with its token")
    func sampleRenewalWorks() async throws {
        let world = try await World()
        try await world.set("rezolve.ios-sample-renewal", "on")
        let answer = try await SwitchCase.sampleRenewal(world)
        let token = try #require(answer.json["access_token"]?.string)
        let key = try #require(answer.json["public_key"]?.string)
        answer.expect(200, JSON.object(["access_token": .string(token), "public_key": .string(key)]).text)
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device("dev-1")).expect(200)
        let entry = world.shown(answer.entry)
        let signature = try #require(token.split(separator: ".").last)
        #expect(!entry.contains(signature), "the journal shows no signature")
    }

    @Test(
        "what is not a renewal of the JWT page's sample still needs its api key",
        arguments: [
            "", "{", "[]", "{}", #"{"device_id":"d","entityId":"entity123","partnerId":"3"}"#,
            #"{"device_id":"d","entityId":"nobody","partnerId":"317"}"#, #"{"entityId":"entity123","partnerId":"317"}"#,
        ])
    func otherRenewals(_ body: String) async throws {
        let world = try await World()
        try await world.set("rezolve.ios-sample-renewal", "on")
        try await world.call(.post, "/api/v1/authentication/register", [], body).expectDenied("masked-api-key")
    }

    @Test("a second registration may return the first one's customer")
    func returnExisting() async throws {
        let world = try await World()
        try await world.set("rezolve.duplicate-registration", "return-existing")
        try await SwitchCase.register(world).expect(200, #"{"entity_id":"entity123","partner_id":"317"}"#)
    }

    @Test("an adopted customer stays, and takes nobody's id")
    func adopted() async throws {
        let world = try await World()
        try await world.set("rezolve.unknown-entity", "adopt")
        try await SwitchCase.unknownEntity(world).expect(200, "[]")
        try await world.set("rezolve.unknown-entity", "refuse")
        try await SwitchCase.unknownEntity(world).expect(200, "[]")
        try await world.set("rezolve.unknown-entity", "adopt")
        let token = try Forged.token(claims: Forged.adaClaims(entity: #""entity-other""#))
        try await world.call(
            .get, "/api/v1/partner/317/customer/entity-other/addressbook", .keyN.bearer(token).device(Example.device)
        ).expectDenied("masked-other-user")
        try await world.call(
            .get, "/api/v1/partner/317/customer/entity-third/addressbook", .keyN.bearer(token).device(Example.device)
        ).expectDenied("masked-other-user")
    }

    @Test("an adopted customer gets a key pair of its own")
    func adoptedKey() async throws {
        let world = try await World()
        try await world.set("rezolve.unknown-entity", "adopt")
        let token = try Forged.token(claims: Forged.adaClaims(entity: #""entity-new""#, user: #""user-9""#))
        let fields = World.Fields.keyN.bearer(token).device(Example.device)
        let path = "/api/v1/partner/317/customer/entity-new/publickey"
        let first = try await world.call(.get, path, fields)
        first.expect(200)
        try await world.call(.get, path, fields).expect(200, first.text)
    }

    /// A card number and the result of the `pan` check.
    @Test(
        "an encrypted card number must agree with what the card says of it",
        arguments: [
            ("4200000000000000", "420000", "0000", true), ("4200000000000000", "420001", "0000", false),
            ("42000000000", "420000", "0000", false), ("420000000000", "420000", "0000", true),
            ("4200000000000000000", "420000", "0000", true), ("42000000000000000000", "420000", "0000", false),
            ("4200000000x00000", "420000", "0000", false), ("4200000000000000", "4200", "0000", false),
            ("4200000000000000", "420000", "", false),
        ])
    func pan(_ number: String, _ pan6: String, _ pan4: String, _ isAccepted: Bool) async throws {
        let world = try await World()
        try await world.set("rezolve.pan-check", "decrypt")
        let pem = try await world.call(.get, Example.ada + "/publickey", .ada).json["public_key"]?.string ?? ""
        let key = try #require(try VerificationKey.pem(pem).first)
        let pan = Base64Text.encode(try #require(key.encryptOAEP(Array(number.utf8))))
        let body: JSON = [
            "short_name": "Test card", "name_on_card": "Ada L", "address_id": "address-1", "pan": .string(pan),
            "pan6": .string(pan6), "pan4": .string(pan4),
        ]
        let answer = try await world.call(.put, Example.ada + "/wallet/card-1", .ada, body.text)
        if isAccepted { answer.expect(200) } else { answer.expect(400, Example.malformed, "body-wrong-type") }
        #expect(!world.shown(answer.entry).contains(pan))
    }

    @Test("a vendor's profile beats the profile of all, and a switch beats both")
    func precedence() async throws {
        let world = try await World()
        let request = { try await world.call(.get, Example.addresses, .keyN.bearer(Example.jwtAda)) }
        try await world.control(.put, "settings", #"{"profile":{"rezolve":"observed"}}"#)
        try await request().expect(200)
        try await world.set("rezolve.device-check", "enforce")
        #expect(try await request().failure == "masked-device-mismatch")
        try await world.control(.put, "settings", #"{"switches":{"rezolve.device-check":null}}"#)
        try await request().expect(200)
        try await world.control(.put, "settings", #"{"profile":{"rezolve":null}}"#)
        #expect(try await request().failure == "masked-device-mismatch")
    }
}
