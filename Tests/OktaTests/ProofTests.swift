import Expectations
import JSON
import Support
import Testing

/// The spec's examples 3.2 to 3.4, and the switches of proofs. The content of refusals is that of the contract cases.
@Suite("Okta's DPoP-bound tokens") struct ProofTests {
    @Test("a client's assertion is used up even when the proof fails, its code is not") func assertion() async throws {
        let world = try await World()
        let code = try await world.bankCode()
        let assertion = try Proof.assertion()
        expect(try await world.redeem(code, assertion: assertion).failure, is: "dpop-missing")
        let proof = Proof(nonce: try await world.nonce())
        expect(try await world.redeem(code, proof, assertion: assertion).failure, is: "assertion-replayed")
        // Nor was the proof, since the client comes first.
        try await world.redeem(code, proof).expect(200)
    }

    @Test("3.2: what is no JWS is refused") func malformed() async throws {
        let world = try await World()
        let code = try await world.bankCode()
        for text in ["", "x", "a.b.c", "e30.e30", "e30.W10.AA"] {
            expect(try await world.redeem(code, line: text).failure, is: "dpop-malformed", text)
        }
    }

    @Test("3.3: the token itself is judged before its proof") func tokenFirst() async throws {
        let world = try await World()
        let token = try await world.bankToken()
        try await world.advance("3600s")
        let answer = try await world.userinfo("Bearer", token, nil)
        expect(answer.status, is: 401)
        expect(answer.failure, is: "access-token-expired")
    }

    @Test("3.4: clients that need no proofs get bearer tokens, unless the switch has any proof bind")
    func optional() async throws {
        let world = try await World()
        let unread = try await world.redeemNative([("DPoP", "not even a token")])
        expect(unread.json["token_type"], is: "Bearer")
        try await world.set("okta.dpop-optional", "bind")
        let bound = try await world.redeemNative([("DPoP", try Proof(nonce: try await world.nonce()).text)])
        expect(bound.json["token_type"], is: "DPoP")
        let unreadable = try await world.redeemNative([("DPoP", "not even a token")])
        expect(unreadable.failure, is: "dpop-malformed")
        let refresh = Parameters.refresh(try bound.text("refresh_token"))
        for value in ["bind", "ignore"] {
            try await world.set("okta.dpop-optional", value)
            expect(try await world.token(refresh).failure, is: "dpop-missing")
        }
        let proof = ("DPoP", try Proof(nonce: try await world.nonce()).text)
        let renewed = try await world.token(refresh, at: Example.custom, [proof])
        expect(renewed.json["token_type"], is: "DPoP")
    }

    @Test("a nonce is renewed after a day and good for three") func nonces() async throws {
        let world = try await World()
        let first = try await world.nonce()
        expect(try await world.nonce(), is: first)
        let start = World.exampleMoment
        try await world.freeze(at: start + 24 * 3600)
        let answer = try await world.redeem(try await world.bankCode(), Proof(nonce: first, at: start + 24 * 3600))
        answer.expect(200)
        let second = try #require(answer["dpop-nonce"])
        #expect(second != first)
        try await world.freeze(at: start + 72 * 3600 - 1)
        try await world.redeem(try await world.bankCode(), Proof(nonce: first, at: start + 72 * 3600)).expect(200)
        try await world.freeze(at: start + 72 * 3600)
        let code = try await world.bankCode()
        let refused = try await world.redeem(code, Proof(nonce: first, at: start + 72 * 3600))
        expect(refused.failure, is: "dpop-nonce")
        let third = try #require(refused["dpop-nonce"])
        #expect(![first, second].contains(third))
        try await world.redeem(code, Proof(nonce: second, at: start + 72 * 3600)).expect(200)
    }

    @Test("without nonces, a jti is remembered for ten minutes") func replay() async throws {
        let world = try await World()
        try await world.set("okta.dpop-nonce", "off")
        try await world.set("okta.dpop-iat", "off")
        let proof = Proof(id: "a")
        try await world.redeem(try await world.bankCode(), proof).expect(200)
        try await world.redeem(try await world.bankCode(), Proof(by: Proof.dk2, id: "a")).expect(200)
        try await world.advance("600s")
        expect(try await world.redeem(try await world.bankCode(), proof).failure, is: "dpop-replayed")
        try await world.advance("1s")
        try await world.redeem(try await world.bankCode(), proof).expect(200)
    }
}
