import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    /// Source: docs:reference/core-okta-api; clients repeat it as `X-Okta-Retry-For` (observed, swift, kotlin).
    static let oktaRequestID = Self("X-Okta-Request-Id") ?? .eTag
    static let pragma = Self("Pragma") ?? .cacheControl
    static let rateLimit = Self("X-Rate-Limit-Limit") ?? .eTag
    static let rateRemaining = Self("X-Rate-Limit-Remaining") ?? .eTag
    static let rateReset = Self("X-Rate-Limit-Reset") ?? .eTag
    static let link = Self("Link") ?? .location
    static let referrerPolicy = Self("Referrer-Policy") ?? .contentSecurityPolicy
    /// Where a browser says a request comes from (Fetch Metadata Request Headers, section 2.3).
    static let fetchSite = Self("Sec-Fetch-Site") ?? .origin
    static let forwarded = Self("Forwarded") ?? .eTag
    static let forwardedHost = Self("X-Forwarded-Host") ?? .eTag
    static let forwardedProto = Self("X-Forwarded-Proto") ?? .eTag
    /// RFC 9449 section 4.1.
    static let dpop = Self("DPoP") ?? .authorization
    /// RFC 9449 section 8; written as in the documented answer (guide:dpop).
    static let dpopNonce = Self("dpop-nonce") ?? .eTag
}

extension Okta {
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource, _ switches: () -> OktaSwitches
    ) {
        response.fields[.oktaRequestID] = identifiers.oktaRequestID
        allowOrigin(&response, to: request)
        guard response.fields[.contentType]?.hasPrefix("application/json") == true else { return }
        // Without a charset: some clients take no parameters (observed, kotlin). Source of both: recorded answers (pysdk).
        response.fields[.contentType] = "application/json"
        // Keys and discovery have lifetimes of their own.
        guard response.fields[.cacheControl] == nil else { return }
        response.fields[.cacheControl] = "no-cache, no-store"
        response.fields[.pragma] = "no-cache"
        response.fields[.expires] = "0"
    }
}

extension JSON {
    /// A link with the methods that its address has.
    static func link(_ address: String, _ methods: JSON..., named name: String? = nil) -> JSON {
        var link: JSONObject = name.map { ["name": .string($0)] } ?? [:]
        link.append("href", .string(address))
        link.append("hints", ["allow": .array(methods)])
        return .object(link)
    }
}

extension Moment {
    /// As Okta shows times in answers: whole seconds. Source: recorded answers (pysdk).
    var shown: String { Moment(unixSeconds: Double(wholeSeconds)).rfc3339 }
}

extension IdentifierSource {
    private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let digits = Array("0123456789abcdef".utf8)
    private static let base64URL = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Letters and digits, as Okta's ids have them.
    func oktaID(ofLength length: Int) -> String { text(length, of: Self.letters) }

    /// 32 hexadecimal digits. Source: recorded answers (pysdk), since 2025.
    var oktaRequestID: String { text(32, of: Self.digits) }

    /// Characters of base64url, as opaque tokens have them.
    func opaque(ofLength length: Int) -> String { text(length, of: Self.base64URL) }

    func text(_ length: Int, of alphabet: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: length) { bytes in
            // Ten characters of 62 or 64 from each draw of 64 bits.
            var rest: UInt64 = 0
            for place in 0..<length {
                if place.isMultiple(of: 10) { rest = next() }
                bytes[place] = alphabet[Int(rest % UInt64(alphabet.count))]
                rest /= UInt64(alphabet.count)
            }
            return length
        }
    }
}

/// What the form of a failure depends on in the state.
struct OktaFailureContext: Sendable {
    /// Where the client waits for its answer; `nil` when it is not known, or not to be trusted.
    var address: OktaReturnAddress?
    /// The page that is shown again, with an alert.
    var page: Response?
}

/// The forms of failures: JSON, a page for people, or a redirect to the client.
extension Okta {
    static let presentsFailures = true

    typealias Setting = FailureSetting<OktaFailure, OktaSwitches>

    func freshParameters(in setting: Setting) -> JSONObject {
        var parameters: JSONObject = ["error_id": .string("oae" + setting.identifiers.oktaID(ofLength: 22))]
        if setting.failure == .redirectURIIllegal {
            let client = OktaParameters(of: setting.request)["client_id"] ?? ""
            parameters.append(
                "settings", .string("\(setting.base)/admin/app/oidc_client/instance/\(client)#tab-general"))
        }
        return parameters
    }

    func failureContext(in state: OktaState, _ setting: Setting) -> OktaFailureContext {
        guard setting.isForBrowser else { return OktaFailureContext() }
        let parameters = OktaParameters(of: setting.request)
        if setting.failure.reachesClient { return OktaFailureContext(address: address(parameters, in: state, setting)) }
        guard setting.access == .signIn(isForm: true), let alert = OktaPageAlert(setting.failure),
            let signIn = parameters["tx"].flatMap({ state.signIns[$0] })
        else { return OktaFailureContext() }
        let view = OktaSignInView(
            vendor: self, base: setting.base,
            seal: OktaPageSeal(setting.request, setting.identifiers, at: setting.base), alert: alert, sent: parameters)
        return OktaFailureContext(page: view.response(to: setting.request, of: signIn, in: state))
    }

    /// Where a client waits for its answer: as it said now, pushed before, or said when the sign-in began.
    private func address(_ parameters: OktaParameters, in state: OktaState, _ setting: Setting) -> OktaReturnAddress? {
        guard setting.route == "authorize" else {
            return parameters["tx"].flatMap { state.signIns[$0] }.flatMap { OktaReturnAddress($0.request, state) }
        }
        guard let id = parameters["request_uri"] else { return OktaReturnAddress(parameters, state, setting.switches) }
        guard let request = state.pushedRequests[id]?.request,
            parameters["client_id"]?.hasSameBytes(as: request.clientID) == true
        else { return nil }
        return OktaReturnAddress(request, state)
    }

    func present(
        _ response: inout Response, _ parameters: JSONObject, _ context: OktaFailureContext, in setting: Setting
    ) {
        if setting.failure == .rateLimited {
            // Even when an operator's rule refuses, which counts nothing: clients wait for it (observed, swift, kotlin).
            response.fields[.rateLimit] = String(setting.switches.rateLimitQuota)
            response.fields[.rateRemaining] = "0"
            response.fields[.rateReset] = String((setting.moment + OktaRateWindow.length).wholeSeconds)
        }
        Self.completeChallenge(in: &response, setting)
        if setting.failure == .userCodeInvalid, setting.route == "activate.submit" {
            let (request, base) = (setting.request, setting.base)
            return response = activationPage(request, setting.identifiers, at: base, alert: .invalidUserCode)
        }
        if let page = context.page { return response = page }
        guard setting.isForBrowser, setting.failure.reachesClient || OktaFailure.shownOnPages.contains(setting.failure),
            let body = (try? JSON.parse(response.body))?.object, let error = body["error"]?.string,
            let description = body["error_description"]?.string
        else { return }
        if let address = context.address {
            response = address.response(
                [("error", error), ("error_description", description)], to: setting.request, by: pages)
        } else if OktaPageFormat(preferredBy: setting.request) == .html {
            let page = OktaPage.error(
                response.status, failure: setting.failure.rawValue, error: error, description: description)
            response = pages.response(page, to: setting.request)
        }
    }

    /// What the management API says of an access token, besides its body (inferred).
    private static let challenges: [OktaFailure: String] = [
        .apiTokenInvalid: #"Bearer error="invalid_token", error_description="The access token is invalid.""#,
        .accessDeniedAPI: #"Bearer error="insufficient_scope", error_description="The access token provided does not "#
            + #"contain the required scopes.""#,
    ]

    /// Names what an access token was refused for. Source: panva/openid-client#102, a recorded answer of userinfo; algs
    /// authjs, tests; the texts codes.
    private static func completeChallenge(in response: inout Response, _ setting: Setting) {
        let path = String(setting.request.path)
        var (server, scope) = (String(path.dropLast("/userinfo".count)), "openid")
        if case .api(let needed)? = setting.access, BearerToken(setting.request.fields, orOf: "dpop").bytes != nil {
            (server, scope) = ("/oauth2/v1", needed)
        } else if setting.access != .bearer {
            return
        }
        guard let challenge = response.fields[.wwwAuthenticate] ?? challenges[setting.failure],
            let space = challenge.firstIndex(of: " ")
        else { return }
        let algorithms = OktaProof.algorithms.map(\.rawValue).joined(separator: " ")
        let opening = challenge.hasPrefix("DPoP") ? "DPoP algs=\"\(algorithms)\"," : String(challenge[..<space])
        response.fields[.wwwAuthenticate] =
            "\(opening) authorization_uri=\"\(setting.base)\(server)/authorize\", realm=\"\(setting.base)\", "
            + "scope=\"\(scope)\",\(challenge[space...]), resource=\"\(path)\""
    }
}

extension Okta.Setting {
    /// What the route requires; `nil` when the path has none.
    fileprivate var access: OktaAccess? { Okta.routes.first { $0.id == route }?.access }

    /// Whether browsers come to the route by themselves; all others answer programs.
    fileprivate var isForBrowser: Bool {
        if case .signIn = access { true } else { access == .browser }
    }
}

extension OktaFailure {
    /// Whether the client gets it, by redirect, once its redirect URI is known to be its own.
    var reachesClient: Bool { Self.sentToClients.contains(self) }

    private static let sentToClients: Set<OktaFailure> = [
        .parameterDuplicate, .stateInvalid, .responseTypeUnsupported, .responseModeUnsupported, .scopeUnknown,
        .scopeMissing, .scopeOpenidRequired, .pkceChallengeMissing, .pkceChallengeIllegal, .pkceMethodUnsupported,
        .promptInvalid, .maxAgeInvalid, .maxAgeNone, .acrUnmet, .loginRequired, .reauthenticationRequired,
        .consentRequired,
        .accessDenied, .userNotAssigned, .policyNotMatched, .parRequired, .serverError, .temporarilyUnavailable,
    ]

    /// What the user sees, since no redirect URI can be trusted.
    fileprivate static let shownOnPages: Set<OktaFailure> = [
        .clientUnknown, .redirectURIMissing, .redirectURIIllegal, .requestObjectUnsupported, .requestURIInvalid,
        .requestURIClient, .requestURIServer, .loginUnknown, .loginForged, .idTokenHintMissing, .idTokenHintInvalid,
        .postLogoutURIIllegal,
    ]
}

/// Rate limits: counts in header fields of all answers but discovery and keys, which have no limit. Source: docs, rate
/// limits; the window of a minute and its quota are ours, by client and route.
extension Okta {
    /// Counts a request, and refuses it if the switch says so and the quota is used up.
    func countRequest(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.switches.rateLimit != .off, call.route.access != .published else { return }
        let key = OktaRateWindow.Key(client: ExactText(clientID(of: call)), route: ExactText(call.route.id))
        let window = state.count(key, at: call.moment)
        let quota = call.switches.rateLimitQuota
        call.answerFields.append(HTTPField(name: .rateLimit, value: String(quota)))
        call.answerFields.append(HTTPField(name: .rateRemaining, value: String(max(0, quota - window.count))))
        call.answerFields.append(HTTPField(name: .rateReset, value: String(window.ends.wholeSeconds)))
        guard call.switches.rateLimit == .enforce else { return }
        // The limit precedes every other check, even those already made.
        var findings = Findings<OktaFailure>()
        findings.add(
            Finding(
                "rate-limit", window.count > quota ? .failed : .passed,
                expected: .text("at most \(quota) requests of a client to \(window.routeID) within 60 s"),
                found: .text("request \(window.count) since \(Fact.time(window.began.unixSeconds))"),
                source: "docs, rate limits; switches rate-limit, rate-limit-quota"),
            orFail: .rateLimited)
        guard findings.failure != nil else { return }
        findings.note(call.findings.all)
        call.findings = findings
    }

    /// The client as which the request counts, proven or not; only known ones, so that they are few.
    private func clientID(of call: OktaCall) -> String {
        if let client = call.credentials.client { return client.id }
        let named = call.credentials.parameters.unnoted["client_id"] ?? call.credentials.claims?["cid"]?.string
        return named.flatMap { call.arrival.authenticationContext.clients[$0]?.id } ?? ""
    }

}

/// The requests of a client to a route within a minute.
struct OktaRateWindow: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// Source: docs, rate limits.
    static let length = Duration.seconds(60)
    /// ours: clients and routes are few, so it is hardly reached.
    static let bound = RecordBound(count: 10_000)

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let client: ExactText
        let route: ExactText

        var description: String { JSON.array([client.json, route.json]).text }
    }

    /// Empty for callers that are no client of the fixtures, who share one window.
    var clientID = ""
    var routeID = ""
    var began = Moment(unixSeconds: 0)
    var count = 0

    var ends: Moment { began + Self.length }

    /// Counts a request, in a new window if this one is over, or the clock was moved back before it.
    mutating func add(at moment: Moment) {
        if moment < began || moment >= ends { (began, count) = (moment, 0) }
        count = min(count + 1, Ordinal.largest)
    }

    var key: Key { Key(client: ExactText(clientID), route: ExactText(routeID)) }

    func clash(over name: Never?) -> String { "\(routeID) has two windows of \(clientID)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("route", &routeID)
        coder.member("began", &began)
        coder.member("count", &count, in: 0...Ordinal.largest)
    }
}

extension OktaState {
    mutating func count(_ key: OktaRateWindow.Key, at moment: Moment) -> OktaRateWindow {
        let counted = rateWindows.change(key) { window in
            window.add(at: moment)
            return window
        }
        if let counted { return counted }
        let window = OktaRateWindow(clientID: key.client.text, routeID: key.route.text, began: moment, count: 1)
        rateWindows.add(window, within: OktaRateWindow.bound)
        return window
    }
}
