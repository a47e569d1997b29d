import JSON
import Support
import Testing
import Understudy

@Suite("Control: tokens")
struct TokenControlTests {
    @Test("lists every kind of every vendor with members and defects")
    func kinds() async throws {
        let world = try await World()
        let kinds = try await world.control(.get, "tokens").json["kinds"]?.array ?? []
        let expected = world.emulator.vendors.flatMap { vendor in
            vendor.tokenKinds.map { "\(vendor.identity.id)/\($0.name)" }
        }
        #expect(kinds.map { "\($0["vendor"]?.string ?? "")/\($0["kind"]?.string ?? "")" } == expected)
        #expect(kinds.allSatisfy { $0["about"]?.string?.isEmpty == false && $0["defects"]?.array?.isEmpty == false })
    }

    @Test("a minted token comes with what it says", arguments: Depth.allCases)
    func minted(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.control(.post, "tokens/rezolve/registration", #"{"partner_entity_id":"u"}"#)
        #expect(answer.status == 200)
        #expect(answer.json["header"] == ["alg": "HS512", "typ": "JWT"])
        #expect(
            answer.json["claims"] == ["rezolve_entity_id": ":NONE:", "partner_entity_id": "u", "exp": 1_800_001_800])
        let token = try #require(answer.json["token"]?.string)
        #expect(token.split(separator: ".").count == 3)
        #expect(
            try await world.control(.post, "tokens/rezolve/registration").status == 200, "no content is not an order")
    }

    @Test(
        "unknown vendors and kinds are 404 and name the nearest",
        arguments: [
            ("tokens/rezolv/login", "no-such-vendor", "did you mean “rezolve”?"),
            ("tokens/rezolve/logn", "no-such-kind", "did you mean “login”?"),
            ("tokens/rezolve/x%2Fy", "no-such-kind", "x/y"),
        ])
    func unknown(_ path: String, _ code: String, _ message: String) async throws {
        try await World().control(.post, path).expectProblem(404, code, message)
    }

    @Test(
        "an order that is not an object, or has unknown members, is refused",
        arguments: [
            ("[]", "body-malformed", "a JSON array"), ("{", "body-malformed", "not JSON"),
            (#"{"x":1}"#, "invalid", "no member x"), (#"{"defect":1}"#, "invalid", "1"),
            (#"{"defect":"expird"}"#, "invalid", "did you mean “expired”?"),
            (#"{"partner":"317","partner":"3"}"#, "invalid", "twice"),
        ])
    func badOrder(_ body: String, _ code: String, _ message: String) async throws {
        try await World().control(.post, "tokens/rezolve/login", body).expectProblem(400, code, message)
    }

    @Test(
        "a question about a token needs one",
        arguments: [
            (#"{}"#, 400, "token must be a string"), (#"{"token":1}"#, 400, "token must be a string"),
            (#"{"token":"x","vendor":"rezolv"}"#, 404, "did you mean “rezolve”?"),
            (#"{"token":"x","vendor":1}"#, 404, "no vendor"),
            (#"{"token":"x","request":[]}"#, 400, "expected an object"),
            (#"{"token":"x","vendr":"y"}"#, 400, "did you mean “vendor”?"),
        ])
    func badQuestion(_ body: String, _ status: Int, _ message: String) async throws {
        try await World().control(.post, "tokens/explain", body)
            .expectProblem(status, status == 404 ? "no-such-vendor" : "invalid", message)
    }

    @Test(
        "rubbish is explained, never refused",
        arguments: ["", ".", "a.b.c", "\u{0}", "ä.ö.ü", String(repeating: ".", count: 20_000)])
    func rubbish(_ token: String) async throws {
        let world = try await World()
        let answer = try await world.control(.post, "tokens/explain", JSON.object(["token": .string(token)]).text)
        #expect(answer.status == 200)
        let verdicts = answer.json["verdicts"]?.array ?? []
        #expect(verdicts.count == world.emulator.vendors.count)
        #expect(verdicts.allSatisfy { $0["accepted"] == false && $0["kind"] == .null && $0["account"] == .null })
    }
}
