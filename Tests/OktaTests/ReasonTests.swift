import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens

extension Support.Mistake {
    static let okta = challenges + addresses + credentials + paths

    private static let digest = Digest.sha256(Array(Example.verifier.utf8))
    private static let hexadecimal = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()

    private static func redeeming(
        _ description: String, _ challenge: String, says phrase: String, verifier: String = Example.verifier
    ) -> Support.Mistake {
        Support.Mistake(description, "pkce-failed", says: phrase) { world in
            let code = try await world.code(.authorize.with("code_challenge", challenge))
            return try await world.token(.redeem(code).with("code_verifier", verifier))
        }
    }

    private static func authorizing(
        _ description: String, _ failure: String, _ name: String, _ value: String, says phrases: String...
    ) -> Support.Mistake {
        Support.Mistake(description, failure, says: phrases[0], phrases.last ?? "") {
            try await $0.authorize(.authorize.with(name, value))
        }
    }

    private static func pushing(_ description: String, _ challenge: String, says phrase: String) -> Support.Mistake {
        Support.Mistake(description, "pkce-challenge-illegal", says: phrase) {
            try await $0.submit(.authorize.with("code_challenge", challenge), to: Example.custom + "/par")
        }
    }

    private static let challenges = [
        redeeming(
            "a digest in hexadecimal", hexadecimal,
            says: "It is the digest in hexadecimal; expected base64url of 32 bytes"),
        redeeming(
            "base64url of hexadecimal text", Base64URL.encode(Array(hexadecimal.utf8)),
            says: "It is base64url of the hexadecimal text"),
        redeeming(
            "the digest of a line", Base64URL.encode(Digest.sha256(Array((Example.verifier + "\n").utf8))),
            says: "It is the digest of the text with a line break"),
        redeeming(
            "a verifier that is too short", Base64URL.encode(Digest.sha256(Array("abc".utf8))),
            says: "with 3 characters; expected 43 to 128", verifier: "abc"),
        redeeming(
            "a verifier with a blank", Example.challenge, says: "with the sign “ ”", verifier: Example.verifier + " x"),
        pushing("a padded challenge", Example.challenge + "=", says: "has the sign “=”; expected the SHA-256"),
        pushing("a challenge that is too short", "abc", says: "has 3 characters; expected the SHA-256"),
        Support.Mistake("ath in hexadecimal", "dpop-ath", says: "It is the digest in hexadecimal") { world in
            let key = try await world.mint("okta/dpop-proof")
            let thumbprint = try #require(
                CompactToken(key).header?["jwk"].map { try VerificationKey.jwk($0).thumbprint })
            let access = try await world.mint("okta/access", ["jkt": JSON(thumbprint)])
            let hash = Digest.sha256(Array(access.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            let proof = try await world.mint(
                "okta/dpop-proof", ["access_token": .string(access), "claims": ["ath": .string(hash.joined())]])
            return try await world.call(
                .get, Example.custom + "/userinfo", [("authorization", "DPoP " + access), ("DPoP", proof)])
        },
    ]

    private static let addresses = [
        authorizing(
            "a registered address behind an origin", "redirect-uri-illegal", "redirect_uri",
            "http://localhost:3000/com.example.app:/callback", says: "It is com.example.app:/callback behind an origin"),
        authorizing(
            "another client's address", "redirect-uri-illegal", "redirect_uri", "http://localhost:3000/spa",
            says: "It is one of client \(Example.spa)"),
        authorizing(
            "the address after logout", "redirect-uri-illegal", "redirect_uri", "com.example.app:/logout",
            says: "It is one of its post_logout_redirect_uris"),
        authorizing(
            "several small differences", "redirect-uri-illegal", "redirect_uri", "COM.example.app:/callback/",
            says: "Only capitals and a final slash differ. Register it in redirect_uris"),
        authorizing(
            "a client's id in capitals", "client-unknown", "client_id", Example.native.uppercased(),
            says: "did you mean “\(Example.native)”? Only capitals differ"),
        Support.Mistake("another address at token", "redirect-uri-mismatch", says: "Only a final slash differs") {
            world in
            try await world.token(.redeem(try await world.code()).with("redirect_uri", Example.callback + "/"))
        },
        Support.Mistake("an origin at another port", "origin-not-redirect", says: "Only the port differs") { world in
            try await world.token(.refresh("x", Example.spa), at: Example.custom, [("origin", "http://localhost:5173")])
        },
    ]

    private static let credentials = [
        Support.Mistake("parameters in the query", "media-type", says: "The parameters are in the query") {
            try await $0.call(.post, Example.custom + "/token?\(Parameters.service().text)")
        },
        Support.Mistake("the API token under Bearer", "api-token-invalid", says: "send it as SSWS TOKEN") {
            try await $0.call(.get, "/api/v1/users", .bearer(Example.apiToken))
        },
        Support.Mistake(
            "an access token for a refresh", "refresh-token-invalid", says: "found an access token; expected a refresh"
        ) {
            try await $0.token(.refresh(try await $0.issue("access_token")))
        },
        Support.Mistake(
            "id and secret swapped", "client-unknown", says: "found the secret of client \(Example.service)",
            hides: [Example.serviceSecret]
        ) {
            try await $0.token(.service(), at: Example.custom, .basic(Example.serviceSecret, Example.service))
        },
        Support.Mistake("a secret that is not form-encoded", "client-secret-wrong", says: "encode + as %2B") { world in
            try await world.perform(
                "add-client", ["id": "mine", "secret": "a+b%2Fc-not-a-secret", "grants": ["client_credentials"]]
            ).expect(200)
            return try await world.token(.service(), at: Example.custom, .basic("mine", "a+b%2Fc-not-a-secret"))
        },
    ]

    private static let paths = [
        Support.Mistake("GET at the token endpoint", says: "okta token.create: POST /oauth2/") {
            try await $0.call(.get, Example.custom + "/token")
        },
        Support.Mistake("keys of another base", says: "okta keys.list: GET /oauth2/v1/keys") {
            try await $0.call(.get, "/oauth2/keys")
        },
        Support.Mistake("keys where others have them", "path-not-found", says: "which names jwks_uri") {
            try await $0.call(.get, "/.well-known/jwks.json")
        },
    ]
}

@Suite("Okta's reasons") struct ReasonTests {
    @Test("name the mistake", arguments: Support.Mistake.okta)
    func reason(_ mistake: Support.Mistake) async throws { try await mistake.check(in: try await World()) }

    @Test("a refresh with a blank scope keeps all scopes") func blankScope() async throws {
        let app = AppClient.native(try await World())
        let refreshed = try await app.refresh(try await app.tokens().member("refresh_token"), scope: "  ")
        #expect(refreshed.status == 200 && refreshed.json["scope"] == "openid profile offline_access")
    }
}
