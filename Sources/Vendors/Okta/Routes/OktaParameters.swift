import Emulation
import JSON
import Wire

/// The parameters of a request, from its query or its form; an empty value counts as absent (RFC 6749 section 3.1).
struct OktaParameters: Sendable {
    let items: [(name: String, value: String)]
    private var isQuery = false
    /// Notes what is asked for; `nil` where that does not count as reading.
    private var ledger: (any ReadingLedger)?

    init(_ items: [(name: String, value: String)] = []) { self.items = items.filter { !$0.value.isEmpty } }

    init(of arrival: OktaArrival) {
        self.init(of: arrival.request)
        (isQuery, ledger) = (arrival.request.method != .post, arrival)
    }

    /// The query of a GET, the form of a POST. Both are forms, in which `+` means a space (RFC 6749 appendix B).
    init(of request: Request) {
        self.init(
            request.method == .post
                ? request.formItems : request.query.map { PercentEncoding.formItems(of: $0) } ?? [])
    }

    /// The members of a JSON object: texts as they are, other values as JSON.
    init(_ object: JSONObject, of arrival: OktaArrival) {
        self.init(object.filter { !$0.value.isNull }.map { ($0.name, $0.value.string ?? $0.value.text) })
        ledger = arrival
    }

    subscript(name: String) -> String? {
        ledger?.note(name, inQuery: isQuery)
        return items.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The values of a parameter that may occur more than once.
    func values(_ name: String) -> [String] {
        ledger?.note(name, inQuery: isQuery)
        return items.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
    }

    /// The same parameters; looking one up does not count as reading it.
    var unnoted: OktaParameters { OktaParameters(items) }

    func words(_ name: String) -> [String] { self[name]?.split(separator: " ").map(String.init) ?? [] }

    /// A name that occurs more than once.
    var duplicate: String? {
        var names: Set<ExactText> = []
        return items.first { !names.insert(ExactText($0.name)).inserted }?.name
    }

    func required(_ name: String) throws(Okta.Refused) -> String {
        try Okta.Refused.require(
            self[name], .parameterMissing, with: ["parameter": .string(name)],
            "found no parameter \(name) with a value; expected one")
    }
}

extension [String] {
    /// Whether it has a text with the same bytes, as names and ids on the wire are compared.
    func contains(exactly text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension Request {
    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    var isJSON: Bool { contentType == "application/json" }

    private var contentType: String? { fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() }

    /// The value of a cookie; the first one of that name.
    func cookie(_ name: String) -> String? {
        for pair in fields.values(of: .cookie).flatMap({ $0.split(separator: ";") }) {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }
}

/// How Okta reads JSON bodies and queries: the first wrong member decides, and all are named as causes.
extension Okta: FieldDialect {
    /// ours: 255 characters are more than Okta's profile allows for any text that a sandbox keeps.
    static let fieldPolicy = FieldPolicy(
        tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true, plusIsSpace: true, textLengths: 1...255)

    static func refusal(of problems: [FieldProblem]) -> Refused {
        let problem = problems[0]
        if let reason = problem.reason() { return Refused(.bodyMalformed, because: reason) }
        let place = problem.isInQuery ? "in the query, " : ""
        let reasons = problems.map { "\(place)\($0)" }.joined(separator: "; ")
        return Refused(
            .bodyInvalid, ["member": .string(name(of: problem)), "causes": .array(problems.map(cause))],
            because: reasons)
    }

    /// Source: recorded answers (pysdk) of an absent member; the others ours.
    private static func cause(_ problem: FieldProblem) -> JSON {
        let text = problem.kind == .missing ? "The field cannot be left blank" : "The field is not valid"
        return ["errorSummary": .string("\(name(of: problem)): \(text)")]
    }

    /// The member alone: Okta's answers do not say where it is. Source: docs:reference/core-okta-api, an example.
    private static func name(of problem: FieldProblem) -> String {
        let path = problem.list ?? problem.path
        return path.split(separator: ".").last.map(String.init) ?? path
    }
}

extension OktaCall {
    /// Returns what `read` makes of the content, which must be JSON; none that is optional counts as an empty object.
    func json<Value>(isOptional: Bool = false, _ read: (inout FieldReader) -> Value) throws(Refused) -> Value {
        if isOptional, request.body.isEmpty { return try Fields<Okta>([:], notedBy: arrival).read(read) }
        return try jsonFields().read(read)
    }

    func jsonFields() throws(Refused) -> Fields<Okta> {
        try require(request.isJSON, "application/json")
        return try body()
    }

    /// The parameters, which a POST must have in a form.
    func form() throws(Refused) -> OktaParameters {
        try require(request.method != .post || request.isForm, "application/x-www-form-urlencoded")
        return credentials.parameters
    }

    private func require(_ isType: Bool, _ type: String) throws(Refused) {
        try Refused.require(
            isType, .mediaType, "Content-Type is \(request.fields[.contentType] ?? "absent"); expected \(type)")
    }
}

extension FieldReader {
    private enum Flag: String, CaseIterable { case yes = "true", no = "false" }

    mutating func flag(_ name: String, or standard: Bool) -> Bool {
        choice(name, of: Flag.self).map { $0 == .yes } ?? standard
    }
}

/// What a client asks for at `authorize`, checked: a pushed request and a sign-in keep it until the client is answered.
struct OktaAuthorizeRequest: Sendable, Equatable, CodedRecord, RecordValue {
    typealias Refused = Okta.Refused

    /// Source: ref.
    enum Prompt: String, CaseIterable, RecordValue { case none, login, consent }

    var clientID = ""
    var serverID = ""
    var redirectURI = ""
    var responseMode = OktaResponseMode.query
    var state = ""
    /// Each once, as requested.
    var scopes: [String] = []
    var nonce: String?
    /// The PKCE challenge (S256).
    var challenge: String?
    var prompts: [Prompt] = []
    /// In seconds.
    var maxAge: Int?
    /// What was sent, in order; unsupported values are kept for the sign-in page.
    var acrValues: [String] = []
    var loginHint: String?
    /// The session token that stands for a user who signed in elsewhere.
    var sessionToken: String?
    /// The `request_uri` under which the client pushed it (RFC 9126); `nil` when it came through the browser.
    var pushedID: String?

    /// The supported value that has to be met: the first one (ours).
    var assurance: OktaAssurance? { acrValues.lazy.compactMap(OktaAssurance.init).first }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("server", &serverID)
        coder.member("redirect_uri", &redirectURI)
        coder.member("response_mode", &responseMode, or: .query)
        coder.member("state", &state)
        coder.member("scopes", &scopes)
        coder.member("nonce", &nonce)
        coder.member("challenge", &challenge)
        coder.member("prompts", &prompts, or: [])
        coder.member("max_age", &maxAge, in: Self.ages)
        coder.member("acr_values", &acrValues, or: [])
        coder.member("login_hint", &loginHint)
        coder.member("session_token", &sessionToken)
        coder.member("pushed", &pushedID)
    }

    var memory: Int {
        let texts =
            [redirectURI, state] + scopes + acrValues + [nonce, challenge, loginHint, sessionToken].compactMap { $0 }
        return texts.reduce(400) { $0 + 16 + $1.utf8.count }
    }

    /// What `max_age` may be. Source: codes.
    static let ages = 0...Int(Int32.max)
}

/// A level of assurance that `acr_values` can ask for. Source: guide:step-up-authentication.
enum OktaAssurance: String, CaseIterable, Sendable {
    case oneFactor = "urn:okta:loa:1fa:any"
    case password = "urn:okta:loa:1fa:pwd"
    case twoFactors = "urn:okta:loa:2fa:any"
    case twoFactorsIfPossible = "urn:okta:loa:2fa:any:ifpossible"
    case phishingResistant = "phr"
    case hardwareProtected = "phrh"
}

/// The checks of an authorization request, in Okta's order as far as it is known (ours).
extension OktaAuthorizeRequest {
    /// Checks a request that the client pushes under an id or, without one, sends through the browser.
    init(
        _ parameters: OktaParameters, of client: OktaClient, among clients: RecordTable<OktaClient>,
        at server: OktaServer, _ switches: OktaSwitches, pushedAs pushedID: String? = nil
    ) throws(Refused) {
        self.init()
        (clientID, serverID, self.pushedID) = (client.id, server.id, pushedID)
        try Refused.require(
            parameters["request"] == nil, .requestObjectUnsupported,
            "found the parameter request; expected plain parameters")
        redirectURI = try Self.redirectURI(parameters, client, clients, switches)
        if pushedID == nil { try Self.checkPushing(client, switches) }
        if let name = parameters.duplicate {
            throw Refused(.parameterDuplicate, because: "found \(name) more than once; expected each parameter once")
        }
        state = try Refused.require(
            parameters["state"], .stateInvalid, "there is no state; expected 1 to 1000 characters")
        try Refused.require(
            Self.isValid(state: state), .stateInvalid,
            "state has \(state.unicodeScalars.count) characters; expected at most 1000")
        try Refused.require(
            parameters["response_type"] == "code", .responseTypeUnsupported,
            "response_type is \(parameters["response_type"] ?? "absent"); expected code")
        if let name = parameters["response_mode"] {
            var known: String { OktaResponseMode.allCases.map(\.rawValue).joined(separator: " or ") }
            responseMode = try Refused.require(
                OktaResponseMode(rawValue: name), .responseModeUnsupported, "found \(name); expected \(known)")
        }
        scopes = try server.scopes(of: parameters.words("scope"))
        challenge = try Self.challenge(parameters, client, switches)
        prompts = try Self.prompts(parameters)
        maxAge = try Self.maxAge(parameters, prompts)
        acrValues = try Self.acrValues(parameters)
        (nonce, loginHint, sessionToken) = (parameters["nonce"], parameters["login_hint"], parameters["sessionToken"])
    }

    /// Whether a state may be sent back. Source: codes.
    static func isValid(state: String) -> Bool { state.unicodeScalars.count <= 1000 }

    private static func redirectURI(
        _ parameters: OktaParameters, _ client: OktaClient, _ clients: RecordTable<OktaClient>, _ switches: OktaSwitches
    ) throws(Refused) -> String {
        var registered: String {
            client.redirectURIs.isEmpty
                ? "client \(client.id) has none" : "expected \(client.redirectURIs.joined(separator: " or "))"
        }
        let uri = try Refused.require(
            parameters["redirect_uri"], .redirectURIMissing, "redirect-uri: found nothing; \(registered)")
        try Refused.require(
            client.allows(redirectURI: uri, switches), .redirectURIIllegal,
            "redirect-uri: found \(uri); \(registered). \(mistake(in: uri, of: client, clients))Register it in "
                + "redirect_uris of client \(client.id) in okta/accounts.yaml, or by the action add-redirect-uri")
        return uri
    }

    /// How the address came about, as far as that can be seen.
    private static func mistake(in uri: String, of client: OktaClient, _ clients: RecordTable<OktaClient>) -> String {
        if let near = client.redirectURIs.lazy.compactMap({ Nearest.difference(uri, $0) }).first { return near + ". " }
        if let own = client.redirectURIs.first(where: { uri.hasSuffix("/" + $0) }) {
            return "It is \(own) behind an origin, as a page makes it of an address without //. "
        }
        if client.postLogoutURIs.contains(exactly: uri) { return "It is one of its post_logout_redirect_uris. " }
        if let other = clients.all.first(where: { $0.redirectURIs.contains(exactly: uri) }) {
            return "It is one of client \(other.id). "
        }
        return uri.contains(":") ? "" : "It has no scheme. "
    }

    private static func checkPushing(_ client: OktaClient, _ switches: OktaSwitches) throws(Refused) {
        let (isForAll, isForEach) = (switches.pushRequirement == .all, switches.pushRequirement == .perClient)
        try Refused.require(
            !isForAll && !(isForEach && client.requiresPushedRequests), .parRequired,
            "found a plain request; expected a request_uri from the server's par endpoint, since "
                + (isForAll ? "switch par-required is all" : "client \(client.id) must push"))
    }

    private static func challenge(
        _ parameters: OktaParameters, _ client: OktaClient, _ switches: OktaSwitches
    ) throws(Refused) -> String? {
        let isRequired = switches.pkce == .always || switches.pkce == .perClient && client.requiresPKCE
        guard let challenge = parameters["code_challenge"] else {
            try Refused.require(
                !isRequired, .pkceChallengeMissing,
                "there is no code_challenge; expected one, since "
                    + (switches.pkce == .always ? "switch pkce is always" : "client \(client.id) must use PKCE"))
            return nil
        }
        let method = parameters["code_challenge_method"]
        try Refused.require(
            method == "S256", .pkceMethodUnsupported,
            "code_challenge_method is \(method ?? "absent, which means plain (RFC 7636 section 4.3)"); expected S256")
        if let fault = OktaCode.fault(in: challenge) {
            throw Refused(
                .pkceChallengeIllegal,
                because: "code_challenge has \(fault); expected the SHA-256 of code_verifier in base64url, without "
                    + "padding: 43 characters")
        }
        return challenge
    }

    private static func prompts(_ parameters: OktaParameters) throws(Refused) -> [Prompt] {
        let words = parameters.words("prompt")
        let prompts = words.compactMap(Prompt.init)
        // `none` stands alone (OpenID Connect Core 1.0 section 3.1.2.1).
        try Refused.require(
            prompts.count == words.count && Set(prompts).count == words.count
                && (words.count <= 1 || !prompts.contains(.none)), .promptInvalid,
            "found \(words.joined(separator: " ")); expected none, login, consent, or the last two together")
        return prompts
    }

    private static func maxAge(_ parameters: OktaParameters, _ prompts: [Prompt]) throws(Refused) -> Int? {
        guard let text = parameters["max_age"] else { return nil }
        let isNumber = text.utf8.count <= 10 && text.utf8.allSatisfy(\.isDigit)
        guard isNumber, let age = Int(text), ages.contains(age) else {
            throw Refused(.maxAgeInvalid, because: "max_age is \(text); expected 0 to \(ages.upperBound)")
        }
        try Refused.require(
            age > 0 || !prompts.contains(.none), .maxAgeNone,
            "max_age is 0, for which the user must sign in; expected another prompt than none")
        return age
    }

    private static func acrValues(_ parameters: OktaParameters) throws(Refused) -> [String] {
        let values = parameters.words("acr_values")
        let asked = values.lazy.compactMap(OktaAssurance.init).first
        // ours: no factor of the emulator resists phishing.
        try Refused.require(
            asked != .phishingResistant && asked != .hardwareProtected, .acrUnmet,
            "acr_values asks for \(values.joined(separator: " ")), which no factor here can meet; expected one of 1fa "
                + "and 2fa")
        return values
    }
}

extension OktaServer {
    /// Scopes that say what an ID token or userinfo contains, and so need `openid`.
    private static let claimScopes = ["profile", "email", "address", "phone", "groups"]

    /// The scopes of a request that names none. Source: api.
    var defaultScopes: [String] { scopes.filter(\.isDefault).map(\.name) }

    /// The scopes of a request, each once, in its order.
    ///
    /// - Throws: ``OktaFailure/scopeMissing`` for none, ``OktaFailure/scopeUnknown`` for one that the server does not
    ///   have, and ``OktaFailure/scopeOpenidRequired`` for those of OpenID Connect without `openid`.
    func scopes(of words: [String]) throws(Okta.Refused) -> [String] {
        let scopes = try distinctScopes(of: words.isEmpty ? defaultScopes : words)
        let known = OktaServerMetadata.scopes + self.scopes.map(\.name)
        if let unknown = scopes.first(where: { !known.contains(exactly: $0) }) {
            throw Okta.Refused(
                .scopeUnknown,
                because: "found scope \(unknown); expected some of server \(id)'s: \(known.joined(separator: " "))")
        }
        guard !scopes.contains(exactly: "openid"), let needy = scopes.first(where: Self.claimScopes.contains) else {
            return scopes
        }
        throw Okta.Refused(.scopeOpenidRequired, because: "found scope \(needy) without openid; expected both")
    }

    /// Each of the scopes once; there must be one.
    func distinctScopes(of words: [String]) throws(Okta.Refused) -> [String] {
        var seen: Set<ExactText> = []
        let scopes = words.filter { seen.insert(ExactText($0)).inserted }
        try Okta.Refused.require(
            !scopes.isEmpty, .scopeMissing, "found no scope; expected one or more, separated by spaces")
        return scopes
    }
}
