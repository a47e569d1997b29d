import Expectations
import JSON
import Support
import Testing

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
        async let late = world.verify(
            #"{"sequence":[{"status":200},{"route":"rua.ping","status":401}]}"#, "?wait=60s")
        for _ in 1...2 { _ = try await world.call(.get, "/v2/credentials/ping") }
        try await late.expect(200)
    }
}
