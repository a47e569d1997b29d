import Expectations
import JSON
import Support
import Testing

@Suite("Control: verification of the journal") struct VerifyControlTests {
    private let forgot = "/v1/credentials/forget"

    /// Two forgotten passwords, a guest refused for a missing api key, and a path no vendor owns; ten seconds apart.
    private func filled() async throws -> World {
        let world = try await World()
        _ = try await world.call(
            .post, forgot + "?from=app", [World.apiKey, ("x-device", "one")], #"{"email":"ada@example.test"}"#)
        try await world.advance("10s")
        _ = try await world.call(.post, forgot, [World.apiKey], #"{"email":"ben@example.test"}"#)
        try await world.advance("10s")
        _ = try await world.call(.post, "/v2/credentials/register/guest")
        try await world.advance("10s")
        _ = try await world.call(.get, "/v2/credential/ping")
        return world
    }

    /// Why the second exchange was refused.
    private static let nobody =
        "no user of partner 317 has the email ben@example.test; expected that of a user who registered"
    private static let second =
        "rezolve rua.forgot: POST /v1/credentials/forget → 404 rua-user-not-found (\(nobody))"

    @Test("answers how many there are, and which") func fulfilled() async throws {
        try await filled().verify(#"{"where":{"route":"rua.forgot"}}"#)
            .expect(200, #"{"verified":true,"count":2,"entries":[1,2]}"#)
    }

    @Test("without anything said it asks for one exchange of any kind") func anything() async throws {
        try await World().verify("{}").expect(
            409,
            #"{"verified":false,"count":0,"expected":"at least 1","message":"expected at least 1 exchange, found 0; the journal has no other","nearest":[]}"#
        )
        expect(try await filled().verify("{}").json["entries"], is: [1, 2, 3, 4])
    }

    @Test(
        "counts by each part and all together",
        arguments: [
            (#""vendor":"rezolve""#, [1, 2, 3]), (#""vendor":{"not":"rezolve"}"#, [4]), (#""route":"rua.guest""#, [3]),
            (#""status":404"#, [2, 4]), (#""status":"404""#, [2, 4]), (#""status":"4xx""#, [2, 4]),
            (#""status":"2xx""#, [1]), (#""route":"rua.*""#, [1, 2, 3]), (#""route":"*.guest""#, [3]),
            (#""refused":true"#, [2, 3]), (#""refused":false"#, [1, 4]),
            (#""failure":"rua-api-key-missing""#, [3]), (#""since":"2027-01-15T08:00:10Z""#, [2, 3, 4]),
            (#""since":1800000020"#, [3, 4]), (#""after":2"#, [3, 4]), (#""unmatched":true"#, [4]),
            (#""unmatched":false"#, [1, 2, 3]), (#""method":"GET""#, [4]), (#""method":{"not":"GET"}"#, [1, 2, 3]),
            (#""path":{"like":"/v1/*"}"#, [1, 2]), (#""query":{"from":"app"}"#, [1]),
            (#""query":{"from":{"present":false}}"#, [2, 3, 4]), (#""header":{"X-Device":"one"}"#, [1]),
            (#""body":{"$.email":{"contains":"@example"},"email":{"not":"ada@example.test"}}"#, [2]),
            (#""reason":{"contains":"api-key"}"#, [3]), (#""claims":{"exp":{"present":true}}"#, []),
            (#""route":"rua.forgot","header":{"x-device":{"present":true}}"#, [1]),
        ])
    func parts(_ criteria: String, _ expected: [Int]) async throws {
        let (world, count) = (try await filled(), expected.count)
        let answer = try await world.verify(#"{"exactly":\#(count),"where":{\#(criteria)}}"#)
        answer.expect(200)
        expect(answer.json["entries"], is: .array(expected.map { JSON($0) }))
        let more = try await world.verify(#"{"at_least":\#(count + 1),"where":{\#(criteria)}}"#)
        more.expect(409)
        expect(more.json["count"], is: JSON(count))
    }

    @Test(
        "holds within its bounds and not beyond",
        arguments: [
            (#""at_least":2"#, true, "at least 2"), (#""at_least":3"#, false, "at least 3"),
            (#""at_most":2"#, true, "at most 2"), (#""at_most":1"#, false, "at most 1"),
            (#""exactly":2"#, true, "exactly 2"), (#""exactly":1"#, false, "exactly 1"),
            (#""exactly":3"#, false, "exactly 3"), (#""at_least":1,"at_most":3"#, true, "at least 1 and at most 3"),
            (#""at_least":0,"at_most":1"#, false, "at most 1"), (#""exactly":0"#, false, "exactly 0"),
            (#""at_least":3,"at_most":4"#, false, "at least 3 and at most 4"), (#""at_least":0"#, true, "at least 0"),
        ])
    func bounds(_ bounds: String, _ holds: Bool, _ words: String) async throws {
        let answer = try await filled().verify(#"{\#(bounds),"where":{"route":"rua.forgot"}}"#)
        answer.expect(holds ? 200 : 409)
        expect(answer.json["verified"], is: .bool(holds))
        expect(answer.json["count"], is: 2)
        if !holds { expect(answer.json["expected"], is: .string(words)) }
    }

    @Test("a failed one shows the exchanges that miss least, the latest first, and what they have instead")
    func nearest() async throws {
        let answer = try await filled().verify(
            #"{"where":{"route":"rua.forgot","header":{"x-device":"two"},"body":{"$.email":"eve@example.test"}}}"#)
        answer.expect(409)
        let nearest = try #require(answer.json["nearest"]?.array)
        expect(nearest.map { $0["id"] }, is: [2, 1, 4, 3])
        expect(nearest.map { $0["route"] }, is: ["rua.forgot", "rua.forgot", .null, "rua.guest"])
        expect(nearest[0]["summary"]?.string, is: Self.second)
        expect(
            nearest[0]["missed"]?.text,
            is:
                #"[{"condition":"header x-device","expected":"\"two\"","found":null},{"condition":"body $.email","expected":"\"eve@example.test\"","found":"ben@example.test"}]"#
        )
        expect(nearest[1]["missed"]?[0]?["found"], is: "one")
        expect(
            nearest[3]["summary"]?.string?.hasPrefix(
                "rezolve rua.guest: POST /v2/credentials/register/guest → 500 rua-api-key-missing (api-key: found "),
            is: true)
        expect(nearest[3]["reason"]?.string?.hasPrefix("api-key: found "), is: true)
        expect(
            nearest[3]["missed"]?[0]?.text, is: #"{"condition":"route","expected":"rua.forgot","found":"rua.guest"}"#)
        expect(
            answer.json["message"]?.string,
            is: "expected at least 1 exchange, found 0; the nearest is entry 2, \(Self.second): "
                + #"header x-device is nothing, not "two"; body $.email is ben@example.test, not "eve@example.test""#)
    }

    @Test("where there are too many it shows those behind the last one allowed") func surplus() async throws {
        let answer = try await filled().verify(#"{"at_most":1,"where":{"route":"rua.forgot"}}"#)
        expect(answer.json["nearest"]?.array?.map { [$0["id"], $0["missed"]] }, is: [[2, []]])
        expect(
            answer.json["message"]?.string,
            is: "expected at most 1 exchange, found 2; one too many is entry 2, \(Self.second)")
    }

    @Test("a request that found no route comes with the nearest ones, here and in the list of such")
    func unmatched() async throws {
        let world = try await filled()
        let nearest = try await world.verify(#"{"where":{"method":"GET","route":"rua.ping"}}"#).json["nearest"]
        let list = try await world.control(.get, "journal?unmatched=true").json["entries"]
        expect(list?.array?.count, is: 1)
        for entry in [nearest?[0], list?[0]] {
            expect(entry?["id"], is: 4)
            expect(entry?["nearest_routes"]?[0], is: "rezolve rua.ping: GET /v2/credentials/ping")
        }
        expect(nearest?[1]?["nearest_routes"], is: nil)
        let others = try await world.control(.get, "journal?unmatched=false").json["entries"]?.array ?? []
        expect(others.map { $0["id"] }, is: [1, 2, 3])
        try await world.control(.get, "journal?unmatched=yes").expectProblem(400, "invalid", "expected true or false")
    }

    @Test("a call of the wanted route goes before any other, and a browser's for its icon comes last")
    func unrelated() async throws {
        let world = try await filled()
        _ = try await world.call(.get, "/favicon.ico", [("x-device", "two")])
        let failed = try await world.verify(
            #"{"where":{"route":"rua.forgot","method":"GET","status":200,"header":{"x-device":"two"},"body":{"email":"x"}}}"#
        )
        expect(failed.json["nearest"]?.array?.map { $0["id"] }, is: [1, 2, 4, 3, 5])
        let message = failed.json["message"]?.string ?? ""
        #expect(
            message.contains("the nearest is entry 1, rezolve rua.forgot: POST /v1/credentials/forget?from=app → 200"))
        expect(failed.json["nearest"]?[1]?["reason"]?.string, is: Self.nobody)
        let path = try await world.verify(
            #"{"where":{"path":{"like":"/v1/*"},"status":299,"header":{"x-device":"two"}}}"#)
        expect(path.json["nearest"]?.array?.prefix(2).map { $0["id"] }, is: [2, 1])
    }

    @Test("shows five at most, of equals the latest") func many() async throws {
        let world = try await World()
        for number in 1...8 { _ = try await world.call(.get, "/nowhere/\(number)") }
        let answer = try await world.verify(#"{"where":{"path":"/else"}}"#)
        expect(answer.json["nearest"]?.array?.map { $0["id"] }, is: [8, 7, 6, 5, 4])
    }

    @Test("shows what was found up to 200 characters", arguments: [200, 201]) func long(_ length: Int) async throws {
        let world = try await World()
        let path = "/" + String(repeating: "x", count: length - 1)
        _ = try await world.call(.get, path)
        let answer = try await world.verify(#"{"where":{"path":"/else"}}"#)
        let shown = length > 200 ? path.prefix(200) + "…" : path
        expect(answer.json["nearest"]?[0]?["missed"]?[0]?["found"]?.string, is: shown)
    }

    @Test(
        "shows no secret in what was found",
        arguments: [
            (#"{"username":"u","password":"do not show this","deviceId":"d"}"#, #""body":{"password":"x"}"#, "***"),
            ("username=u&password=do+not+show+this", #""form":{"password":"x"}"#, "***"),
            (#"{"username":"u""#, #""header":{"authorization":"x"}"#, "Bearer ***"),
            (#"{"username":"u""#, #""query":{"token":"x"}"#, "***"),
        ])
    func masked(_ body: String, _ criteria: String, _ found: String) async throws {
        let world = try await World()
        let type = body.hasPrefix("{") ? "application/json" : "application/x-www-form-urlencoded"
        _ = try await world.call(
            .post, "/v2/credentials/login?token=show-this-not",
            [World.apiKey, ("authorization", "Bearer show-this-not"), ("content-type", type)], body)
        let answer = try await world.verify(#"{"where":{\#(criteria)}}"#)
        expect(answer.json["nearest"]?[0]?["missed"]?[0]?["found"], is: .string(found))
        for secret in ["show this", "show+this", "show-this"] { #expect(!answer.text.contains(secret)) }
    }

    @Test("knows the secrets that it does not show") func unmasked() async throws {
        let world = try await World()
        _ = try await world.call(
            .post, "/v2/credentials/login", [World.apiKey], #"{"username":"u","password":"p","deviceId":"d"}"#)
        try await world.verify(#"{"where":{"body":{"password":"p"}}}"#).expect(200)
        try await world.verify(#"{"where":{"body":{"password":"***"}}}"#).expect(409)
    }

    @Test("a wait ends as soon as the expectation holds", .timeLimit(.minutes(15))) func wait() async throws {
        let world = try await World()
        async let answer = world.verify(#"{"exactly":2,"where":{"path":{"like":"/nowhere*"}}}"#, "?wait=60s")
        for path in ["/nowhere", "/v1/user/a", "/nowhere/else"] { _ = try await world.call(.get, path) }
        expect(try await answer.json["entries"], is: [1, 3])
    }

    @Test("a wait in vain, or for what cannot come right any more, answers what there is", .timeLimit(.minutes(15)))
    func vainWait() async throws {
        let world = try await filled()
        let vain = try await world.verify(#"{"at_least":9}"#, "?wait=20ms")
        vain.expect(409)
        expect(vain.json["count"], is: 4)
        for (bounds, status) in [(#"{"exactly":2}"#, 409), (#"{"at_most":3}"#, 409), (#"{"at_most":4}"#, 200)] {
            try await world.verify(bounds, "?wait=60s").expect(status)
        }
    }

    @Test(
        "what makes no sense is refused",
        arguments: [
            ("", #"{"exactly":1,"at_least":1}"#, "exactly cannot be combined with at_least or at_most"),
            ("", #"{"exactly":1,"at_most":1}"#, "exactly cannot be combined"),
            ("", #"{"at_least":2,"at_most":1}"#, "nothing can be both"),
            ("", #"{"at_least":-1}"#, "whole number from 0"), ("", #"{"at_most":1.5}"#, "expected a whole number"),
            ("", #"{"exactly":"1"}"#, "expected a whole number"), ("", #"{"at_lest":1}"#, "did you mean “at_least”?"),
            ("", #"{"where":[]}"#, "expected a mapping"), ("", #"{"where":{"rout":"x"}}"#, "did you mean “route”?"),
            ("", #"{"where":{"route":"rua.forgt"}}"#, "did you mean “rua.forgot”?"),
            ("", #"{"where":{"route":"rua.x*"}}"#, "no route fits rua.x*"),
            (
                "", #"{"where":{"status":"6xx"}}"#,
                "6xx is not a status; expected a whole number, or a class such as 4xx"
            ),
            ("", #"{"where":{"status":-1}}"#, "whole number from 0"),
            ("", #"{"where":{"refused":"yes"}}"#, "true or false"),
            ("", #"{"where":{"vendor":"rezolv"}}"#, "did you mean “rezolve”?"),
            ("", #"{"where":{"failure":"token-expird"}}"#, "did you mean “token-expired”?"),
            ("", #"{"where":{"since":"now"}}"#, "RFC 3339"), ("", #"{"where":{"unmatched":1}}"#, "true or false"),
            ("", #"{"where":{"body":{"$.[":1}}}"#, "not a JSONPath"),
            ("", #"{"where":{"method":{"iz":"GET"}}}"#, "unknown member “iz”"),
            ("?wait=61s", "{}", "up to 60s"), ("?count=1", "{}", "no query parameter count"),
        ])
    func refused(_ query: String, _ body: String, _ message: String) async throws {
        try await World().verify(body, query).expectProblem(400, "invalid", message)
    }

    @Test("claims of the presented token count, and the journal is not touched") func claims() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let fields = [World.apiKey, ("authorization", "Bearer " + token)]
        _ = try await world.call(.get, "/api/v1/partner/317/customer/entity123/phonebook", fields)
        let body = #"{"exactly":1,"where":{"claims":{"rezolve_entity_id":"entity123","exp":{"over":1800000000}}}}"#
        for _ in 0..<2 { try await world.verify(body).expect(200) }
        expect(world.sandbox.journal.count, is: 1)
    }
}

@Suite("Control: order and distance in the journal") struct SequenceControlTests {
    private func read(_ world: World, _ token: String) async throws {
        _ = try await world.call(
            .get, "/api/v1/partner/317/customer/entity123/addressbook",
            [World.apiKey, ("authorization", "Bearer \(token)"), World.device])
    }

    /// A read with an expired token, a renewal ten seconds later, a read with the old and one with the new token.
    private func renewed() async throws -> World {
        let world = try await World()
        let old = try await world.mint("rezolve/login", ["defect": "expired"])
        let new = try await world.mint("rezolve/login")
        try await read(world, old)
        try await world.advance("10s")
        _ = try await world.call(.get, "/v2/credentials/ping", [("authorization", "Bearer \(old)")])
        try await read(world, old)
        try await read(world, new)
        return world
    }

    @Test(
        "steps are found one after the other, each the first that fits",
        arguments: [
            (#"{"failure":"token-expired"},{"route":"rua.ping"}"#, [1, 2]),
            (#"{"failure":"token-expired"},{"status":"2xx","route":"addressbook.list"}"#, [1, 4]),
            (#"{"route":"rua.ping"},{"failure":"token-expired","token":"same"}"#, [2, 3]),
            (#"{"route":"rua.ping"},{"route":"addressbook.list","token":"other"}"#, [2, 4]),
            (#"{"failure":"token-expired"},{"route":"rua.ping","within":"10s"}"#, [1, 2]),
            (
                #"{"route":"rua.ping"},{"status":200,"between":{"at_most":1,"where":{"failure":"token-expired"}}}"#,
                [2, 4]
            ),
        ])
    func found(_ steps: String, _ entries: [Int]) async throws {
        let found = entries.map(String.init).joined(separator: ",")
        try await renewed().verify(#"{"sequence":[\#(steps)]}"#)
            .expect(200, #"{"verified":true,"count":2,"entries":[\#(found)]}"#)
    }

    @Test(
        "a failure names the step that is missing or too far away, with the entry that comes nearest",
        arguments: [
            (
                #"{"sequence":[{"failure":"masked-signature"}]}"#, 0,
                "no exchange is step 1 of 1 (failure masked-signature); the nearest is entry 4, "
            ),
            (
                #"{"sequence":[{"route":"rua.ping"},{"route":"profile.get"}]}"#, 1,
                "no exchange after entry 2 is step 2 of 2 (route profile.get); the nearest is entry 4, "
            ),
            (
                #"{"sequence":[{"status":200,"route":"addressbook.list"},{}]}"#, 1,
                "no exchange after entry 4 is step 2 of 2 (any); the journal has no other"
            ),
            (
                #"{"sequence":[{"failure":"token-expired"},{"route":"rua.ping","within":"9s"}]}"#, 1,
                "step 2 of 2 comes too late; the nearest is entry 2, "
            ),
            (
                #"{"sequence":[{"route":"rua.ping"},{"status":200,"between":{"at_most":0,"where":{"failure":"token-expired","token":"same"}}}]}"#,
                1,
                "expected at most 0 of (failure token-expired, token same) between entry 2 and step 2 of 2, entry 4, found 1; one too many is entry 3, "
            ),
            (
                #"{"sequence":[{"route":"rua.ping"}],"none_after":{"failure":"token-expired"}}"#, 1,
                "expected none of (failure token-expired) after the last step, entry 2, found 1; one too many is entry 3, "
            ),
        ])
    func missed(_ order: String, _ count: Int, _ message: String) async throws {
        let answer = try await renewed().verify(order)
        answer.expect(409)
        expect(answer.json["count"], is: JSON(count))
        let found = answer.json["message"]?.string ?? ""
        expect(String(found.prefix(message.count)), is: message)
    }

    @Test("the near miss says how the token relates to that of the step before, and how late it came")
    func nearMiss() async throws {
        let world = try await renewed()
        let token = try await world.verify(
            #"{"sequence":[{"route":"rua.ping"},{"route":"addressbook.list","status":401,"token":"other"}]}"#)
        expect(token.json["nearest"]?[0]?["id"], is: 4)
        expect(
            token.json["nearest"]?[1]?["missed"]?.text,
            is: #"[{"condition":"token","expected":"another than in entry 2","found":"the same"}]"#)
        let time = try await world.verify(
            #"{"sequence":[{"failure":"token-expired"},{"route":"rua.ping","within":"9s"}]}"#)
        expect(
            time.json["nearest"]?[0]?["missed"]?.text,
            is: #"[{"condition":"the time since entry 1","expected":"at most 9s","found":"10s"}]"#)
    }

    @Test(
        "what cannot be meant is refused",
        arguments: [
            (#"{"sequence":[]}"#, "sequence: the sequence is empty; expected a list of steps"),
            (#"{"sequence":[{}],"exactly":1}"#, "exactly: exactly cannot be combined with sequence"),
            (#"{"sequence":[{}],"where":{}}"#, "where: where cannot be combined with sequence"),
            (
                #"{"none_after":{}}"#,
                "none_after: none_after follows the last step of a sequence, and there is no sequence"
            ),
            (
                #"{"sequence":[{"within":"1s"}]}"#,
                "sequence[0].within: the first step of a sequence has no within, since no step is before it"
            ),
            (#"{"sequence":[{},{"token":"old"}]}"#, "sequence[1].token: “old” is not one of same, other"),
            (
                #"{"sequence":[{},{"within":"soon"}]}"#,
                #"sequence[1].within: "soon" is not a duration such as 250ms, 90s, 31m or 2h"#
            ),
            (
                #"{"sequence":[{"route":"rua.pong"}]}"#,
                "sequence[0].route: no route is called rua.pong; did you mean “rua.ping”?"
            ),
        ])
    func refused(_ order: String, _ message: String) async throws {
        let answer = try await World().verify(order)
        answer.expect(400)
        expect(answer.json["error"]?["message"], is: .string(message))
    }

    @Test("waiting ends when the last step arrives") func waits() async throws {
        let world = try await renewed()
        async let late = world.verify(#"{"sequence":[{"status":200},{"route":"rua.ping","status":401}]}"#, "?wait=60s")
        for _ in 1...2 { _ = try await world.call(.get, "/v2/credentials/ping") }
        try await late.expect(200)
    }
}
