import Emulation
import JSON
import Support
import Testing
import Tokens

/// Every value of every switch (section 8 of the vendor's spec).
@Suite("Rezolve's switches")
struct SwitchTests {
    @Test("each value does what it says", arguments: cases)
    func value(_ example: SwitchCase) async throws {
        try await example.check("rezolve", in: try await World())
    }

    @Test("no value of a switch is without a case, and the profiles are those of the spec")
    func coverage() async throws {
        let rezolve = try #require(try await World().emulator.vendors.first { $0.identity.id == "rezolve" })
        for declaration in rezolve.switchDeclarations {
            let tested = Set(
                Self.cases.filter { $0.name == declaration.name }.map(\.value) + (Self.own[declaration.name] ?? []))
            if case .choice(let values) = declaration.domain { #expect(tested == Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
        }
        let profiles = rezolve.switchDeclarations.map { "\($0.name) \($0.documented) \($0.observed)" }
        #expect(
            profiles == [
                "error-envelope bare errors-array", "message-style error-page staging", "auth-header required ignored",
                "partner-entity-id must-match any", "device-check enforce off", "bearer-scheme required lenient",
                "registration-token-reuse accept refuse", "exp-number any any", "max-lifetime-seconds off off",
                "leeway-seconds 0 0", "nbf enforce ignore", "profile-dates unix-seconds iso",
                "ping-after-logout expired-token unauthorized",
                "duplicate-registration fail fail", "logout-revokes-core no no", "rua-token-prefix bearer bearer",
                "rua-user-answers full schema", "unknown-entity refuse refuse", "address-required-fields none none",
                "pan-check any-string any-string",
                "ios-sample-renewal off off",
            ])
    }

    /// Switches whose effect is in the body have tests of their own, here and in ``FailureTests``.
    private static let own = [
        "error-envelope": ["bare", "errors-array"], "message-style": ["error-page", "staging"],
        "profile-dates": ["unix-seconds", "iso"], "rua-token-prefix": ["bearer", "none"],
        "rua-user-answers": ["full", "schema"],
    ]

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

    private static func list(_ token: String, device: String? = Example.device)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        { world in
            let fields = World.Fields.keyN.bearer(token)
            return try await world.call(.get, Example.addresses, device.map(fields.device) ?? fields)
        }
    }

    private static func list(claims: String, header: String = Forged.loginHeader)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        { try await list(Forged.token(header: header, claims: claims))($0) }
    }

    private static func authorization(_ value: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.get, Example.addresses, .keyN.authorization(value).device(Example.device)) }
    }

    private static let cases = tokenCases + timeCases + deviceCases + schemeCases + stateCases + bodyCases

    private static let tokenCases: [SwitchCase] = [
        SwitchCase(
            "auth-header", "required", "masked-missing-fields",
            list(claims: Forged.adaClaims(), header: #"{"alg":"HS512"}"#)),
        SwitchCase(
            "auth-header", "ignored", nil,
            list(claims: Forged.adaClaims(), header: #"{"alg":"HS512","auth":1}"#)),
        SwitchCase(
            "partner-entity-id", "must-match", "masked-other-user",
            list(claims: Forged.adaClaims(user: "317"))),
        SwitchCase("partner-entity-id", "any", nil, list(claims: Forged.adaClaims(user: "317"))),
        SwitchCase(
            "partner-entity-id", "any", note: "but not empty", "masked-missing-fields",
            list(claims: Forged.adaClaims(user: #""""#))),
        SwitchCase("exp-number", "any", nil, list(Example.jwtFloat)),
        SwitchCase("exp-number", "integer", "masked-missing-fields", list(Example.jwtFloat)),
        SwitchCase("exp-number", "integer", note: "with an integer", nil, list(Example.jwtAda)),
        SwitchCase("registration-token-reuse", "accept", nil, reuse),
        SwitchCase("registration-token-reuse", "refuse", "masked-other-user", reuse),
    ]

    private static let reuse: @Sendable (World) async throws -> ReceivedAnswer = {
        let token = try await $0.mint("rezolve/registration", ["partner_entity_id": "user-1001"])
        return try await $0.call(.get, Example.addresses, .keyN.bearer(token))
    }

    private static let timeCases: [SwitchCase] = [
        SwitchCase(
            "max-lifetime-seconds", "off", nil,
            list(claims: Forged.adaClaims(exp: "1900000000"))),
        SwitchCase("max-lifetime-seconds", "1800", nil, list(Example.jwtAda)),
        SwitchCase(
            "max-lifetime-seconds", "1799", "token-lifetime-too-long", list(Example.jwtAda)),
        SwitchCase("leeway-seconds", "0", "token-expired", list(Example.jwtAdaOld)),
        SwitchCase(
            "leeway-seconds", "1", note: "a token whose leeway ends now", "token-expired",
            list(Example.jwtAdaOld)),
        SwitchCase("leeway-seconds", "2", nil, list(Example.jwtAdaOld)),
        SwitchCase("leeway-seconds", "3600", note: "before nbf", nil, list(claims: notYet)),
        SwitchCase(
            "leeway-seconds", "4000000000", note: "an exp of 0", "token-expired",
            list(claims: Forged.adaClaims(exp: "0"))),
        SwitchCase("nbf", "enforce", "masked-not-yet-valid", list(claims: notYet)),
        SwitchCase(
            "nbf", "enforce", note: "that is no number", "masked-not-yet-valid",
            list(claims: Forged.adaClaims(exp: #"1800001800,"nbf":"soon""#))),
        SwitchCase(
            "nbf", "enforce", note: "of now", nil, list(claims: Forged.adaClaims(exp: #"1800001800,"nbf":1800000000"#))),
        SwitchCase(
            "nbf", "enforce", note: "of an expired token", "token-expired",
            list(claims: Forged.adaClaims(exp: #"1799999999,"nbf":1800003600"#))),
        SwitchCase("nbf", "ignore", nil, list(claims: notYet)),
    ]

    private static let notYet = Forged.adaClaims(exp: #"1800009000,"nbf":1800003600"#)

    private static let deviceCases: [SwitchCase] = [
        SwitchCase(
            "device-check", "enforce", "masked-device-mismatch",
            list(Example.jwtAda, device: nil)),
        SwitchCase("device-check", "off", nil, list(Example.jwtAda, device: "another")),
        SwitchCase(
            "device-check", "off", note: "without claim", nil,
            list(claims: Forged.adaClaims(device: nil))),
        SwitchCase(
            "device-check", "if-present", note: "without header", nil,
            list(Example.jwtAda, device: nil)),
        SwitchCase(
            "device-check", "if-present", note: "without claim", nil,
            list(claims: Forged.adaClaims(device: nil))),
        SwitchCase(
            "device-check", "if-present", note: "with both", "masked-device-mismatch",
            list(Example.jwtAda, device: "another")),
    ]

    private static let schemeCases: [SwitchCase] = [
        SwitchCase(
            "bearer-scheme", "required", "masked-token-missing",
            authorization(Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "required", note: "twice", "masked-signature",
            authorization("Bearer Bearer " + Example.jwtAda)),
        SwitchCase("bearer-scheme", "lenient", nil, authorization(Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "once", nil,
            authorization("Bearer " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "twice", nil,
            authorization("Bearer bearer  " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "three times", "masked-signature",
            authorization("Bearer Bearer Bearer " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "another scheme", "masked-signature",
            authorization("Basic " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "no token", "masked-token-missing",
            authorization("Bearer Bearer")),
    ]

    private static let register: @Sendable (World) async throws -> ReceivedAnswer = {
        let token = try await $0.mint("rezolve/registration", ["partner_entity_id": "user-1001"])
        return try await $0.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
    }

    private static let loggedOut: @Sendable (World) async throws -> ReceivedAnswer = {
        try await $0.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        return try await $0.call(.get, Example.addresses, .ada)
    }

    private static let stateCases: [SwitchCase] = [
        SwitchCase("ping-after-logout", "expired-token", nil, pingAfterLogout),
        SwitchCase("ping-after-logout", "unauthorized", "rua-token-invalid", pingAfterLogout),
        SwitchCase("duplicate-registration", "fail", "registration-duplicate", register),
        SwitchCase("duplicate-registration", "return-existing", nil, register),
        SwitchCase("logout-revokes-core", "no", nil, loggedOut),
        SwitchCase("logout-revokes-core", "yes", "token-expired", loggedOut),
        SwitchCase("unknown-entity", "refuse", "masked-other-user", unknownEntity),
        SwitchCase("unknown-entity", "adopt", nil, unknownEntity),
    ]

    private static let pingAfterLogout: @Sendable (World) async throws -> ReceivedAnswer = {
        try await $0.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        return try await $0.call(.get, "/v2/credentials/ping", .keyN.bearer(Example.jwtAda))
    }

    private static let unknownEntity: @Sendable (World) async throws -> ReceivedAnswer = {
        let token = try Forged.token(claims: Forged.adaClaims(entity: #""entity-new""#, user: #""user-9""#))
        return try await $0.call(
            .get, "/api/v1/partner/317/customer/entity-new/addressbook", .keyN.bearer(token).device(Example.device))
    }

    private static func createAddress(_ body: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.post, Example.addresses, .ada, body) }
    }

    private static let sampleRenewal: @Sendable (World) async throws -> ReceivedAnswer = {
        try await $0.call(
            .post, "/api/v1/authentication/register", [],
            #"{"device_id":"dev-1","make":"Apple","os_type":"ios","entityId":"entity123","partnerId":"317"}"#)
    }

    private static let bodyCases: [SwitchCase] = [
        SwitchCase("address-required-fields", "none", nil, createAddress("{}")),
        SwitchCase("address-required-fields", "shop", "body-missing-fields", createAddress("{}")),
        SwitchCase(
            "address-required-fields", "shop", note: "all there", nil,
            createAddress(#"{"line1":"2","city":"Brno","state":"JM","zip":"60200","country":"CZ"}"#)),
        SwitchCase("pan-check", "any-string", nil) {
            try await $0.call(.post, Example.ada + "/wallet", .ada, Example.newCard)
        },
        SwitchCase("pan-check", "decrypt", "body-wrong-type") {
            try await $0.call(.post, Example.ada + "/wallet", .ada, Example.newCard)
        },
        SwitchCase("ios-sample-renewal", "off", "masked-api-key", sampleRenewal),
        SwitchCase("ios-sample-renewal", "on", nil, sampleRenewal),
        SwitchCase("ios-sample-renewal", "on", note: "an ordinary registration", nil) {
            try await $0.call(
                .post, "/api/v1/authentication/register", .keyN.bearer(Example.regNew), #"{"email":"a@example.test"}"#)
        },
    ]

    @Test("the dates of a profile are Unix seconds, or ISO texts in UTC")
    func profileDates() async throws {
        let world = try await World()
        let path = Example.ada + "/profile"
        let seconds = try await world.call(.get, path, .ada)
        #expect(seconds.json["date_created"] == 1_800_000_000)
        try await world.set("rezolve.profile-dates", "iso")
        let texts = try await world.call(.get, path, .ada)
        #expect(texts.json["date_created"] == "2027-01-15T08:00:00.000Z")
        #expect(texts.json["date_updated"] == "2027-01-15T08:00:00.000Z")
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

    @Test("the renewal of the seed's sample opens core with its token")
    func sampleRenewalWorks() async throws {
        let world = try await World()
        try await world.set("rezolve.ios-sample-renewal", "on")
        let answer = try await Self.sampleRenewal(world)
        let token = try #require(answer.json["access_token"]?.string)
        let key = try #require(answer.json["public_key"]?.string)
        answer.expect(200, JSON.object(["access_token": .string(token), "public_key": .string(key)]).text)
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device("dev-1")).expect(200)
        let entry = world.shown(answer.entry)
        let signature = try #require(token.split(separator: ".").last)
        #expect(!entry.contains(signature), "the journal shows no signature")
    }

    @Test(
        "what is no renewal of the seed's sample still needs its api key",
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
        try await Self.register(world).expect(200, #"{"entity_id":"entity123","partner_id":"317"}"#)
    }

    @Test("an adopted customer stays, and takes nobody's id")
    func adopted() async throws {
        let world = try await World()
        try await world.set("rezolve.unknown-entity", "adopt")
        try await Self.unknownEntity(world).expect(200, "[]")
        try await world.set("rezolve.unknown-entity", "refuse")
        try await Self.unknownEntity(world).expect(200, "[]")
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

    /// A card number and what the check of `pan` says to it.
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
