import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy

typealias Parameters = [(String, String)]

extension Parameters {
    static let authorize: Parameters = [
        ("client_id", Example.native), ("redirect_uri", Example.callback), ("response_type", "code"),
        ("scope", "openid profile offline_access"), ("state", "s1"), ("nonce", "n1"),
        ("code_challenge", Example.challenge), ("code_challenge_method", "S256"),
    ]

    static func authorizing(_ client: String, _ redirectURI: String, scope: String = "openid") -> Parameters {
        authorize.with([("client_id", client), ("redirect_uri", redirectURI), ("scope", scope)])
    }

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

    static func service(_ scope: String = "trips.read") -> Parameters {
        [("grant_type", "client_credentials"), ("scope", scope)]
    }

    static func assertion(_ token: String) -> Parameters {
        [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", token),
        ]
    }

    func with(_ name: String, _ value: String?) -> Parameters {
        guard let index = firstIndex(where: { $0.0 == name }) else { return self + (value.map { [(name, $0)] } ?? []) }
        var changed = self
        if let value { changed[index].1 = value } else { changed.remove(at: index) }
        return changed
    }

    /// The same with other values; `nil` removes a parameter.
    func with(_ changes: [(String, String?)]) -> Parameters { changes.reduce(self) { $0.with($1.0, $1.1) } }

    var withoutPKCE: Parameters { with([("code_challenge", nil), ("code_challenge_method", nil)]) }

    func target(_ endpoints: String = Example.custom) -> String { "\(endpoints)/authorize?\(text)" }

    /// As a query or form, in ASCII.
    var text: String {
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        return map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }.joined(separator: "&")
    }
}

extension World.Fields {
    static let form: Self = [("content-type", "application/x-www-form-urlencoded")]
    static let json: Self = [("accept", "application/json")]
    static let apiToken: Self = [("authorization", "SSWS " + Example.apiToken)]

    static func basic(_ client: String, _ secret: String) -> Self { basic("\(client):\(secret)") }

    static func basic(_ text: String) -> Self { [("authorization", "Basic " + Data(text.utf8).base64EncodedString())] }

    static func bearer(_ token: String) -> Self { [("authorization", "Bearer " + token)] }
}

extension World {
    func authorize(
        _ parameters: Parameters = .authorize, at server: String = Example.custom, _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await call(.get, parameters.target(server), fields)
    }

    func code(_ parameters: Parameters = .authorize, at server: String = Example.custom) async throws -> String {
        let answer = try await authorize(parameters, at: server)
        return try #require(answer.inLocation("code"), "\(answer.text) \(answer.entry?.explanation ?? "")")
    }

    func submit(_ form: Parameters, to path: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        try await call(.post, path, World.Fields.form + fields, form.text)
    }

    func token(
        _ form: Parameters, at server: String = Example.custom, _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await submit(form, to: server + "/token", fields)
    }

    func tokens(_ parameters: Parameters = .authorize, at server: String = Example.custom) async throws -> JSON {
        let answer = try await token(.redeem(code(parameters, at: server)), at: server)
        answer.expect(200)
        return answer.json
    }

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

    func cookie(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == "set-cookie" && $0.value.hasPrefix(name + "=") }
            .map { String($0.value.dropFirst(name.count + 1).prefix { $0 != ";" }) }
    }
}

enum Example {
    static let base = "http://localhost:8080"
    static let custom = "/oauth2/default/v1"
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
    func pushed(_ parameters: Parameters = .authorize) async throws -> Parameters {
        let answer = try await submit(parameters, to: Example.custom + "/par")
        let uri = try #require(answer.json["request_uri"]?.string, "\(answer.text)")
        return [("client_id", Example.native), ("request_uri", uri)]
    }

    func startDevice() async throws -> (device: String, user: String) {
        let answer = try await submit(
            [("client_id", Example.tv), ("scope", "openid offline_access")], to: Example.custom + "/device/authorize")
        return (answer.member("device_code"), answer.member("user_code"))
    }

    /// The television asks whether its user let it sign in.
    func poll(_ deviceCode: String) async throws -> ReceivedAnswer {
        try await token([
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", Example.tv),
            ("device_code", deviceCode),
        ])
    }

    /// The device's answer to its first challenge, with a token that is minted.
    func answerChallenge(_ order: JSONObject) async throws -> ReceivedAnswer {
        var order = order
        order["transaction"] = "tx-1"
        let token = try await mint("okta/ssws", order)
        return try await call(.post, World.factor + "/transactions/tx-1/verify", [("authorization", "SSWS " + token)])
    }
}

extension World {
    func submit(_ form: String, to path: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        try await call(.post, path, World.Fields.form + fields, form)
    }

    func token(
        _ form: String, _ fields: Fields = [], at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await submit(form, to: endpoints + "/token", fields)
    }

    @discardableResult
    func perform(_ action: String, _ members: JSONObject = [:]) async throws -> ReceivedAnswer {
        try await control(.post, "state/okta/" + action, JSON.object(members).text)
    }

    /// The answer to the redeemed code of the client `native`, which signs Ada in.
    func signIn(_ scope: String = "openid profile offline_access") async throws -> ReceivedAnswer {
        try await AppClient.native(self).tokens(scope)
    }

    static func restartable() async throws -> World {
        try await World(on: Stage(Emulator(fixtures: Repository.fixtures, loaders: Catalog.vendors)))
    }

    func restarted() throws -> World {
        let next = try stage.restarted()
        expect(next.emulator.exportState()["sandboxes"], is: stage.emulator.exportState()["sandboxes"])
        return moved(to: next)
    }
}

extension ReceivedAnswer {
    func text(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try #require(json[name]?.string, "\(text)", sourceLocation: sourceLocation)
    }

    /// The claims of a token in the content, none of them trusted.
    func claims(of token: String) -> JSONObject { json[token]?.string.flatMap { CompactToken($0).claims } ?? [:] }

    var reason: String? { entry?.explanation }
}
