import Foundation
import JSON
import Support
import Testing
import Tokens

/// The flows of the clients whose tokens are bound to keys.
extension World {
    /// A code of the client `bank`, which need not push its request here.
    func bankCode() async throws -> String {
        try await set("okta.par-required", "never")
        return try await code(
            "client_id=\(Example.bank)&redirect_uri=http://localhost:3000/bank&scope=openid%20profile%20offline_access")
    }

    private func code(_ query: String) async throws -> String {
        let answer = try await call(
            .get, "\(Example.custom)/authorize?response_type=code&state=s1&nonce=n1&\(query)")
        let location = try #require(answer["location"], "\(answer.text)")
        return try #require(URLComponents(string: location)?.queryItems?.first { $0.name == "code" }?.value)
    }

    private func post(
        _ path: String, _ items: AppClient.Items, _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await call(.post, Example.custom + path, [AppClient.form] + fields, AppClient.form(items))
    }

    private func bankItems(_ assertion: String?, for path: String = "/token") throws -> AppClient.Items {
        let now = Int(sandbox.now.unixSeconds)
        return [
            ("client_id", Example.bank),
            ("client_assertion_type", Assertion.type),
            ("client_assertion", try assertion ?? Proof.assertion(for: path, at: now)),
        ]
    }

    func redeem(_ code: String, _ proof: Proof? = nil, assertion: String? = nil) async throws -> ReceivedAnswer {
        try await redeem(code, lines: try proof.map { [try $0.text] } ?? [], assertion: assertion)
    }

    func redeem(_ code: String, lines: [String], assertion: String? = nil) async throws -> ReceivedAnswer {
        let items: AppClient.Items = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", "http://localhost:3000/bank"),
        ]
        return try await post("/token", try bankItems(assertion) + items, lines.map { ("DPoP", $0) })
    }

    func refresh(_ token: String, _ proof: Proof) async throws -> ReceivedAnswer {
        let items: AppClient.Items = [("grant_type", "refresh_token"), ("refresh_token", token)]
        return try await post("/token", try bankItems(nil) + items, [("DPoP", try proof.text)])
    }

    func introspect(_ token: String) async throws -> ReceivedAnswer {
        try await post("/introspect", try bankItems(nil, for: "/introspect") + [("token", token)])
    }

    /// The current nonce, as a refused proof learns it.
    func nonce() async throws -> String {
        let now = Int(sandbox.now.unixSeconds)
        let answer = try await redeem("none", Proof(nonce: "none", at: now))
        return try #require(answer["dpop-nonce"], "\(answer.text)")
    }

    /// An access token of `bank`, bound to DK1.
    func bankToken() async throws -> String {
        let answer = try await redeem(try await bankCode(), Proof(nonce: try await nonce()))
        return try #require(answer.json["access_token"]?.string, "\(answer.text)")
    }

    func userinfo(_ scheme: String, _ token: String, _ proof: Proof?) async throws -> ReceivedAnswer {
        let fields = [("authorization", "\(scheme) \(token)")] + (try proof.map { [("DPoP", try $0.text)] } ?? [])
        return try await call(.get, Example.custom + "/userinfo", fields)
    }

    // MARK: - A public client

    func redeemNative(_ fields: Fields = []) async throws -> ReceivedAnswer {
        let code = try await code(
            "client_id=\(Example.native)&redirect_uri=com.example.app:/callback&scope=openid%20profile%20offline_access"
                + "&code_challenge=\(Example.challenge)&code_challenge_method=S256")
        let items: AppClient.Items = [
            ("client_id", Example.native), ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", "com.example.app:/callback"), ("code_verifier", Example.verifier),
        ]
        return try await post("/token", items, fields)
    }

    func refreshNative(_ token: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        let items: AppClient.Items = [
            ("client_id", Example.native), ("grant_type", "refresh_token"), ("refresh_token", token),
        ]
        return try await post("/token", items, fields)
    }

    func nativeToken() async throws -> String {
        let answer = try await redeemNative()
        return try #require(answer.json["access_token"]?.string, "\(answer.text)")
    }
}

extension Proof {
    /// An assertion by which `bank` authenticates itself, once.
    static func assertion(for path: String = "/token", at moment: Int = World.exampleMoment) throws -> String {
        try Assertion(id: UUID().uuidString, for: Example.custom + path).changed {
            ($0.claims["iss"], $0.claims["sub"]) = (.string(Example.bank), .string(Example.bank))
            ($0.claims["exp"], $0.claims["iat"]) = (JSON(moment + 300), JSON(moment))
        }.text
    }
}
