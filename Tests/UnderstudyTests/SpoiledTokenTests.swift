import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens

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
