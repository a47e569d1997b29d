import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    /// Source: docs:reference/core-okta-api; clients repeat it as `X-Okta-Retry-For` (observed, swift, kotlin).
    static let oktaRequestID = Self("X-Okta-Request-Id") ?? .eTag
    static let pragma = Self("Pragma") ?? .cacheControl
}

/// The parts that all answers of Okta have.
extension Okta {
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> OktaSwitches
    ) {
        response.fields[.oktaRequestID] = identifiers.oktaID(ofLength: 23, after: "req")
        allowOrigin(&response, to: request)
        guard response.fields[.contentType]?.hasPrefix("application/json") == true else { return }
        if Self.hasBareType(request.path) {
            // Some clients take no type with parameters here (guide:dpop; observed, kotlin).
            response.fields[.contentType] = "application/json"
            response.fields[.cacheControl] = "no-cache, no-store"
            response.fields[.pragma] = "no-cache"
        } else {
            response.fields[.contentType] = "application/json;charset=UTF-8"
        }
    }

    /// Whether the path is that of the token endpoint or its like.
    private static func hasBareType(_ path: Substring) -> Bool {
        path.hasPrefix("/oauth2/") && bareTypeEndings.contains { path.utf8.ends(with: $0) }
    }

    private static let bareTypeEndings: [StaticString] = [
        "/v1/token", "/v1/par", "/v1/device/authorize", "/v1/primary-authenticate", "/v1/oob-authenticate",
        "/v1/challenge",
    ]
}

extension Substring.UTF8View {
    fileprivate func ends(with ending: StaticString) -> Bool {
        ending.withUTF8Buffer { suffix($0.count).elementsEqual($0) }
    }
}

extension IdentifierSource {
    private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let base64URL = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Letters and digits, as Okta's ids have them, after a prefix.
    func oktaID(ofLength length: Int, after prefix: StaticString = "") -> String {
        text(length, of: Self.letters, after: prefix)
    }

    /// Characters of base64url, as opaque tokens have them.
    func opaque(ofLength length: Int) -> String { text(length, of: Self.base64URL) }

    /// Characters of an alphabet, after a prefix.
    func text(_ length: Int, of alphabet: [UInt8], after prefix: StaticString = "") -> String {
        let start = prefix.utf8CodeUnitCount
        return String(unsafeUninitializedCapacity: start + length) { bytes in
            prefix.withUTF8Buffer { for place in $0.indices { bytes[place] = $0[place] } }
            // Ten characters of 62 or 64 from each draw of 64 bits.
            var rest: UInt64 = 0
            for place in 0..<length {
                if place.isMultiple(of: 10) { rest = next() }
                bytes[start + place] = alphabet[Int(rest % UInt64(alphabet.count))]
                rest /= UInt64(alphabet.count)
            }
            return start + length
        }
    }
}

/// What the form of a failure depends on in the state.
struct OktaFailureContext: Sendable {
    /// Where the client waits for its answer; `nil` when it is not known, or not to be trusted.
    var address: OktaReturnAddress?
    /// The page that comes again, with an alert.
    var page: Response?
}

/// The forms of failures: JSON, a page for people, or a redirect to the client.
extension Okta {
    static let presentsFailures = true

    func freshParameters(in setting: FailureSetting<OktaFailure, OktaSwitches>) -> JSONObject {
        ["error_id": .string("oae" + setting.identifiers.oktaID(ofLength: 22))]
    }

    func failureContext(
        in state: OktaState, _ setting: FailureSetting<OktaFailure, OktaSwitches>
    ) -> OktaFailureContext {
        guard setting.isForBrowser else { return OktaFailureContext() }
        let parameters = OktaParameters(of: setting.request)
        if setting.failure.isToldToClient {
            return OktaFailureContext(address: address(parameters, in: state, setting))
        }
        guard setting.route == "login.submit", let alert = OktaPageAlert(setting.failure),
            let signIn = parameters["tx"].flatMap({ state.signIns[$0] })
        else { return OktaFailureContext() }
        let view = OktaSignInView(
            vendor: self, base: setting.base, seal: OktaPageSeal(setting.request, setting.identifiers), alert: alert,
            sent: parameters)
        return OktaFailureContext(page: view.response(to: setting.request, of: signIn, in: state))
    }

    /// Where a client waits for its answer: as it said now, pushed before, or said when the sign-in began.
    private func address(
        _ parameters: OktaParameters, in state: OktaState, _ setting: FailureSetting<OktaFailure, OktaSwitches>
    ) -> OktaReturnAddress? {
        guard setting.route == "authorize" else {
            return parameters["tx"].flatMap { state.signIns[$0] }.flatMap { OktaReturnAddress($0.request, accounts) }
        }
        guard let id = parameters["request_uri"] else { return OktaReturnAddress(parameters, accounts) }
        guard let request = state.pushedRequests[id]?.request,
            parameters["client_id"]?.hasSameBytes(as: request.clientID) == true
        else { return nil }
        return OktaReturnAddress(request, accounts)
    }

    func present(
        _ response: inout Response, _ parameters: JSONObject, _ context: OktaFailureContext,
        in setting: FailureSetting<OktaFailure, OktaSwitches>
    ) {
        if setting.failure == .rateLimited { Self.tellLimit(in: &response, setting) }
        if setting.failure == .userCodeInvalid, setting.route == "activate.submit" {
            response = activationPage(setting.request, setting.identifiers, alert: .invalidUserCode)
            return
        }
        if let page = context.page {
            response = page
            return
        }
        guard setting.isForBrowser, setting.failure.isToldToClient || setting.failure.isToldOnPage,
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
}

extension FailureSetting<OktaFailure, OktaSwitches> {
    /// Whether browsers come to the route by themselves; all others answer programs.
    fileprivate var isForBrowser: Bool {
        let routes = ["authorize", "logout", "login.page", "login.submit", "activate.page", "activate.submit"]
        return route.map(routes.contains) ?? false
    }
}

extension OktaFailure {
    /// Whether the client is told, by redirect, once its redirect URI is known to be its own.
    var isToldToClient: Bool { Self.toldToClients.contains(self) }

    /// Whether the user is told, since no redirect URI can be trusted.
    fileprivate var isToldOnPage: Bool { Self.toldOnPages.contains(self) }

    private static let toldToClients: Set<OktaFailure> = [
        .parameterDuplicate, .stateInvalid, .responseTypeUnsupported, .responseModeUnsupported, .scopeUnknown,
        .scopeMissing, .scopeOpenidRequired, .pkceChallengeMissing, .pkceMethodUnsupported, .promptInvalid,
        .maxAgeInvalid, .maxAgeNone, .acrUnmet, .loginRequired, .reauthenticationRequired, .consentRequired,
        .accessDenied, .parRequired, .serverError, .temporarilyUnavailable,
    ]

    private static let toldOnPages: Set<OktaFailure> = [
        .clientUnknown, .redirectURIMissing, .redirectURIIllegal, .requestObjectUnsupported, .requestURIInvalid,
        .requestURIClient, .requestURIServer, .loginUnknown, .loginForged, .idTokenHintMissing, .idTokenHintInvalid,
        .postLogoutURIIllegal,
    ]
}
