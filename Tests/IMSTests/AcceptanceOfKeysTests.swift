import Support
import Testing

/// The spec's acceptance examples for published keys, with the spec's numbers.
@Suite("IMS's acceptance examples: keys")
struct AcceptanceOfKeysTests {
    /// A token signed with the key that is used after a rotation.
    private func rotated(at moment: Int = World.exampleMoment) -> Forged {
        Forged(.rotating, at: moment).header("kid", "k2b").signed(by: 5)
    }

    /// Example 18, on which others build.
    private func used(_ depth: Depth) async throws -> World {
        let world = try await World(depth)
        for _ in 1...2 { try await world.me(Forged(.rotating)).expect(200, Example.ada) }
        #expect(try await world.fetches() == 1)
        return world
    }

    @Test("18: keys are fetched once", arguments: Depth.allCases)
    func once(_ depth: Depth) async throws {
        let world = try await used(depth)
        #expect(
            world.sandbox.journal.entries().map(\.record.route) == ["dev-issuer.jwks", "me.get", "me.get"])
    }

    @Test("19: an unknown kid has the keys fetched anew once the cool-down is over", arguments: Depth.allCases)
    func coolDown(_ depth: Depth) async throws {
        let world = try await used(depth)
        try await world.drill("rotating", "overlap")
        try await world.me(rotated()).expectRefusal(401, "kid-unknown")
        #expect(try await world.fetches() == 1)
        try await world.advance("30s")
        try await world.me(rotated()).expect(200)
        #expect(try await world.fetches() == 2)
        try await world.me(Forged(.rotating)).expect(200)
    }

    @Test(
        "20: a key that is published no more is unknown when the lifetime has ended", arguments: Depth.allCases,
        ["retire", "overlap"])
    func retired(_ depth: Depth, _ drill: String) async throws {
        let world = try await used(depth)
        try await world.drill("rotating", "overlap")
        try await world.advance("30s")
        try await world.me(rotated()).expect(200)
        try await world.drill("rotating", drill)
        try await world.advance("600s")
        try await world.me(Forged(.rotating, [("exp", 1_800_003_600)])).expectRefusal(401, "kid-unknown")
    }

    @Test(
        "21: of several keys a token has to name one, and an unknown one is asked for once", arguments: Depth.allCases)
    func several(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.drill("rotating", "overlap")
        try await world.me(Forged(.rotating).header("kid", nil)).expectRefusal(401, "kid-required")
        try await world.advance("60s")
        let before = try #require(try await world.fetches())
        let pause =
            "No key was fetched for this call: the last attempt was at 2027-01-15T08:01:00.000Z, and the next one may be at 2027-01-15T08:01:30.000Z, after 30 s (switch jwks-cooldown-seconds)."
        // The first call fetches the keys; the second falls within the cool-down.
        for isPaused in [false, true] {
            let answer = try await world.me(Forged(.rotating).header("kid", "nope"))
            answer.expectRefusal(401, "kid-unknown")
            let reason = answer.entry?.explanation ?? ""
            #expect(reason.contains(pause) == isPaused, "\(reason)")
        }
        #expect(try await world.fetches() == before + 1)
    }

    @Test("22: without keys nothing can be judged, and nobody hammers the URL", arguments: Depth.allCases)
    func broken(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.drill("rotating", "break")
        for _ in 1...2 {
            let answer = try await world.me(Forged(.rotating))
            answer.expectRefusal(503, "keys-unavailable")
            #expect(answer["retry-after"] == "30")
            #expect(try await world.fetches() == 1)
        }
        try await world.drill("rotating", "repair")
        try await world.advance("30s")
        try await world.me(Forged(.rotating)).expect(200)
    }

    @Test("23: old keys serve for a day while new ones cannot be had", arguments: Depth.allCases)
    func stale(_ depth: Depth) async throws {
        let world = try await used(depth)
        try await world.drill("rotating", "break")
        try await world.advance("700s")
        try await world.me(Forged(.rotating, at: 1_800_000_700)).expect(200)
        try await world.advance("86400s")
        try await world.me(Forged(.rotating, at: 1_800_087_100)).expectRefusal(503, "keys-unavailable")
    }
}
