import Foundation
import JSON
import Support
import Testing

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

    /// As a query or form.
    var text: String { AppClient.form(map { (name: $0.0, value: $0.1) }) }
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

    static let asWeb = basic(Example.web, Example.webSecret)
    static let asService = basic(Example.service, Example.serviceSecret)
    static let asAPI = basic(Example.api, Example.apiSecret)

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

    /// An access token of the org server for the management API.
    func managementToken(_ scope: String) async throws -> String {
        let assertion = try await assertion(["client": .string(Example.ops), "server": "org"])
        let answer = try await token(.service(scope) + assertion, at: Example.org)
        return try #require(answer.json["access_token"]?.string, "\(answer.text)")
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
