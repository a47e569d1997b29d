import Foundation
import JSON
import Support
import Testing
import Tokens

struct AppClient: Sendable {
    let world: World
    /// The parameters and fields by which it authenticates itself.
    var credentials: Parameters
    var fields: World.Fields = []

    static func native(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [("client_id", Example.native)])
    }

    /// The browser app, whose refresh tokens rotate.
    static func spa(_ world: World) -> AppClient { AppClient(world: world, credentials: [("client_id", Example.spa)]) }

    static func web(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [], fields: .basic(Example.web, "web-secret-not-real-0123456789abcdef"))
    }

    static func service(_ world: World) -> AppClient {
        AppClient(world: world, credentials: [], fields: .basic(Example.service, Example.serviceSecret))
    }

    func post(
        _ path: String, _ items: Parameters, at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await world.submit(credentials + items, to: "\(endpoints)/\(path)", fields)
    }

    // MARK: - The authorization code flow

    func redeem(
        _ code: String, redirectURI: String = Example.callback, at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        let form = Parameters.redeem(code).with([("client_id", nil), ("redirect_uri", redirectURI)])
        return try await post("token", form, at: endpoints)
    }

    func tokens(
        _ scope: String = "openid profile offline_access", at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        let code = try await world.code(.authorize.with("scope", scope), at: endpoints)
        let answer = try await redeem(code, at: endpoints)
        answer.expect(200)
        return answer
    }

    func browserTokens() async throws -> ReceivedAnswer {
        let (uri, scopes) = ("http://localhost:3000/spa", "openid profile offline_access")
        let code = try await world.code(.authorizing(Example.spa, uri, scope: scopes))
        let answer = try await redeem(code, redirectURI: uri)
        answer.expect(200)
        return answer
    }

    // MARK: - Tokens

    func refresh(
        _ token: String, scope: String? = nil, at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await post("token", .refresh(token).with([("client_id", nil), ("scope", scope)]), at: endpoints)
    }

    func introspect(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await post("introspect", [("token", token)], at: endpoints)
    }

    func isActive(_ token: String, at endpoints: String = Example.custom) async throws -> Bool {
        let answer = try await introspect(token, at: endpoints)
        answer.expect(200)
        return answer.json["active"]?.bool ?? false
    }

    func revoke(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await post("revoke", [("token", token)], at: endpoints)
    }

    /// Userinfo, for which nothing but the token counts.
    func userinfo(_ token: String, at endpoints: String = Example.custom) async throws -> ReceivedAnswer {
        try await world.call(.get, endpoints + "/userinfo", .bearer(token))
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

/// A token that a client signs; tests change what they break.
protocol ClientToken {
    var header: JSONObject { get }
    var claims: JSONObject { get }
    var key: SigningKey { get }
    var algorithm: Algorithm { get }
}

extension ClientToken {
    func changed(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var token = self
        try change(&token)
        return token
    }

    var text: String {
        get throws { try TokenDraft(header: header, claims: claims).mint(key: key, algorithm: algorithm) }
    }
}

/// An assertion by which a client authenticates itself.
struct Assertion: ClientToken {
    var header: JSONObject
    var claims: JSONObject
    var key = Proof.ck1
    var algorithm = Algorithm.rs256

    /// An assertion of `service` by CK1 that is good for five minutes.
    init(id: String? = "a1") {
        header = ["alg": "RS256", "kid": JSON(Proof.ck1.thumbprint)]
        claims = [
            "iss": .string(Example.service), "sub": .string(Example.service),
            "aud": .string(Example.base + Example.custom + "/token"), "exp": JSON(World.exampleMoment + 300),
            "iat": JSON(World.exampleMoment),
        ]
        if let id { claims["jti"] = .string(id) }
    }

    /// The same by the client's secret.
    func signed(bySecret secret: String = Example.serviceSecret, _ algorithm: Algorithm = .hs256) throws -> Assertion {
        try changed {
            ($0.key, $0.algorithm) = (try SigningKey.secret(secret), algorithm)
            $0.header = ["alg": .string(algorithm.rawValue)]
        }
    }

    /// The parameters that present it.
    var items: Parameters { get throws { .assertion(try text) } }
}

/// A DPoP proof as clients make them.
struct Proof: ClientToken, Sendable {
    static let dk1 = key("dk1")
    static let dk2 = key("dk2")
    /// The key with which the fixtures' clients sign assertions, an RSA key.
    static let ck1 = key("ck1")

    var key: SigningKey
    var algorithm = Algorithm.es256
    var header: JSONObject
    var claims: JSONObject

    /// A proof of now for a request.
    ///
    /// - Parameter path: below the base of the examples.
    init(
        _ method: String = "POST", _ path: String = Example.custom + "/token", by key: SigningKey = dk1,
        nonce: String? = nil, token: String? = nil, id: String = UUID().uuidString,
        at moment: Int = World.exampleMoment
    ) {
        self.key = key
        let jwk = key.publicJWK()?.object.map { JSONObject($0.filter { $0.name != "use" }.map { ($0.name, $0.value) }) }
        header = ["typ": "dpop+jwt", "alg": "ES256", "jwk": .object(jwk ?? [:])]
        claims = ["jti": .string(id), "htm": .string(method), "htu": .string(Example.base + path), "iat": JSON(moment)]
        if let nonce { claims["nonce"] = .string(nonce) }
        if let token { claims["ath"] = .string(Base64URL.encode(Digest.sha256(Array(token.utf8)))) }
    }

    func signed(by key: SigningKey, _ algorithm: Algorithm) -> Proof {
        var proof = self
        (proof.key, proof.algorithm) = (key, algorithm)
        proof.header["alg"] = .string(algorithm.rawValue)
        proof.header["jwk"] = key.publicJWK()
        return proof
    }

    static func key(_ name: String) -> SigningKey {
        let path = Repository.root + "/Fixtures/okta/keys/\(name).pem"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), let key = try? SigningKey.pem(text) else {
            preconditionFailure("no key at \(path)")
        }
        return key
    }
}

/// The token with which a device answers a challenge.
struct DeviceAnswer: ClientToken {
    var key: SigningKey
    var algorithm = Algorithm.rs256
    var header: JSONObject = ["alg": "RS256"]
    /// The eight claims of the validator page.
    var claims: JSONObject

    init(_ transaction: String = "tx-1", by key: SigningKey = Proof.key("pk1")) {
        let now = World.exampleMoment
        self.key = key
        claims = [
            "tx": .string(transaction), "iss": .string(Example.push), "sub": .string(Example.ada), "aud": "localhost",
            "iat": JSON(now), "nbf": JSON(now - 60), "exp": JSON(now + 60), "jti": "j1",
        ]
    }
}

extension World {
    static let factor = "/api/v1/users/\(Example.ada)/factors/\(Example.push)"

    func challenge() async throws -> String {
        let answer = try await manage(.post, Self.factor + "/verify")
        return answer.json["_links"]?["poll"]?["href"]?.string?.split(separator: "/").last.map(String.init) ?? ""
    }

    func answer(
        _ transaction: String, _ answer: DeviceAnswer?, _ body: String = "", at factor: String = factor
    ) async throws -> ReceivedAnswer {
        let fields = try answer.map { [("authorization", "SSWS " + (try $0.text))] } ?? []
        return try await call(
            .post, "\(factor)/transactions/\(transaction)/verify",
            fields + (body.isEmpty ? [] : [("content-type", "application/json")]), body)
    }
}
