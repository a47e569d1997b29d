import Expectations
import JSON
import Support
import Testing
import Understudy

@Suite("Control: faults") struct FaultControlTests {
    private let path = "/v1/credentials/forget"
    private let body = #"{"email":"ada@example.test"}"#
    private let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]

    @Test("a fault is listed, hits its call once and is spent") func life() async throws {
        let world = try await World()
        let armed = try await world.control(
            .put, "faults", #"{"route":"rua.forgot","call":2,"fail":"service-unavailable"}"#)
        let fault =
            #"{"vendor":"rezolve","route":"rua.forgot","call":2,"fail":"service-unavailable","calls":0,"strikes":0}"#
        expect(armed.text, is: #"{"faults":[\#(fault)]}"#)
        expect(try await world.control(.get, "faults").text, is: armed.text)
        let statuses = try await statuses(world, 4)
        expect(statuses, is: [200, 503, 200, 200])
        expect(try await world.control(.get, "faults").text, is: #"{"faults":[]}"#)
    }

    private func statuses(_ world: World, _ count: Int) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append(try await world.call(.post, path, key, body).status) }
        return statuses
    }

    @Test("a list arms several, and arming replaces what was armed") func list() async throws {
        let world = try await World()
        let both =
            #"{"route":"rua.forgot","fail":"service-unavailable"},{"route":"rua.forgot","call":3,"fail":"body-too-large"}"#
        try await world.control(.put, "faults", #"{"faults":[\#(both)]}"#)
        expect(try await statuses(world, 4), is: [503, 200, 413, 200])
        try await world.control(.put, "faults", #"{"faults":[\#(both)]}"#)
        try await world.control(.put, "faults", #"{"route":"rua.forgot","call":2,"fail":"body-too-large"}"#)
        expect(try await statuses(world, 3), is: [200, 413, 200])
    }

    @Test("a fault of a whole vendor strikes every route, as often as it says, and the journal names it")
    func wholeVendor() async throws {
        let world = try await World()
        try await world.control(.put, "faults", #"{"vendor":"rezolve","every":2,"fail":"service-unavailable"}"#)
        expect(try await statuses(world, 4), is: [200, 503, 200, 503])
        let ping = try await world.call(.get, "/v2/credentials/ping", key)
        expect(ping.failure, is: "rua-token-missing")
        let sixth = try await world.call(.get, "/v2/credentials/ping", key)
        expect(sixth.failure, is: "service-unavailable")
        expect(sixth.entry?.record.intervention, is: "armed fault, call 6: fail service-unavailable")
        expect(sixth.entry?.explanation, is: sixth.entry?.record.intervention)
        let listed = try await world.control(.get, "faults").json["faults"]?[0]
        expect(listed?["calls"], is: 6)
        expect(listed?["strikes"], is: 3)
    }

    @Test("a response of the operator's takes the place of the vendor's, filled from the request")
    func respond() async throws {
        let world = try await World()
        let respond = #"{"status":429,"headers":{"retry-after":"7"},"body":{"to":"{{request.body.email}}"}}"#
        try await world.control(.put, "faults", #"{"route":"rua.forgot","respond":\#(respond)}"#)
        let answer = try await world.call(.post, path, key, body)
        expect(answer.status, is: 429)
        expect(answer["retry-after"], is: "7")
        expect(answer.text, is: #"{"to":"ada@example.test"}"#)
        expect(answer.failure, is: nil)
        expect(answer.entry?.record.intervention, is: "armed fault, call 1: respond 429")
    }

    @Test("secrets of the request that such a response repeats are hidden in the journal, and sent all the same")
    func echoes() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let template =
            #"{"headers":{"x-echo":"{{request.headers.authorization}}"},"body":{"a":"<{{request.body.password}}>","b":"{{request.headers.authorization}}"}}"#
        try await world.control(.put, "faults", #"{"route":"rua.login","respond":\#(template)}"#)
        let answer = try await world.call(
            .post, "/v2/credentials/login", key + [("authorization", "Bearer " + token)],
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
        try await world.control(.put, "faults", #"{"route":"rua.forgot","fault":"empty"}"#)
        await #expect(throws: (any Error).self) { try await world.call(.post, path, key, body) }
        let entry = world.sandbox.journal.entries().last
        expect(entry?.response.status.code, is: 200)
        expect(entry?.record.intervention, is: "armed fault, call 1: fault empty reply")
        expect(entry?.response.transmission.fault, is: .empty)
        expect(try await world.call(.post, path, key, body).status, is: 200)
    }

    @Test("a fault changes nothing in the state") func stateless() async throws {
        let world = try await World()
        try await world.arm("service-unavailable", at: "rua.guest")
        expect(try await world.call(.post, "/v2/credentials/register/guest", key).status, is: 503)
        expect(try await world.call(.post, "/v2/credentials/register/guest", key).json["id"], is: 1002)
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
        expect(answer.status, is: 200)
        expect(answer.json["header"], is: ["alg": "HS512", "typ": "JWT"])
        expect(
            answer.json["claims"], is: ["rezolve_entity_id": ":NONE:", "partner_entity_id": "u", "exp": 1_800_001_800])
        let token = try #require(answer.json["token"]?.string)
        expect(token.split(separator: ".").count, is: 3)
        expect(
            try await world.control(.post, "tokens/rezolve/registration").status, is: 200, "no content is not an order")
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
        expect(answer.status, is: 200)
        let verdicts = answer.json["verdicts"]?.array ?? []
        expect(verdicts.count, is: world.emulator.vendors.count)
        #expect(verdicts.allSatisfy { $0["accepted"] == false && $0["kind"] == .null && $0["account"] == .null })
    }
}
