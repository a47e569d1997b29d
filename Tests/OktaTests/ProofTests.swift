import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Okta

/// The spec's examples 3.1 to 3.4, and the switches of proofs.
@Suite("Okta's DPoP-bound tokens") struct ProofTests {
    private static func error(_ error: String, _ text: String) -> String {
        #"{"error":"\#(error)","error_description":"\#(text)"}"#
    }

    private static let nonceMissing = error("use_dpop_nonce", "Authorization server requires nonce in DPoP proof.")

    // MARK: - 3.1

    @Test("3.1: two proofs are none") func two() async throws {
        let world = try await World()
        let (code, nonce) = (try await world.bankCode(), try await world.nonce())
        let lines = [try Proof(nonce: nonce).text, try Proof(nonce: nonce).text]
        try await world.redeem(code, lines: lines).expect(
            400, Self.error("invalid_dpop_proof", "Multiple DPoP proof JWT headers are not allowed."), "dpop-multiple")
    }

    @Test("a client's assertion is used up even when the proof fails, its code is not") func assertion() async throws {
        let world = try await World()
        let code = try await world.bankCode()
        let assertion = try Proof.assertion()
        try await world.redeem(code, assertion: assertion).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop-missing")
        let proof = Proof(nonce: try await world.nonce())
        let replayed = try await world.redeem(code, proof, assertion: assertion)
        expect(replayed.status, is: 401)
        expect(replayed.failure, is: "assertion-replayed")
        // Nor was the proof, since the client comes first.
        try await world.redeem(code, proof).expect(200)
    }

    // MARK: - 3.2

    @Test("3.2: what is no JWS is refused", arguments: ["", "x", "a.b.c", "e30.e30", "e30.W10.AA"])
    func malformed(_ text: String) async throws {
        let world = try await World()
        try await world.redeem(try await world.bankCode(), lines: [text]).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT cannot be parsed."), "dpop-malformed")
    }

    // MARK: - 3.3

    @Test("the token itself is judged before its proof") func tokenFirst() async throws {
        let world = try await World()
        let token = try await world.bankToken()
        try await world.advance("3600s")
        let answer = try await world.userinfo("Bearer", token, nil)
        expect(answer.status, is: 401)
        expect(answer.failure, is: "access-token-expired")
    }

    // MARK: - 3.4

    @Test("3.4: clients that need no proofs get bearer tokens, unless the switch has any proof bind")
    func optional() async throws {
        let world = try await World()
        let unread = try await world.redeemNative([("DPoP", "not even a token")])
        unread.expect(200)
        expect(unread.json["token_type"], is: "Bearer")
        try await world.set("okta.dpop-optional", "bind")
        let bound = try await world.redeemNative([("DPoP", try Proof(nonce: try await world.nonce()).text)])
        bound.expect(200)
        expect(bound.json["token_type"], is: "DPoP")
        try await world.redeemNative([("DPoP", "not even a token")]).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT cannot be parsed."), "dpop-malformed")
        let refreshToken = try #require(bound.json["refresh_token"]?.string)
        for value in ["bind", "ignore"] {
            try await world.set("okta.dpop-optional", value)
            try await world.refreshNative(refreshToken).expect(
                400, Self.error("invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop-missing")
        }
        let renewed = try await world.refreshNative(
            refreshToken, [("DPoP", try Proof(nonce: try await world.nonce()).text)])
        expect(renewed.json["token_type"], is: "DPoP")
    }

    // MARK: - Nonces

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
        refused.expect(400, Self.nonceMissing, "dpop-nonce")
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

extension Proof {
    static func userinfo(_ token: String, by key: SigningKey = dk1, nonce: String? = nil) -> Proof {
        Proof("GET", Example.custom + "/userinfo", by: key, nonce: nonce, token: token)
    }
}

@Suite("Okta's memory of proofs, requests and origins") struct ProofStateTests {
    private let vendor: Okta
    private let moment = Moment(unixSeconds: Double(World.exampleMoment))

    init() throws { vendor = try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta")) }

    @Test("keeps few nonces, even of a clock that jumps") func bounds() {
        var state = vendor.initialState
        let identifiers = IdentifierSource(seed: 1)
        for day in 0..<100 { _ = state.proofNonces(at: moment + .seconds(Double(day) * 86_400), identifiers) }
        expect(state.proofNonces.count, is: 8)
        let good = state.proofNonces(at: moment + .seconds(99 * 86_400), identifiers)
        expect(good.count, is: 3)
        let back = state.proofNonces(at: moment, identifiers)
        #expect(back.count == 8 && back.last == state.proofNonces.all.last?.id, "those of the future still count")
    }
}
