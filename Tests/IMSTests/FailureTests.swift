import JSON
import Support
import Testing

@Suite("IMS's failures")
struct FailureTests {
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
