import Foundation
import JSON
import Support
import Testing
import Tokens

/// The spec's examples 3.1 to 3.4, and the switches of proofs.
@Suite("Okta's DPoP-bound tokens")
struct ProofTests {
    private static func error(_ error: String, _ text: String) -> String {
        #"{"error":"\#(error)","error_description":"\#(text)"}"#
    }

    private static let nonceMissing = error("use_dpop_nonce", "Authorization server requires nonce in DPoP proof.")

    // MARK: - 3.1

    @Test("3.1: a code is redeemed with a proof that has the server's nonce, once", arguments: Depth.allCases)
    func redeem(_ depth: Depth) async throws {
        let world = try await World(depth)
        let code = try await world.bankCode()
        try await world.redeem(code).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop-missing")
        let challenge = try await world.redeem(code, Proof())
        challenge.expect(400, Self.nonceMissing, "dpop-nonce")
        let nonce = try #require(challenge["dpop-nonce"])
        #expect(nonce.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil)
        #expect(challenge["www-authenticate"] == nil)
        let proof = Proof(nonce: nonce)
        let tokens = try await world.redeem(code, proof)
        tokens.expect(200)
        #expect(tokens.json["token_type"] == "DPoP")
        #expect(tokens["dpop-nonce"] == nil, "it is still the current one")
        let access = CompactToken(try #require(tokens.json["access_token"]?.string))
        #expect(access.claims?["cnf"] == ["jkt": .string(Proof.dk1.thumbprint ?? "")])
        let again = try await world.bankCode()
        try await world.redeem(again, proof).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT has already been used."), "dpop-replayed")
        try await world.redeem(again, Proof(nonce: nonce)).expect(200)
    }

    @Test("3.1: two proofs are none")
    func two() async throws {
        let world = try await World()
        let (code, nonce) = (try await world.bankCode(), try await world.nonce())
        let lines = [try Proof(nonce: nonce).text, try Proof(nonce: nonce).text]
        try await world.redeem(code, lines: lines).expect(
            400, Self.error("invalid_dpop_proof", "Multiple DPoP proof JWT headers are not allowed."), "dpop-multiple")
    }

    @Test("a client's assertion is used up even when the proof fails, its code is not")
    func assertion() async throws {
        let world = try await World()
        let code = try await world.bankCode()
        let assertion = try Proof.assertion()
        try await world.redeem(code, assertion: assertion).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop-missing")
        let proof = Proof(nonce: try await world.nonce())
        let replayed = try await world.redeem(code, proof, assertion: assertion)
        #expect(replayed.status == 401)
        #expect(replayed.failure == "assertion-replayed")
        // Nor was the proof, since the client comes first.
        try await world.redeem(code, proof).expect(200)
    }

    // MARK: - 3.2

    /// A change to a proof, and the failure that it causes.
    struct Case: Sendable, CustomStringConvertible {
        let failure: String
        let text: String
        let change: @Sendable (inout Proof) -> Void

        var description: String { failure }
    }

    private static let cases = [
        Case(failure: "dpop-typ", text: "'typ' must be 'dpop+jwt' in the DPoP proof JWT.") { $0.header["typ"] = "JWT" },
        Case(failure: "dpop-algorithm", text: "The DPoP proof JWT signature algorithm is invalid.") {
            $0.header["alg"] = "HS256"
        },
        Case(failure: "dpop-key", text: "The DPoP proof JWT is invalid.") {
            var jwk = $0.header["jwk"]?.object ?? [:]
            jwk["d"] = "AA"
            $0.header["jwk"] = .object(jwk)
        },
        Case(failure: "dpop-signature", text: "The DPoP proof JWT signature is invalid.") { $0.key = Proof.dk2 },
        Case(failure: "dpop-htm", text: "'htm' claim in the DPoP proof JWT is invalid.") { $0.claims["htm"] = "GET" },
        Case(failure: "dpop-htu", text: "'htu' claim in the DPoP proof JWT is invalid.") {
            $0.claims["htu"] = .string(Example.base + "/")
        },
        Case(failure: "dpop-iat", text: "'iat' claim in the DPoP proof JWT is invalid.") { $0.claims["iat"] = "now" },
        Case(failure: "dpop-too-old", text: "The DPoP proof JWT is issued more than five minutes in the past.") {
            $0.claims["iat"] = 1_799_999_699
        },
        Case(failure: "dpop-future", text: "The DPoP proof JWT is issued in the future.") {
            $0.claims["iat"] = 1_800_000_061
        },
        Case(failure: "dpop-expired", text: "The DPoP proof JWT is expired.") { $0.claims["exp"] = 1_800_000_000 },
        Case(failure: "dpop-jti", text: "'jti' claim in the DPoP proof JWT is invalid.") { $0.claims["jti"] = nil },
    ]

    @Test("3.2: a proof with one fault is refused for that", arguments: Depth.allCases, cases)
    func fault(_ depth: Depth, _ example: Case) async throws {
        let world = try await World(depth)
        let (code, proof) = (try await world.bankCode(), Proof(nonce: try await world.nonce()))
        try await world.redeem(code, proof.changed(example.change)).expect(
            400, Self.error("invalid_dpop_proof", example.text), example.failure)
        try await world.redeem(code, proof).expect(200)
    }

    @Test("3.2: what is no JWS is refused", arguments: ["", "x", "a.b.c", "e30.e30", "e30.W10.AA"])
    func malformed(_ text: String) async throws {
        let world = try await World()
        try await world.redeem(try await world.bankCode(), lines: [text]).expect(
            400, Self.error("invalid_dpop_proof", "The DPoP proof JWT cannot be parsed."), "dpop-malformed")
    }

    // MARK: - 3.3

    private static func refusal(_ error: String, _ text: String) -> String {
        #"DPoP error="\#(error)", error_description="\#(text)""#
    }

    @Test("3.3: userinfo takes a bound token under DPoP with a proof for it", arguments: Depth.allCases)
    func userinfo(_ depth: Depth) async throws {
        let world = try await World(depth)
        let token = try await world.bankToken()
        func expect(_ answer: ReceivedAnswer, _ failure: String, _ error: String, _ text: String) {
            answer.expect(400, "", failure)
            #expect(answer["www-authenticate"] == Self.refusal(error, text))
        }
        func proof(_ change: (inout Proof) -> Void = { _ in }) -> Proof { .userinfo(token).changed(change) }
        try await world.userinfo("DPoP", token, proof()).expect(200)
        expect(
            try await world.userinfo("Bearer", token, proof()), "dpop-scheme", "invalid_request",
            "The resource request must use the DPoP authentication scheme when using a DPoP bound token.")
        expect(
            try await world.userinfo("DPoP", token, nil), "dpop-proof-required", "invalid_request",
            "The resource request requires a DPoP proof.")
        expect(
            try await world.userinfo("dpop", token, .userinfo(token, by: Proof.dk2)), "dpop-key-mismatch",
            "invalid_dpop_proof", "The access_token is not bound to the provided DPoP proof.")
        expect(
            try await world.userinfo("DPoP", token, proof { $0.claims["ath"] = .string(Proof.hash(of: "x")) }),
            "dpop-ath", "invalid_dpop_proof",
            "'ath' claim in the DPoP proof does not match the presented access_token.")
        expect(
            try await world.userinfo("DPoP", token, proof { $0.claims["htm"] = "POST" }), "dpop-htm",
            "invalid_dpop_proof", "'htm' claim in the DPoP proof JWT is invalid.")
        let used = proof()
        try await world.userinfo("DPoP", token, used).expect(200)
        expect(
            try await world.userinfo("DPoP", token, used), "dpop-replayed", "invalid_dpop_proof",
            "The DPoP proof JWT has already been used.")
    }

    @Test("3.3: an unbound token under DPoP is refused")
    func unbound() async throws {
        let world = try await World()
        let token = try await world.nativeToken()
        let answer = try await world.userinfo("DPoP", token, .userinfo(token))
        answer.expect(401, "", "dpop-not-bound")
        #expect(
            answer["www-authenticate"]
                == Self.refusal("invalid_token", "The presented access_token is not DPoP bound."))
        try await world.userinfo("Bearer", token, nil).expect(200)
    }

    @Test("the token itself is judged before its proof")
    func tokenFirst() async throws {
        let world = try await World()
        let token = try await world.bankToken()
        try await world.advance("3600s")
        let answer = try await world.userinfo("Bearer", token, nil)
        #expect(answer.status == 401)
        #expect(answer.failure == "access-token-expired")
    }

    // MARK: - 3.4

    @Test("3.4: a refresh token stays bound to its key", arguments: Depth.allCases)
    func refresh(_ depth: Depth) async throws {
        let world = try await World(depth)
        let nonce = try await world.nonce()
        let first = try await world.redeem(try await world.bankCode(), Proof(nonce: nonce))
        let token = try #require(first.json["refresh_token"]?.string)
        try await world.refresh(token, Proof(by: Proof.dk2, nonce: nonce)).expect(
            400, Self.error("invalid_dpop_proof", "Invalid DPoP Public Key binding in refresh token"),
            "dpop-refresh-key")
        let second = try await world.refresh(token, Proof(nonce: nonce))
        second.expect(200)
        #expect(second.json["token_type"] == "DPoP")
        let access = try #require(second.json["access_token"]?.string)
        let active = try await world.introspect(access)
        #expect(active.json["active"] == true)
        #expect(active.json["token_type"] == "DPoP")
        #expect(active.json["cnf"] == ["jkt": .string(Proof.dk1.thumbprint ?? "")])
    }

    @Test("3.4: clients that need no proofs get bearer tokens, unless the switch has any proof bind")
    func optional() async throws {
        let world = try await World()
        let unread = try await world.redeemNative([("DPoP", "not even a token")])
        unread.expect(200)
        #expect(unread.json["token_type"] == "Bearer")
        try await world.set("okta.dpop-optional", "bind")
        let bound = try await world.redeemNative([("DPoP", try Proof(nonce: try await world.nonce()).text)])
        bound.expect(200)
        #expect(bound.json["token_type"] == "DPoP")
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
        #expect(renewed.json["token_type"] == "DPoP")
    }

    // MARK: - Nonces

    @Test("a nonce is renewed after a day and good for three")
    func nonces() async throws {
        let world = try await World()
        let first = try await world.nonce()
        #expect(try await world.nonce() == first)
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

    @Test("without nonces, a jti is remembered for ten minutes")
    func replay() async throws {
        let world = try await World()
        try await world.set("okta.dpop-nonce", "off")
        try await world.set("okta.dpop-iat", "off")
        let proof = Proof(id: "a")
        try await world.redeem(try await world.bankCode(), proof).expect(200)
        try await world.redeem(try await world.bankCode(), Proof(by: Proof.dk2, id: "a")).expect(200)
        try await world.advance("600s")
        #expect(try await world.redeem(try await world.bankCode(), proof).failure == "dpop-replayed")
        try await world.advance("1s")
        try await world.redeem(try await world.bankCode(), proof).expect(200)
    }

    @Test("userinfo needs a nonce only with the switch")
    func resourceNonce() async throws {
        let world = try await World()
        let token = try await world.bankToken()
        try await world.set("okta.dpop-resource-nonce", "require")
        let refused = try await world.userinfo("DPoP", token, .userinfo(token))
        refused.expect(401, "", "dpop-nonce")
        #expect(
            refused["www-authenticate"]
                == Self.refusal("use_dpop_nonce", "Resource server requires nonce in DPoP proof"))
        let nonce = try #require(refused["dpop-nonce"])
        try await world.userinfo("DPoP", token, .userinfo(token, nonce: nonce)).expect(200)
    }
}

extension Proof {
    static func userinfo(_ token: String, by key: SigningKey = dk1, nonce: String? = nil) -> Proof {
        Proof("GET", Example.custom + "/userinfo", by: key, nonce: nonce, token: token)
    }
}
