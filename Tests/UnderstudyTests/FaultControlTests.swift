import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy

@Suite("Control: faults") struct FaultControlTests {
    private let path = "/v1/credentials/forget"
    private let body = #"{"email":"ada@example.test"}"#

    @Test("a fault is listed, hits its call once and is spent") func life() async throws {
        let world = try await World()
        let armed = try await world.control(
            .put, "faults", #"{"route":"rua.forgot","call":2,"fail":"service-unavailable"}"#)
        let fault =
            #"{"vendor":"rezolve","route":"rua.forgot","call":2,"fail":"service-unavailable","calls":0,"strikes":0}"#
        expect(armed.text, is: #"{"faults":[\#(fault)]}"#)
        expect(try await world.control(.get, "faults").text, is: armed.text)
        expect(try await statuses(world, 4), is: [200, 503, 200, 200])
        expect(try await world.control(.get, "faults").text, is: #"{"faults":[]}"#)
    }

    private func statuses(_ world: World, _ count: Int) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append(try await world.call(.post, path, [World.apiKey], body).status) }
        return statuses
    }

    @Test("a list arms several, and arming replaces what was armed") func list() async throws {
        let world = try await World()
        let both =
            #"{"route":"rua.forgot","fail":"service-unavailable"},{"route":"rua.forgot","call":3,"fail":"body-too-large"}"#
        try await world.arm(#"{"faults":[\#(both)]}"#)
        expect(try await statuses(world, 4), is: [503, 200, 413, 200])
        try await world.arm(#"{"faults":[\#(both)]}"#)
        try await world.arm(#"{"route":"rua.forgot","call":2,"fail":"body-too-large"}"#)
        expect(try await statuses(world, 3), is: [200, 413, 200])
    }

    @Test("a fault of a whole vendor strikes every route, as often as it says, and the journal names it")
    func wholeVendor() async throws {
        let world = try await World()
        try await world.arm(#"{"vendor":"rezolve","every":2,"fail":"service-unavailable"}"#)
        expect(try await statuses(world, 4), is: [200, 503, 200, 503])
        for failure in ["rua-token-missing", "service-unavailable"] {
            expect(try await world.call(.get, "/v2/credentials/ping", [World.apiKey]).failure, is: failure)
        }
        let sixth = world.sandbox.journal.last
        expect(sixth?.record.intervention, is: "armed fault, call 6: fail service-unavailable")
        expect(sixth?.explanation, is: sixth?.record.intervention)
        let listed = try await world.control(.get, "faults").json["faults"]?[0]
        expect([listed?["calls"], listed?["strikes"]], is: [6, 3])
    }

    @Test("a response of the operator's takes the place of the vendor's, filled from the request")
    func respond() async throws {
        let world = try await World()
        let respond = #"{"status":429,"headers":{"retry-after":"7"},"body":{"to":"{{request.body.email}}"}}"#
        try await world.arm(#"{"route":"rua.forgot","respond":\#(respond)}"#)
        let answer = try await world.call(.post, path, [World.apiKey], body)
        answer.expect(429, #"{"to":"ada@example.test"}"#)
        expect(answer["retry-after"], is: "7")
        expect(answer.entry?.record.intervention, is: "armed fault, call 1: respond 429")
    }

    @Test("secrets of the request that such a response repeats are hidden in the journal, and sent all the same")
    func echoes() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let template =
            #"{"headers":{"x-echo":"{{request.headers.authorization}}"},"body":{"a":"<{{request.body.password}}>","b":"{{request.headers.authorization}}"}}"#
        try await world.arm(#"{"route":"rua.login","respond":\#(template)}"#)
        let answer = try await world.call(
            .post, "/v2/credentials/login", [World.apiKey, ("authorization", "Bearer " + token)],
            #"{"username":"ada@example.test","password":"not-a-secret-1","deviceId":"d"}"#)
        expect(answer.json["a"], is: "<not-a-secret-1>")
        expect(answer["x-echo"], is: "Bearer " + token)
        let entry = try await world.control(.get, "journal").text
        let signature = try #require(token.split(separator: ".").last)
        #expect(!entry.contains(signature))
        #expect(!entry.contains("not-a-secret-1"))
        #expect(entry.contains("<***>"))
    }

    @Test("what goes wrong on the wire reaches the client, and the journal says why") func wire() async throws {
        let world = try await World(.socket)
        try await world.arm(#"{"route":"rua.forgot","fault":"empty"}"#)
        await #expect(throws: (any Error).self) { try await world.call(.post, path, [World.apiKey], body) }
        let entry = world.sandbox.journal.last
        expect(entry?.response.status.code, is: 200)
        expect(entry?.record.intervention, is: "armed fault, call 1: fault empty reply")
        expect(entry?.response.transmission.fault, is: .empty)
        expect(try await world.call(.post, path, [World.apiKey], body).status, is: 200)
    }

    @Test("a fault changes nothing in the state") func stateless() async throws {
        let world = try await World()
        try await world.arm("service-unavailable", at: "rua.guest")
        expect(try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey]).status, is: 503)
        expect(try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey]).json["id"], is: 1002)
    }

    @Test(
        "what makes no sense is refused and arms nothing",
        arguments: [
            (#"{"route":"rua.forgt","fail":"service-unavailable"}"#, "did you mean “rua.forgot”?"),
            (#"{"route":"rua.forgot","fail":"service-unavailble"}"#, "did you mean “service-unavailable”?"),
            (#"{"route":"rua.forgot"}"#, "this fault has no effect: give fail"),
            (#"{"fail":"token-expired"}"#, "route must name a route"),
            (#"{"route":1,"fail":"token-expired"}"#, "route must name a route"),
            (#"{"route":"rua.forgot","fail":"token-expired","call":0}"#, "whole number from 1"),
            (#"{"route":"rua.forgot","fail":"token-expired","call":"2"}"#, "whole number from 1"),
            (#"{"vendor":"rezolv","route":"rua.forgot","fail":"token-expired"}"#, "no vendor is called rezolv"),
            (#"{"vendor":7,"route":"rua.forgot","fail":"token-expired"}"#, "no vendor is called 7"),
            (#"{"route":"rua.forgot","fail":"token-expired","cal":2}"#, "did you mean “call”?"),
            (#"{"faults":[{"route":"rua.forgot","fail":"token-expired","cal":2}]}"#, "did you mean “call”?"),
            (#"{"faults":{}}"#, "faults must be a list"), (#"{"faults":[],"call":1}"#, "and the only member"),
            (#"{"faults":[1]}"#, "a fault is an object"), (#"{}"#, "route must name a route"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "faults", body).expectProblem(400, "invalid", message)
        expect(try await world.control(.get, "faults").text, is: #"{"faults":[]}"#)
    }
}

@Suite("Control: tokens") struct TokenControlTests {
    @Test("lists every kind of every vendor with members and defects") func kinds() async throws {
        let world = try await World()
        let kinds = try await world.control(.get, "tokens").json["kinds"]?.array ?? []
        let expected = world.emulator.vendors.flatMap { vendor in
            vendor.tokenKinds.map { "\(vendor.identity.id)/\($0.name)" }
        }
        expect(kinds.map { "\($0["vendor"]?.string ?? "")/\($0["kind"]?.string ?? "")" }, is: expected)
        #expect(kinds.allSatisfy { $0["about"]?.string?.isEmpty == false && $0["defects"]?.array?.isEmpty == false })
    }

    @Test("a minted token comes with what it says") func minted() async throws {
        let world = try await World()
        let answer = try await world.control(.post, "tokens/rezolve/registration", #"{"partner_entity_id":"u"}"#)
        expect(answer.json["header"], is: ["alg": "HS512", "typ": "JWT"])
        expect(
            answer.json["claims"], is: ["rezolve_entity_id": ":NONE:", "partner_entity_id": "u", "exp": 1_800_001_800])
        expect(answer.json["token"]?.string?.split(separator: ".").count, is: 3)
        // No content is not an order.
        try await world.control(.post, "tokens/rezolve/registration").expect(200)
    }

    @Test(
        "an order and a question that make no sense are refused, and unknown names with the nearest",
        arguments: [
            ("rezolv/login", "", 404, "no-such-vendor", "did you mean “rezolve”?"),
            ("rezolve/logn", "", 404, "no-such-kind", "did you mean “login”?"),
            ("rezolve/x%2Fy", "", 404, "no-such-kind", "x/y"),
            ("rezolve/login", "[]", 400, "body-malformed", "a JSON array"),
            ("rezolve/login", "{", 400, "body-malformed", "not JSON"),
            ("rezolve/login", #"{"x":1}"#, 400, "invalid", "no member x"),
            ("rezolve/login", #"{"defect":1}"#, 400, "invalid", "1"),
            ("rezolve/login", #"{"defect":"expird"}"#, 400, "invalid", "did you mean “expired”?"),
            ("rezolve/login", #"{"partner":"317","partner":"3"}"#, 400, "invalid", "twice"),
            ("explain", "{}", 400, "invalid", "token must be a string"),
            ("explain", #"{"token":1}"#, 400, "invalid", "token must be a string"),
            ("explain", #"{"token":"x","vendor":"rezolv"}"#, 404, "no-such-vendor", "did you mean “rezolve”?"),
            ("explain", #"{"token":"x","vendor":1}"#, 404, "no-such-vendor", "no vendor"),
            ("explain", #"{"token":"x","request":[]}"#, 400, "invalid", "expected an object"),
            ("explain", #"{"token":"x","vendr":"y"}"#, 400, "invalid", "did you mean “vendor”?"),
        ])
    func refused(_ path: String, _ body: String, _ status: Int, _ code: String, _ message: String) async throws {
        try await World().control(.post, "tokens/" + path, body).expectProblem(status, code, message)
    }

    @Test(
        "rubbish is explained, never refused",
        arguments: ["", ".", "a.b.c", "\u{0}", "ä.ö.ü", String(repeating: ".", count: 20_000)])
    func rubbish(_ token: String) async throws {
        let world = try await World()
        let answer = try await world.control(.post, "tokens/explain", JSON.object(["token": .string(token)]).text)
        expect(answer.status, is: 200)
        let verdicts = answer.json["verdicts"]?.array ?? []
        expect(verdicts.count, is: world.emulator.vendors.count)
        #expect(verdicts.allSatisfy { $0["accepted"] == false && $0["kind"] == .null && $0["account"] == .null })
    }
}

/// A vendor's answer that hands out a token.
struct Handout: Sendable, CustomTestStringConvertible {
    let route: String
    let member: String
    let ask: World.Send

    var testDescription: String { "\(route) \(member)" }

    /// The token in the answer.
    func token(in answer: ReceivedAnswer) -> String {
        let text = answer.json[member]?.string ?? answer[member] ?? ""
        return text.split(separator: " ").last.map(String.init) ?? ""
    }

    private static let form = ("content-type", "application/x-www-form-urlencoded")

    @Sendable private static func login(_ world: World) async throws -> ReceivedAnswer {
        try await world.call(
            .post, "/v2/credentials/login", [World.apiKey],
            #"{"username":"ada@example.test","password":"not-a-secret-1","deviceId":"dev-1"}"#)
    }

    static let all = [
        Handout(route: "rua.login", member: "authorization", ask: login),
        Handout(route: "rua.ping", member: "accessToken") { world in
            let token = try await login(world)["authorization"] ?? ""
            return try await world.call(.get, "/v2/credentials/ping", [("authorization", token)])
        },
        Handout(route: "token.create", member: "access_token") { world in
            let client = Data("0oaunderstudysvc0001:svc-secret-not-real-0123456789abcdef".utf8).base64EncodedString()
            return try await world.call(
                .post, "/oauth2/default/v1/token", [form, ("authorization", "Basic \(client)")],
                "grant_type=client_credentials&scope=trips.read")
        },
        Handout(route: "mint.customer-token", member: "customer_token") { world in
            try await world.call(
                .post, "/webxp/exampleapp/customertokens", [],
                #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"}}"#)
        },
        Handout(route: "session.create", member: "token") { world in
            let space = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
            let challenge = try await world.call(.get, "/apispaces/\(space)/sessions/start").json
            let token = try await world.mint(
                "comapi/app", ["space": .string(space), "nonce": challenge["nonce"] ?? .null])
            return try await world.call(
                .post, "/apispaces/\(space)/sessions", [],
                JSON.object([
                    "authenticationId": challenge["authenticationId"] ?? .null, "authenticationToken": .string(token),
                ]).text)
        },
    ]
}

@Suite("Tokens that answers hand out wrong, and a clock that moves meanwhile") struct SpoiledTokenTests {
    private func arm(_ world: World, _ fault: JSON) async throws {
        try await world.control(.put, "faults", fault.text).expect(200)
    }

    private func arm(_ world: World, _ handout: Handout, _ defect: JSON) async throws {
        try await arm(world, ["route": .string(handout.route), "defects": .object([handout.member: defect])])
    }

    private func explained(_ token: String, _ world: World) async throws -> String {
        try await world.control(.post, "tokens/explain", JSON.object(["token": .string(token)]).text).text
    }

    @Test("the token is signed anew by the key that signed it, and wrong in that way alone", arguments: Handout.all)
    func spoiled(_ handout: Handout) async throws {
        let world = try await World()
        let good = CompactToken(handout.token(in: try await handout.ask(world)))
        try await arm(world, handout, ["defect": "expired", "claims": ["drilled": true]])
        let answer = try await handout.ask(world)
        let spoiled = CompactToken(handout.token(in: answer))
        #expect((spoiled.claims?["exp"]?.int ?? .max) < World.exampleMoment)
        #expect((good.claims?["exp"]?.int ?? 0) > World.exampleMoment)
        expect(spoiled.claims?["drilled"], is: true)
        expect(spoiled.header, is: good.header)
        answer.expect(200)
        expect(
            answer.entry?.record.intervention,
            is: "armed fault, call 1: defect \(handout.member) expired claim drilled")
        // Who knows the key finds nothing wrong with the signature.
        let told = try await explained(spoiled.text, world)
        #expect(told.contains(#""check":"signature","outcome":"passed""#), "\(told)")
    }

    @Test("a wrong key makes another signature of the same content", arguments: Handout.all)
    func wrongKey(_ handout: Handout) async throws {
        let world = try await World()
        try await arm(world, handout, "bad-signature")
        let told = try await explained(handout.token(in: handout.ask(world)), world)
        #expect(told.contains("a signature that does not match"), "\(told)")
    }

    @Test("Okta's own defects are known, too") func own() async throws {
        let world = try await World()
        let handout = Handout.all[2]
        try await arm(world, handout, "wrong-audience")
        let good = CompactToken(handout.token(in: try await handout.ask(try await World())))
        let spoiled = CompactToken(handout.token(in: try await handout.ask(world)))
        #expect(spoiled.claims?["aud"] != good.claims?["aud"] && spoiled.header == good.header)
    }

    @Test("an answer without such a token is left as it is, with a note") func absent() async throws {
        let world = try await World()
        try await arm(world, ["route": "rua.login", "defects": ["id_token": "expired"]])
        let answer = try await Handout.all[0].ask(world)
        answer.expect(200)
        expect(
            answer.entry?.record.intervention,
            is: "armed fault, call 1: defect id_token expired; id_token was left as it is: the answer has no such token"
        )
        expect(answer.entry?.record.isStruck, is: false)
    }

    @Test("the clock moves as the call is answered, so that the next call is later") func advance() async throws {
        let world = try await World()
        try await arm(world, ["route": "rua.login", "advance": "2h"])
        let answer = try await Handout.all[0].ask(world)
        expect(answer.entry?.moment.unixSeconds, is: Double(World.exampleMoment))
        expect(answer.entry?.record.intervention, is: "armed fault, call 1: advance 7200s")
        expect(try await world.control(.get, "clock").json["unix"]?.int, is: World.exampleMoment + 7200)
        try await arm(world, ["route": "rua.login", "advance": "-36500d"])
        let back = try await Handout.all[0].ask(world)
        expect(
            back.entry?.record.intervention,
            is: "armed fault, call 1: advance -3153600000s; the clock was not moved: it cannot show that time")
    }

    @Test(
        "what cannot be meant is refused",
        arguments: [
            (
                #""defects":{"id_token":"wrong-kee"}"#,
                "defects.id_token: “wrong-kee” is not a defect; did you mean “wrong-key”?"
            ),
            (#""defects":{}"#, "defects: defects names no member of the answer"),
            (
                #""defects":{"id_token":{}}"#,
                "defects.id_token: found nothing that is wrong with the token; expected defect or claims"
            ),
            (
                #""fail":"token-expired","defects":{"a":"expired"}"#,
                "defects: defects are of tokens that the vendor hands out, and a failure has none"
            ),
            (#""advance":7"#, "advance: 7 is not a duration such as 250ms, 90s, 31m or 2h"),
        ])
    func refused(_ effect: String, _ message: String) async throws {
        let answer = try await World().control(.put, "faults", #"{"route":"rua.login",\#(effect)}"#)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["message"], is: .string(message))
    }
}
