import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension Okta {
    func authenticateClient(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        // An unknown server is the handler's finding: it comes first.
        guard let server = server(of: arrival) else { return }
        // Source: api.
        let takesJSON = arrival.route.access == .client(.push)
        let content = Self.content(of: arrival, &credentials.parameters, takesJSON: takesJSON)
        var facts = OktaClientFacts(arrival, credentials.parameters, takesJSON: takesJSON)
        facts.content = content
        credentials.compact = facts.assertion
        findings.judge(facts, by: Self.clientRules)
        guard findings.failure == nil else { return }
        facts.dropExplanations()
        credentials.clientFacts = facts
        if arrival.route.access == .client(.tokenUse) {
            credentials.token = credentials.parameters["token"].flatMap { token($0, arrival, at: server) }
        }
    }

    /// The facts about a JWT that a request is about; `nil` for other tokens. Its signature is checked here, outside any
    /// lock.
    private func token(_ text: String, _ arrival: OktaArrival, at server: OktaServer) -> OktaTokenFacts? {
        guard text.utf8.contains(UInt8(ascii: ".")) else { return nil }
        let token = recentTokens.reading(of: Array(text.utf8)[...], OktaToken.init(bytes:))
        let facts = OktaTokenFacts(token, arrival, at: server)
        var nothing: Finding?
        if let key = facts.key { _ = token.signature(by: key, &nothing) }
        return facts
    }

    /// Uses up the assertion, whatever becomes of the request (observed, pysdk).
    func authorizeClient(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.findings.failure == nil, var facts = call.credentials.clientFacts, let client = facts.client,
            let claims = facts.assertion?.claims, let id = claims["jti"],
            let end = facts.assertion?.date("exp").seconds()
        else { return }
        let text = id.string ?? id.text
        // ours: a long one is remembered by its hash, so that it takes no more room than others.
        let name = text.utf8.count <= 255 ? text : Base64URL.encode(Digest.sha256(Array(text.utf8)))
        facts.isReplayed = !state.use(.assertion, name, of: client.id, until: Moment(unixSeconds: end), at: call.moment)
        call.findings.judge(facts, by: Self.assertionUseRules)
    }

    /// What the content is; the members of a JSON object become the parameters.
    private static func content(
        of arrival: OktaArrival, _ parameters: inout OktaParameters, takesJSON: Bool
    ) -> OktaClientFacts.Content {
        let request = arrival.request
        if request.isForm { return .form }
        guard request.isJSON, takesJSON else { return .other(request.fields[.contentType]) }
        do throws(JSONError) {
            let value = try JSON.parse(request.body)
            guard let object = value.object else { return .unreadableJSON("a JSON \(value.typeName)") }
            parameters = OktaParameters(object, of: arrival)
            return .json
        } catch {
            return .unreadableJSON(error.description)
        }
    }
}

/// How a client presents itself, and what the rules for clients check.
struct OktaClientFacts: OktaRuleFacts {
    enum Content: Sendable {
        case form
        case json
        case unreadableJSON(String)
        /// Content of another type, or of none.
        case other(String?)
    }

    let moment: Moment
    /// Needed only to explain failures; released if there are none.
    private(set) var clients: RecordTable<OktaClient>?

    var content = Content.form
    var takesJSON = false
    var namesInQuery: [String] = []
    /// Whether the query has what belongs in a form.
    var isInQuery = false
    /// The name of a parameter that occurs twice.
    var duplicate: String?
    /// What authenticates the client, in the order in which Okta names it.
    var presented: [String] = []
    /// What `Authorization` contains in place of an id and a secret.
    var unusualAuthorization: String?
    /// The id that the client gives itself besides an assertion.
    var clientID: String?
    /// The client that is meant, authenticated or not.
    var client: OktaClient?
    /// How it authenticates; `nil` when unknown.
    var method: OktaClient.Method?
    /// The secret as sent; released unless it is wrong.
    private(set) var secret: String?
    private(set) var isSecretRight = false

    var assertionType: String?
    var assertion: CompactToken?
    /// The addresses of the endpoint, one for each way of naming the sandbox.
    var endpoints: [String] = []
    /// The client's keys that the header allows.
    var keys: [VerificationKey] = []
    /// Whether the assertion's `jti` was used before; `nil` until the state is asked.
    var isReplayed: Bool?

    var compact: CompactToken? { assertion }

    /// Source: ref; `none` is left out.
    static let assertionAlgorithms: [Algorithm] = [
        .hs256, .hs384, .hs512, .rs256, .rs384, .rs512, .es256, .es384, .es512,
    ]
    /// RFC 7523 section 2.2.
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    var algorithm: Algorithm? { assertion?.namedAlgorithm(among: Self.assertionAlgorithms) }

    init(_ clients: RecordTable<OktaClient>, at moment: Moment) { (self.clients, self.moment) = (clients, moment) }

    mutating func dropExplanations() { (clients, secret) = (nil, nil) }

    /// An assertion without its request.
    init(_ clients: RecordTable<OktaClient>, assertion token: CompactToken, to endpoint: String, at moment: Moment) {
        self.init(clients, at: moment)
        presented = ["client_assertion"]
        take(token)
        (assertionType, endpoints) = (Self.assertionType, [endpoint])
    }

    // MARK: - Reading a request

    init(_ arrival: OktaArrival, _ parameters: OktaParameters, takesJSON: Bool) {
        self.init(arrival.authenticationContext.clients, at: arrival.moment)
        self.takesJSON = takesJSON
        duplicate = parameters.duplicate
        let query = OktaParameters(arrival.request.queryItems)
        namesInQuery = ["client_secret", "client_assertion"].filter { query[$0] != nil }
        isInQuery = ["grant_type", "token", "refresh_token", "client_id"].contains { query[$0] != nil }
        clientID = parameters["client_id"]
        // Source: ref, for introspection and revocation alone.
        if arrival.route.access == .client(.tokenUse) {
            clientID = clientID ?? arrival.queryValue("client_id").flatMap { $0.isEmpty ? nil : $0 }
        }
        takeAuthorization(arrival.request.fields.bytes(of: .authorization))
        if let secret = parameters["client_secret"] { take(secret: secret, .secretPost) }
        takeAssertion(parameters, arrival)
        if presented.isEmpty, clientID != nil { method = OktaClient.Method.none }
        if assertion == nil { client = clientID.flatMap { clients?[$0] } }
        isSecretRight =
            client?.secret.flatMap { known in secret.map { Digest.areEqual(Array(known.utf8), Array($0.utf8)) } }
            ?? false
    }

    private mutating func takeAuthorization(_ field: ArraySlice<UInt8>?) {
        guard let field else { return }
        let scheme = field.prefix { $0 != UInt8(ascii: " ") }
        let name = String(decoding: scheme, as: UTF8.self)
        guard name.lowercased() == "basic" else {
            unusualAuthorization = "Authorization with a scheme other than Basic"
            return
        }
        guard let pair = BasicCredentials(field[scheme.endIndex...].drop { $0 == UInt8(ascii: " ") }) else {
            unusualAuthorization = "Authorization: Basic that is not base64 of ID:SECRET"
            return
        }
        let id = Self.formDecoded(pair.id)
        let secret = Self.formDecoded(pair.secret ?? "")
        take(secret: secret, .secretBasic)
        // A public client has nothing else to send (observed, authjs, which revokes so).
        if secret.isEmpty, clients?[id]?.methods.contains(.none) == true { method = OktaClient.Method.none }
        if let other = clientID, !other.hasSameBytes(as: id) { presented.append("client_id of another client") }
        clientID = id
    }

    private mutating func take(secret: String, _ method: OktaClient.Method) {
        presented.append(method.rawValue)
        (self.secret, self.method) = (secret, method)
    }

    private mutating func takeAssertion(_ parameters: OktaParameters, _ arrival: OktaArrival) {
        assertionType = parameters["client_assertion_type"]
        guard parameters["client_assertion"] != nil || assertionType != nil else { return }
        presented.append("client_assertion")
        take(CompactToken(parameters["client_assertion"] ?? ""))
        endpoints = arrival.sandbox.addresses.map { $0 + arrival.request.path }
    }

    private mutating func take(_ token: CompactToken) {
        assertion = token
        client = token.claims?["iss"]?.string.flatMap { clients?[$0] }
        method = algorithm.map { $0.family == .hmac ? .secretJWT : .privateKeyJWT }
        keys = keys(of: client, for: token)
    }

    /// The keys that may have made the signature: the one that the header names, or any of the client's.
    private func keys(of client: OktaClient?, for token: CompactToken) -> [VerificationKey] {
        guard let client, let algorithm else { return [] }
        if algorithm.family == .hmac { return [client.secretKey?.verificationKey].compactMap(\.self) }
        // A file without a key is reported when it is asked to sign.
        let known = client.keys.compactMap { try? $0.read() }
        guard let kid = token.header?["kid"] else { return known.map(\.verificationKey) }
        return known.filter { $0.id.map { kid.string?.hasSameBytes(as: $0) ?? false } ?? false }.map(\.verificationKey)
    }

    /// Both parts of Basic are form-encoded first (RFC 6749 section 2.3.1); a part that is not is taken as it is.
    private static func formDecoded(_ text: String) -> String {
        PercentEncoding.decode(text.replacing("+", with: " ")[...]).map { String($0) } ?? text
    }

    // MARK: - Explanations

    var secretMistake: String? {
        guard let secret, let clients else { return nil }
        if secret.isEmpty { return "Only a client with the method none has none; Basic is base64 of ID:SECRET." }
        if let other = clients.all.first(where: { $0.secret?.hasSameBytes(as: secret) == true }) {
            return "It is the secret of client \(other.id)."
        }
        if let known = client?.secret, Self.formDecoded(known).hasSameBytes(as: secret) {
            return "It fits without form-decoding: encode + as %2B and % as %25 first (RFC 6749 section 2.3.1)."
        }
        let trimmed = secret.split { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" }.joined()
        if let known = client?.secret, known.hasSameBytes(as: trimmed) { return "It fits without the white space." }
        return nil
    }

    /// The client that has a text as its secret, as it is or cut at its colon, with form-decoding or without.
    func owner(ofSecret text: String) -> OktaClient? {
        clients?.all.first { client in
            guard let secret = client.secret, text.utf8.count >= 8 else { return false }
            return [secret, Self.formDecoded(secret)].contains { $0.hasSameBytes(as: text) || $0.hasPrefix(text + ":") }
        }
    }

    var audienceMistake: String? {
        guard let claims = assertion?.claims, let endpoint = endpoints.first else { return nil }
        let found = (claims["aud"]?.array ?? [claims["aud"] ?? .null]).compactMap(\.string)
        let path = OktaAddress(endpoint)?.path
        if found.contains(where: { OktaAddress($0)?.path == path }) {
            return
                "The path is right. The rest is the address of this server, which --public-base sets, in the form in "
                + "which the client names its sandbox."
        }
        return "The audience is the full address of the endpoint, not that of the server or its issuer."
    }
}
