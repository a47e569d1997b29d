import JSON
import Support
import Testing

/// Effects of switches beyond the cases of `SwitchCases.swift`.
@Suite("IMS's switches")
struct SwitchTests {
    @Test("a user who is adopted is enrolled and active, and stays")
    func adoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(
            200,
            #"{"id":"usr-5","enterprise_id":"EMP-7","email":"EMP-7@adopted.invalid","first_name":"","last_name":"","#
                + #""phone":"","locale":"en","state":"active","activated_at":1800000000}"#)
        try await world.set("ims.unknown-user", "refuse")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(200)
    }

    @Test("a request that is refused adopts nobody")
    func refusedAdoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        let token = try Forged(.uat, [("sub", "EMP-7")]).text()
        try await world.call(.post, "/ims/v1/trips", .bearer(token), "{}").expectRefusal(
            400, "body-invalid", field: "trip_id")
        try await world.call(.get, "/ims/v1/users/EMP-7", .operatorKey).expectRefusal(404, "user-not-found")
    }

    @Test("nobody is adopted whose email another has, or whose name is longer than any text")
    func noAdoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        try await world.call(
            .post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"EMP-7@adopted.invalid"}"#
        ).expect(201)
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expectRefusal(403, "user-unknown")
        let longest = String(repeating: "x", count: 255)
        try await world.me(Forged(.uat, [("sub", .string(longest + "x"))])).expectRefusal(403, "user-unknown")
        try await world.me(Forged(.uat, [("sub", .string(longest))])).expect(200)
    }

    @Test("an issuer's own rule beats the switch")
    func ownRule() async throws {
        let world = try await World()
        try await world.set("ims.max-lifetime-seconds", "60")
        try await world.set("ims.expiry-leeway-seconds", "600")
        try await world.replaceUAT(["max_lifetime_seconds": 600, "expiry_leeway_seconds": 0])
        try await world.me(Forged()).expect(200)
        try await world.me(Forged(.uat, [("exp", 1_800_000_000)])).expectRefusal(401, "token-expired")
    }
}
