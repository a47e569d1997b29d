import Emulation
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy

/// Parameters of a request, in order.
typealias Parameters = [(String, String)]

extension Parameters {
    /// A user's authorization of the native app.
    static let authorize: Parameters = [
        ("client_id", Example.native), ("redirect_uri", Example.callback), ("response_type", "code"),
        ("scope", "openid profile offline_access"), ("state", "s1"), ("nonce", "n1"),
        ("code_challenge", Example.challenge), ("code_challenge_method", "S256"),
    ]

    /// One of another app.
    static func authorizing(_ client: String, _ redirectURI: String, scope: String = "openid") -> Parameters {
        authorize.with("client_id", client).with("redirect_uri", redirectURI).with("scope", scope)
    }

    /// The native app's exchange of a code.
    static func redeem(_ code: String) -> Parameters {
        [
            ("grant_type", "authorization_code"), ("client_id", Example.native), ("redirect_uri", Example.callback),
            ("code", code), ("code_verifier", Example.verifier),
        ]
    }

    /// A refresh, by the native app unless another client is named.
    static func refresh(_ token: String, _ client: String = Example.native) -> Parameters {
        [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)]
    }

    /// Ada's login and password, for clients that authenticate themselves elsewhere.
    static let password: Parameters = [
        ("grant_type", "password"), ("username", "ada@example.test"), ("password", "not-a-secret-1"),
        ("scope", "openid"),
    ]

    /// A service's request of a token for itself.
    static func service(_ scope: String = "trips.read") -> Parameters {
        [("grant_type", "client_credentials"), ("scope", scope)]
    }

    /// The members with which a client authenticates itself by an assertion.
    static func assertion(_ token: String) -> Parameters {
        [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", token),
        ]
    }

    /// The same with another value of a parameter, or without it.
    func with(_ name: String, _ value: String?) -> Parameters {
        guard let index = firstIndex(where: { $0.0 == name }) else { return self + (value.map { [(name, $0)] } ?? []) }
        var changed = self
        if let value { changed[index].1 = value } else { changed.remove(at: index) }
        return changed
    }

    /// As a query or form, in ASCII.
    var text: String {
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        return map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }.joined(separator: "&")
    }
}

extension World.Fields {
    static let form: Self = [("content-type", "application/x-www-form-urlencoded")]
    static let json: Self = [("accept", "application/json")]
    /// The API token of the organization.
    static let apiToken: Self = [("authorization", "SSWS " + Example.apiToken)]

    /// A client's id and secret.
    static func basic(_ client: String, _ secret: String) -> Self {
        [("authorization", "Basic " + Data("\(client):\(secret)".utf8).base64EncodedString())]
    }

    static func bearer(_ token: String) -> Self { [("authorization", "Bearer " + token)] }
}

/// The steps of flows.
extension World {
    func authorize(
        _ parameters: Parameters = .authorize, at server: String = Example.custom, _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await call(.get, "\(server)/authorize?\(parameters.text)", fields)
    }

    /// The code with which authorize answers.
    func code(_ parameters: Parameters = .authorize, at server: String = Example.custom) async throws -> String {
        let answer = try await authorize(parameters, at: server)
        return try #require(answer.inLocation("code"), "\(answer.text) \(answer.entry?.explanation ?? "")")
    }

    /// Sends a form.
    func submit(_ form: Parameters, to path: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        try await call(.post, path, World.Fields.form + fields, form.text)
    }

    /// Sends a form to a token endpoint.
    func token(
        _ form: Parameters, at server: String = Example.custom, _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await submit(form, to: server + "/token", fields)
    }

    /// The tokens that the native app gets for a code.
    func tokens(_ parameters: Parameters = .authorize, at server: String = Example.custom) async throws -> JSON {
        let answer = try await token(.redeem(code(parameters, at: server)), at: server)
        answer.expect(200)
        return answer.json
    }

    /// One of those tokens.
    func issue(_ name: String, _ parameters: Parameters = .authorize, at server: String = Example.custom) async throws
        -> String
    {
        try #require(try await tokens(parameters, at: server)[name]?.string)
    }

    /// An assertion by which a client authenticates itself; the service by default.
    func assertion(_ order: JSONObject = [:]) async throws -> Parameters {
        var order = order
        if order["client"] == nil { order["client"] = .string(Example.service) }
        return .assertion(try await mint("okta/client-assertion", order))
    }

    /// Sends JSON with the API token.
    func manage(_ path: String, _ body: String = "") async throws -> ReceivedAnswer {
        let type: Fields = body.isEmpty ? [] : [("content-type", "application/json")]
        return try await call(.post, path, World.Fields.apiToken + type, body)
    }
}

extension ReceivedAnswer {
    /// A parameter of the address to which the answer leads.
    func inLocation(_ name: String) -> String? {
        self["location"].flatMap(URLComponents.init(string:))?.queryItems?.first { $0.name == name }?.value
    }

    /// The value of a cookie that the answer sets.
    func cookie(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == "set-cookie" && $0.value.hasPrefix(name + "=") }
            .map { String($0.value.dropFirst(name.count + 1).prefix { $0 != ";" }) }
    }
}

/// The names of Okta's example world, as in the fixtures.
enum Example {
    static let base = "http://localhost:8080"
    /// The endpoints of the custom server.
    static let custom = "/oauth2/default/v1"
    /// The endpoints of the organization's own server.
    static let org = "/oauth2/v1"

    static let native = "0oaunderstudynative1"
    static let web = "0oaunderstudyweb0001"
    static let service = "0oaunderstudysvc0001"
    static let bank = "0oaunderstudybank001"
    static let tv = "0oaunderstudytv00001"
    static let spa = "0oaunderstudyspa0001"
    static let direct = "0oaunderstudydirect1"
    static let api = "0oaunderstudyapi0001"
    static let ops = "0oaunderstudyops0001"

    static let ada = "00uunderstudyada0001"
    static let ben = "00uunderstudyben0001"
    static let cleo = "00uunderstudycleo001"
    static let push = "opfunderstudyada0001"

    static let callback = "com.example.app:/callback"
    static let apiToken = "00understudy-api-token-not-a-secret"
    static let serviceSecret = "svc-secret-not-real-0123456789abcdef"
    static let totp = "ostunderstudyada0001"

    /// The pair of RFC 7636 appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}

extension World {
    /// What a client sends to authorize after it has pushed its request.
    func pushed(_ parameters: Parameters = .authorize) async throws -> Parameters {
        let answer = try await submit(parameters, to: Example.custom + "/par")
        let uri = try #require(answer.json["request_uri"]?.string, "\(answer.text)")
        return [("client_id", Example.native), ("request_uri", uri)]
    }

    /// Gives a device its codes.
    func startDevice() async throws -> (device: String, user: String) {
        let answer = try await submit(
            [("client_id", Example.tv), ("scope", "openid offline_access")], to: Example.custom + "/device/authorize")
        return (answer.json["device_code"]?.string ?? "", answer.json["user_code"]?.string ?? "")
    }

    /// The device's answer to its first challenge, with a token that is minted.
    func answerChallenge(_ order: JSONObject) async throws -> ReceivedAnswer {
        var order = order
        order["transaction"] = "tx-1"
        return try await answerChallenge(with: try await mint("okta/ssws", order))
    }

    /// The device's answer to its first challenge.
    func answerChallenge(with token: String) async throws -> ReceivedAnswer {
        let path = "/api/v1/users/\(Example.ada)/factors/\(Example.push)/transactions/tx-1/verify"
        return try await call(.post, path, [("authorization", "SSWS " + token)])
    }
}

/// Requests of the tests about further grants.
extension World {
    /// Sends a form.
    func submit(_ form: String, to path: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        try await call(.post, path, [("content-type", "application/x-www-form-urlencoded")] + fields, form)
    }

    /// Sends a form to a token endpoint.
    func token(
        _ form: String, _ fields: Fields = [], at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await submit(form, to: endpoints + "/token", fields)
    }

    /// Performs an action.
    @discardableResult
    func perform(_ action: String, _ members: JSONObject = [:]) async throws -> ReceivedAnswer {
        try await control(.post, "state/okta/" + action, JSON.object(members).text)
    }

    /// The answer to the redeemed code of the client `native`, which signs Ada in.
    func signIn(_ scope: String = "openid profile offline_access") async throws -> ReceivedAnswer {
        let client = AppClient.native(self)
        let answer = try await client.redeem(try await client.code(scope))
        answer.expect(200)
        return answer
    }

    /// A world on a server of its own, which can be restarted.
    static func restartable() async throws -> World {
        try await World(on: Stage(Emulator(fixtures: Repository.fixtures, loaders: Catalog.vendors)))
    }

    /// The same world after its server was restarted with a state file, which holds what was there before.
    func restarted() throws -> World {
        let next = try stage.restarted()
        #expect(next.emulator.exportState()["sandboxes"] == stage.emulator.exportState()["sandboxes"])
        return moved(to: next)
    }
}

extension ReceivedAnswer {
    /// The text of a member of the content.
    func text(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try #require(json[name]?.string, "\(text)", sourceLocation: sourceLocation)
    }

    /// The claims of a token in the content, none of them trusted.
    func claims(of token: String) -> JSONObject { json[token]?.string.flatMap { CompactToken($0).claims } ?? [:] }

    /// Why the request was refused, as the journal says.
    var reason: String? { entry?.explanation }
}
