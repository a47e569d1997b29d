import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Calls from pages in browsers, which send their origin (Fetch standard, CORS protocol).
extension Okta {
    /// Judges the origin of a page that makes the call; other clients send none.
    func judgeOrigin(_ call: inout OktaCall, _ state: inout OktaState) {
        guard let origin = call.request.fields[.origin], call.request.method != .options,
            let origins = OktaOrigins.at(call.request.path)?.origins
        else { return }
        call.answerFields[.vary] = "Origin"
        let isTrusted = call.isTrusted(origin, in: &state)
        let sendsToken = BearerToken(call.request.fields, orOf: "dpop").bytes != nil
        let isAllowed =
            origins == .ofClient
            ? judgeClientOrigin(origin, isTrusted, &call)
            : origins.admits(isTrusted: isTrusted, sendsToken: sendsToken)
        if isAllowed { call.answerFields.show(to: origin, at: call.request.path, isTrusted: isTrusted) }
    }

    /// Whether the origin is one for pages of the client. Without it, the token endpoint refuses the call.
    private func judgeClientOrigin(_ origin: String, _ isTrusted: Bool, _ call: inout OktaCall) -> Bool {
        let parameters = call.credentials.parameters.unnoted
        let named = parameters["client_id"]
        let client = call.credentials.client ?? named.flatMap { call.arrival.authenticationContext.clients[$0] }
        let redirects = client?.redirectURIs ?? []
        let own = redirects.compactMap { OktaAddress($0)?.origin }
        let isAllowed = isTrusted || own.contains(ExactText(OktaTrustedOrigin.normalized(origin)))
        guard call.switches.cors == .enforce else { return isAllowed }
        let near = isAllowed ? nil : own.lazy.compactMap { Nearest.difference(origin, $0.text) }.first
        call.findings.add(
            Finding(
                "origin", isAllowed ? .passed : .failed, expected: .anyOf(own.map(\.text) + ["a trusted origin"]),
                found: .text(origin), note: near.map { $0 + "." }, source: "codes; switch cors"),
            orFail: redirects.isEmpty ? .originNotTrusted : .originNotRedirect)
        // A page cannot keep a secret, so whoever redeems a code in one must know its verifier.
        let grant = OktaGrantType.authorizationCode.rawValue
        guard call.route.access == .client(.tokens), parameters["grant_type"]?.hasSameBytes(as: grant) == true
        else { return isAllowed }
        let hasVerifier = parameters["code_verifier"] != nil
        call.findings.add(
            Finding(
                "browser-pkce", hasVerifier ? .passed : .failed, expected: .text("code_verifier, as Origin is sent"),
                found: hasVerifier ? .text("code_verifier") : .nothing("no code_verifier"), source: "codes; switch cors"
            ),
            orFail: .browserNeedsPKCE)
        return isAllowed
    }

    /// Lets pages read an answer that was made before its origin was judged, such as an armed failure (ours).
    func allowOrigin(_ response: inout Response, to request: Request) {
        guard let origin = request.fields[.origin], response.fields[.vary] == nil, OktaOrigins.at(request.path) != nil
        else { return }
        response.fields[.vary] = "Origin"
        response.fields.show(to: origin, at: request.path, isTrusted: true)
    }

    /// Answers a browser's question whether a page may make a call. Source: api. At the token endpoint and at par any
    /// origin may ask, since only the call itself names the client.
    static func answerPreflight(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        guard let (origins, methods) = OktaOrigins.at(call.request.path) else { throw Refused(.routeNotFound) }
        guard let origin = call.request.fields[.origin], call.request.fields[.accessControlRequestMethod] != nil else {
            call.answerFields[.allow] = methods + ", OPTIONS"
            throw Refused(
                .methodNotAllowed,
                because: "found OPTIONS without Origin and Access-Control-Request-Method; expected \(methods)")
        }
        _ = try server(call)
        var response = Response.empty()
        response.fields[.vary] = "Origin"
        let wanted = call.request.fields[.accessControlRequestHeaders]
        let sendsToken = wanted.map { $0.lowercased().contains("authorization") } ?? false
        let isTrusted = call.isTrusted(origin, in: &state)
        guard origins.admits(isTrusted: isTrusted, sendsToken: sendsToken) else { return .respond(response) }
        response.fields.allow(origin, at: call.request.path, isTrusted: isTrusted)
        response.fields[.accessControlAllowMethods] = methods
        // ours: DPoP and others need it.
        if let wanted { response.fields[.accessControlAllowHeaders] = wanted }
        response.fields[.accessControlMaxAge] = "3600"
        return .respond(response)
    }

    static let preflightEndpoints = OktaOrigins.paths.flatMap { $0.patterns.map(Endpoint.options) }
}

extension OktaCall {
    /// Whether an origin is trusted, as all are by the switch, or that of this server itself, whose own pages need no
    /// permission.
    func isTrusted(_ origin: String, in state: inout OktaState) -> Bool {
        if switches.cors == .any { return true }
        let origin = OktaTrustedOrigin.normalized(origin)
        if let known = state.trustedOrigins[origin] { return known.allowsCORS }
        return OktaAddress(arrival.base)?.origin.text.hasSameBytes(as: origin) == true
    }
}

extension HTTPFields {
    /// What browsers must see to make a call. Cookies come from trusted pages alone, and mean nothing outside the API
    /// (inferred).
    mutating func allow(_ origin: String, at path: Substring, isTrusted: Bool) {
        self[.accessControlAllowOrigin] = origin
        if isTrusted, path.hasPrefix("/api/") { self[.accessControlAllowCredentials] = "true" }
    }

    /// What they must see to show an answer. Source: inferred from authjs, which reads the first two.
    fileprivate mutating func show(to origin: String, at path: Substring, isTrusted: Bool) {
        allow(origin, at: path, isTrusted: isTrusted)
        self[.accessControlExposeHeaders] =
            "DPoP-Nonce, WWW-Authenticate, X-Okta-Request-Id, X-Rate-Limit-Limit, X-Rate-Limit-Remaining, "
            + "X-Rate-Limit-Reset"
    }
}

/// The origins for which browsers show an answer to pages (Fetch standard, CORS protocol). Source: api; docs, release
/// notes of 2020. That authn has it: inferred from authjs, which signs in by it in pages.
enum OktaOrigins: Sendable {
    case any
    /// Those of the client's redirect URIs, and trusted ones.
    case ofClient
    /// Trusted ones, and all that send an access token.
    case trusted
    /// Trusted ones, whatever is sent.
    case trustedAlone

    /// The paths at which browsers can make such calls, with the methods that they have.
    static let paths: [(patterns: [String], origins: OktaOrigins, methods: String)] = [
        (both("token"), .ofClient, "POST"), (both("par"), .ofClient, "POST"), (both("keys"), .any, "GET"),
        (both("introspect"), .trusted, "POST"), (both("revoke"), .trusted, "POST"),
        (both("userinfo"), .trusted, "GET, POST"), (both("device/authorize"), .trusted, "POST"),
        (
            [
                "/.well-known/openid-configuration", "/oauth2/{server}/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/oauth2/{server}",
                "/oauth2/{server}/.well-known/oauth-authorization-server",
            ], .any, "GET"
        ),
        (
            [
                "", "/factors/{factor}/verify", "/factors/{factor}/verify/resend", "/factors/{factor}/lifecycle/{step}",
                "/{step}", "/credentials/{step}", "/recovery/{step}", "/recovery/factors/{kind}/{step}",
            ].map { "/api/v1/authn" + $0 }, .trustedAlone, "POST"
        ),
        (["/api/v1/sessions"], .trusted, "POST"),
        (["/api/v1/sessions/{session}"], .trusted, "GET, DELETE"),
        (["/api/v1/sessions/{session}/lifecycle/refresh"], .trusted, "POST"),
        (["/api/v1/users"], .trusted, "GET, POST"), (["/api/v1/users/{user}"], .trusted, "GET, POST, PUT, DELETE"),
        (["/api/v1/users/{user}/groups"], .trusted, "GET"),
        (["/api/v1/users/{user}/credentials/{step}"], .trusted, "POST"),
        (["/api/v1/users/{user}/sessions"], .trusted, "DELETE"),
        (["/api/v1/users/{user}/lifecycle/{step}"], .trusted, "POST"),
    ]

    private static func both(_ path: String) -> [String] { ["/oauth2/v1/" + path, "/oauth2/{server}/v1/" + path] }

    /// The rule at a path; `nil` where browsers cannot make such calls.
    static func at(_ path: Substring) -> (origins: OktaOrigins, methods: String)? {
        let (slash, brace) = (UInt8(ascii: "/"), UInt8(ascii: "{"))
        let segments = path.utf8.split(separator: slash)
        func fits(_ pattern: String) -> Bool {
            pattern.utf8.split(separator: slash).elementsEqual(segments) { $0.first == brace || $0.elementsEqual($1) }
        }
        return paths.first { $0.patterns.contains(where: fits) }.map { ($0.origins, $0.methods) }
    }

    /// Whether a page may make a call, as far as that is known without its client.
    func admits(isTrusted: Bool, sendsToken: Bool) -> Bool {
        switch self {
        case .any, .ofClient: true
        case .trusted: isTrusted || sendsToken
        case .trustedAlone: isTrusted
        }
    }
}

/// An origin that an administrator has registered for calls from browsers. Source: api.
struct OktaTrustedOrigin: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// As browsers write it; not all are addresses of the web, as with `capacitor://localhost`.
    var origin = ""
    /// Whether it may make such calls; registered origins may also be for redirects only.
    var allowsCORS = true

    /// Without the differences that do not count.
    static func normalized(_ origin: String) -> String { OktaAddress(origin)?.origin.text ?? origin }

    /// ours: so that a client in a loop cannot fill the memory.
    static let bound = RecordBound(count: 1000)

    var key: ExactText { ExactText(origin) }

    func clash(over name: Never?) -> String { "\(origin) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("origin", &origin)
        coder.member("cors", &allowsCORS, or: true)
        coder.check(!origin.isEmpty, or: "a trusted origin needs an origin")
    }
}

extension Okta {
    /// What administrators do with trusted origins (ours, in place of their management API).
    static let originActions = [
        action(
            "trusted-origin", about: "Registers, changes or removes an origin from which browsers may call.",
            members: [
                .required("origin", "scheme, host and port, as in http://localhost:3000"),
                .optional("cors", "whether it may make calls; by default true"),
                .optional("remove", "true removes it"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            let (text, allowsCORS, isRemoved) = try call.read { reader in
                (reader.text("origin"), reader.bool("cors") ?? true, reader.bool("remove") ?? false)
            }
            let origin = OktaTrustedOrigin(origin: OktaTrustedOrigin.normalized(text), allowsCORS: allowsCORS)
            guard text.contains("://"), OktaAddress(text).map({ $0.path.text == "/" }) ?? true else {
                throw ControlRefusal("origin is \(text); expected scheme, host and port, such as http://localhost:3000")
            }
            if isRemoved {
                let hint = Nearest.hint(to: origin.origin, among: state.trustedOrigins.all.map(\.origin))
                try ControlRefusal.require(
                    state.trustedOrigins.remove(origin.key) != nil, "\(origin.origin) is not a trusted origin\(hint)")
            } else {
                state.trustedOrigins.add(origin, within: OktaTrustedOrigin.bound)
            }
            return ["origins": .array(state.trustedOrigins.all.map { $0.json(.whole) })]
        }
    ]

    /// What to note when an app asks at an address that tokens do not name; ours, as the real issuer has only one.
    static func addressMistake(_ call: OktaCall) -> Finding? {
        let base = call.arrival.base
        // A proxy says how it was reached; that is a hint for people, and never an issuer.
        let (fields, forwarded) = (call.request.fields, forwarded(call.request))
        let scheme =
            forwarded["proto"] ?? fields[.forwardedProto] ?? (call.request.connection.isSecure ? "https" : "http")
        guard let asked = forwarded["host"] ?? fields[.forwardedHost] ?? call.request.authority,
            let own = OktaRedirectTarget(base)?.origin, case let other = "\(scheme)://\(asked)",
            OktaAddress(other)?.origin != OktaAddress(own)?.origin
        else { return nil }
        return Finding(
            "public-base", .noted, expected: .text(own), found: .text(other),
            note: "Discovery and all tokens name \(base), so an app that asks at \(other) refuses them. Let the app "
                + "ask at \(base), or start the server with --public-base \(other).", source: "ours")
    }

    /// What the first proxy of all said in the field `Forwarded` (RFC 7239 section 4).
    private static func forwarded(_ request: Request) -> [String: String] {
        let first = request.fields[.forwarded]?.prefix { $0 != "," } ?? ""
        let pairs = first.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1) }
        return pairs.reduce(into: [:]) { members, pair in
            if pair.count == 2 { members[pair[0].lowercased().filter { $0 != " " }] = pair[1].filter { $0 != "\"" } }
        }
    }
}
