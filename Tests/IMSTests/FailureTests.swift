import JSON
import Support
import Testing

@Suite("IMS's failures")
struct FailureTests {
    @Test("every failure looks as the spec says, and the journal names it", arguments: Depth.allCases, FailureCase.all)
    func failure(_ depth: Depth, _ example: FailureCase) async throws {
        let world = try await World(depth)
        let answer = try await example.provoke(world)
        answer.expect(example.status, example.body, example.name)
        answer.expectChallenge(example.name)
        #expect(answer["content-type"] == "application/json; charset=utf-8")
    }

    @Test("no failure is without a case")
    func coverage() async throws {
        let ims = try #require(try await World().emulator.vendors.first { $0.identity.id == "ims" })
        #expect(Set(FailureCase.all.map(\.name)) == Set(ims.failures.map(\.name)))
        #expect(Set(FailureCase.all.map(\.name)) == Set(ReceivedAnswer.messages.keys))
        for listing in ims.failures {
            let example = try #require(FailureCase.all.first { $0.name == listing.name })
            #expect(listing.status == example.status)
        }
    }

    @Test("each failure can be armed, without anything else being wrong", arguments: FailureCase.all.map(\.name))
    func armed(_ name: String) async throws {
        let world = try await World()
        try await world.arm(name, at: "me.get")
        let answer = try await world.me(Forged())
        #expect(answer.failure == name)
        #expect(answer.json["error"]?["code"]?.string == name)
        #expect(answer.json["error"]?["message"]?.string == ReceivedAnswer.messages[name])
        try await world.me(Forged()).expect(200)
    }

    @Test("a known path with another method says which ones it knows")
    func allow() async throws {
        let answer = try await World().call(.delete, "/ims/v1/trips")
        answer.expectRefusal(405, "method-not-allowed")
        #expect(answer["allow"] == "POST, GET")
    }

    @Test("the time to wait is that of the cool-down")
    func retryAfter() async throws {
        let world = try await World()
        try await world.set("ims.jwks-cooldown-seconds", "90")
        try await world.drill("rotating", "break")
        let answer = try await world.me(Forged(.rotating))
        answer.expectRefusal(503, "keys-unavailable")
        #expect(answer["retry-after"] == "90")
        try await world.arm("keys-unavailable", at: "me.get")
        #expect(try await world.me(Forged())["retry-after"] == "30", "armed, it has its standard")
    }

    @Test("what a bad token says, it does not say before its signature holds")
    func order() async throws {
        let world = try await World()
        let claims: [(String, JSON?)] = [("exp", 1), ("sub", "nobody"), ("iat", nil)]
        try await world.me(Forged(.uat, claims).signed(by: 2)).expectRefusal(401, "signature-invalid")
        try await world.me(Forged(.uat, claims)).expectRefusal(401, "claim-missing", field: "nbf")
        let answer = try await world.me(Forged(.uat, [("exp", 1), ("sub", "nobody")]))
        answer.expectRefusal(401, "token-expired")
        #expect(answer.outcome(of: "user-known") == .failed, "the journal knows all the same")
        #expect(answer.outcome(of: "signature") == .passed)
    }
}
