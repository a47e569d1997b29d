import Foundation
import JSON
import Support
import Testing
import Tokens

/// A client's requests to the endpoints about tokens.
struct AppClient: Sendable {
    /// Parameters in the order sent.
    typealias Items = [(name: String, value: String)]

    static let form = ("content-type", "application/x-www-form-urlencoded")

    let world: World
    /// The parameters and fields by which it authenticates itself.
    var credentials: Items
    var fields: World.Fields = []

    /// The public client `native`.
    static func native(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [("client_id", Example.native)])
    }

    /// The browser app, whose refresh tokens rotate.
    static func spa(_ world: World) -> AppClient { AppClient(world: world, credentials: [("client_id", Example.spa)]) }

    static func web(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [], fields: basic(Example.web, "web-secret-not-real-0123456789abcdef"))
    }

    static func service(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [], fields: basic(Example.service, serviceSecret))
    }

    static let serviceSecret = "svc-secret-not-real-0123456789abcdef"

    static func basic(_ id: String, _ secret: String) -> World.Fields { basic("\(id):\(secret)") }

    static func basic(_ text: String) -> World.Fields {
        [("authorization", "Basic " + Data(text.utf8).base64EncodedString())]
    }

    /// A form with these parameters, as clients encode them.
    static func form(_ items: Items) -> String {
        items.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }.joined(separator: "&")
    }

    func post(_ path: String, _ items: Items, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await world.call(.post, "\(endpoints)/\(path)", [Self.form] + fields, Self.form(credentials + items))
    }

    // MARK: - The authorization code flow

    /// A code of `native` for Ada.
    func code(_ scope: String = "openid profile offline_access", at endpoints: String = Example.custom) async throws
        -> String
    {
        try await code(
            asking: "client_id=\(Example.native)&redirect_uri=com.example.app:/callback&nonce=n1&scope="
                + scope.replacing(" ", with: "%20"), at: endpoints, challenge: Example.challenge)
    }

    /// A code for an authorization request, which needs the PKCE challenge of the examples unless told otherwise.
    func code(
        asking query: String, at endpoints: String = Example.custom, challenge: String? = Example.challenge
    ) async throws -> String {
        let pkce = challenge.map { "&code_challenge=\($0)&code_challenge_method=S256" } ?? ""
        let answer = try await world.call(.get, "\(endpoints)/authorize?response_type=code&state=s1&\(query)\(pkce)")
        let location = try #require(answer["location"], "\(answer.text) \(answer.why)")
        return try #require(
            URLComponents(string: location)?.queryItems?.first { $0.name == "code" }?.value, "\(location)")
    }

    func redeem(
        _ code: String, verifier: String? = Example.verifier, redirectURI: String = "com.example.app:/callback",
        at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        var items: Items = [("grant_type", "authorization_code"), ("redirect_uri", redirectURI), ("code", code)]
        if let verifier { items.append(("code_verifier", verifier)) }
        return try await post("token", items, at: endpoints)
    }

    /// The answer with Ada's first tokens.
    func tokens(_ scope: String = "openid profile offline_access", at endpoints: String = Example.custom) async throws
        -> ReceivedAnswer
    {
        let answer = try await redeem(try await code(scope, at: endpoints), at: endpoints)
        #expect(answer.status == 200, "\(answer.text) \(answer.why)")
        return answer
    }

    /// The same for the browser app.
    func browserTokens() async throws -> ReceivedAnswer {
        let uri = "http://localhost:3000/spa"
        let code = try await code(
            asking: "client_id=\(Example.spa)&redirect_uri=\(uri)&scope=openid%20profile%20offline_access")
        let answer = try await redeem(code, redirectURI: uri)
        #expect(answer.status == 200, "\(answer.text) \(answer.why)")
        return answer
    }

    // MARK: - Tokens

    func refresh(
        _ token: String, scope: String? = nil, at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await post(
            "token",
            [("grant_type", "refresh_token"), ("refresh_token", token)] + (scope.map { [("scope", $0)] } ?? []),
            at: endpoints)
    }

    func introspect(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await post("introspect", [("token", token)], at: endpoints)
    }

    /// Whether a token is active.
    func isActive(_ token: String, at endpoints: String = Example.custom) async throws -> Bool {
        let answer = try await introspect(token, at: endpoints)
        #expect(answer.status == 200, "\(answer.text) \(answer.why)")
        return answer.json["active"]?.bool ?? false
    }

    func revoke(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await post("revoke", [("token", token)], at: endpoints)
    }

    /// Userinfo, for which nothing but the token counts.
    func userinfo(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await world.call(.get, endpoints + "/userinfo", [("authorization", "Bearer \(token)")])
    }

    /// Changes Ada's status by the management API.
    func lifecycle(_ step: String, of user: String = Example.ada) async throws {
        let answer = try await world.call(
            .post, "/api/v1/users/\(user)/lifecycle/\(step)",
            [("authorization", "SSWS 00understudy-api-token-not-a-secret")])
        #expect(answer.status == 200, "\(answer.text) \(answer.why)")
    }
}

extension ReceivedAnswer {
    /// The journal's one line about a refusal.
    var why: String { entry?.explanation ?? "" }

    /// A text of the content; empty when it is not there.
    func member(_ name: String) -> String { json[name]?.string ?? "" }

    /// A token of the content, read without any check.
    func read(_ name: String) -> CompactToken { CompactToken(member(name)) }
}

/// An assertion by which a client authenticates itself.
struct Assertion {
    var header: JSONObject
    var claims: JSONObject
    var key = Proof.ck1
    var algorithm = Algorithm.rs256

    /// An assertion of `service` by CK1 that is good for five minutes.
    init(id: String? = "a1", for path: String = Example.custom + "/token") {
        header = ["alg": "RS256", "kid": JSON(Proof.ck1.thumbprint)]
        claims = [
            "iss": .string(Example.service), "sub": .string(Example.service), "aud": .string(Example.base + path),
            "exp": JSON(World.exampleMoment + 300), "iat": JSON(World.exampleMoment),
        ]
        if let id { claims["jti"] = .string(id) }
    }

    func changed(_ change: (inout Assertion) throws -> Void) rethrows -> Assertion {
        var assertion = self
        try change(&assertion)
        return assertion
    }

    /// The same by the client's secret.
    func signed(bySecret secret: String = AppClient.serviceSecret, _ algorithm: Algorithm = .hs256) throws -> Assertion
    {
        try changed {
            ($0.key, $0.algorithm) = (try SigningKey.secret(secret), algorithm)
            $0.header = ["alg": .string(algorithm.rawValue)]
        }
    }

    var text: String {
        get throws { try TokenDraft(header: header, claims: claims).mint(key: key, algorithm: algorithm) }
    }

    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// The parameters that present it.
    var items: AppClient.Items {
        get throws { [("client_assertion_type", Self.type), ("client_assertion", try text)] }
    }
}
