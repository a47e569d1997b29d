import Emulation
import JSON
import Wire

/// The authorization endpoint: who signs in, and what the client gets.
extension Okta {
    static func authorizeClientApp(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let parameters = try call.form()
        guard let client = parameters["client_id"].flatMap({ state.clients[$0] }) else {
            let found = parameters["client_id"].map { "no client has the id \($0)" } ?? "there is no client_id"
            let hint = state.clients.hint(to: parameters["client_id"] ?? "", by: \.id)
            throw Refused(.clientUnknown, because: "\(found); expected that of a registered client\(hint)")
        }
        let request: OktaAuthorizeRequest
        if let id = parameters["request_uri"] {
            request = try pushedRequest(id, of: client, at: server, call, state)
        } else {
            request = try OktaAuthorizeRequest(parameters, of: client, among: state.clients, at: server, call.switches)
        }
        if !client.allows(redirectURI: request.redirectURI, OktaSwitches()) {
            call.findings.note(
                "redirect-uri", expected: .anyOf(client.redirectURIs), found: .text(request.redirectURI),
                note: "It is not registered; the switch redirect-uris accepts it.", source: "switch redirect-uris")
        }
        var signIn = OktaSignIn()
        (signIn.request, signIn.began) = (request, call.moment)
        return try OktaSignInPolicy(request, client, server, call.switches).proceed(signIn, isNew: true, &call, &state)
    }

    // MARK: - Pushed authorization requests (RFC 9126)

    static func pushRequest(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        guard let client = call.credentials.client else { throw Refused(.clientCredentialsMissing) }
        let parameters = call.credentials.parameters
        try Refused.require(
            parameters["request_uri"] == nil, .parRequestURIPresent,
            "found request_uri; expected the parameters themselves")
        let id = OktaPushedRequest.newID(call.identifiers)
        let request = try OktaAuthorizeRequest(
            parameters, of: client, among: state.clients, at: server, call.switches, pushedAs: id)
        let lifetime = call.switches.pushLifetimeSeconds
        let pushed = OktaPushedRequest(request: request, expires: call.moment + .seconds(lifetime))
        call.note(
            roomMadeFor: "pushed request", by: state.pushedRequests.add(pushed, within: OktaPushedRequest.bound).count)
        return .json(
            ["request_uri": .string(id), "expires_in": JSON(lifetime)],
            status: call.switches.pushStatus == .created ? .created : .ok)
    }

    /// The pushed request that `request_uri` names; of the other parameters only `client_id` counts.
    private static func pushedRequest(
        _ id: String, of client: OktaClient, at server: OktaServer, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthorizeRequest {
        let pushed = try Refused.require(
            state.pushedRequests[id], .requestURIInvalid,
            "found \(id.prefix(200)); expected a request_uri that par returned, such as urn:okta:…")
        let request = pushed.request
        try Refused.require(
            request.clientID.hasSameBytes(as: client.id), .requestURIClient,
            "client_id is \(client.id); expected \(request.clientID), who pushed the request")
        try Refused.require(
            request.serverID.hasSameBytes(as: server.id), .requestURIServer,
            "the server is \(server.id); expected \(request.serverID), where the request was pushed")
        var fault: String {
            pushed.isUsed ? "has been used: its client got an answer" : "expired \(pushed.expires.rfc3339)"
        }
        try Refused.require(
            !pushed.isUsed && call.moment < pushed.expires, .requestURIInvalid,
            "the request_uri \(fault); expected a new one")
        return request
    }
}

/// How the parameters of an answer reach the client. Source: ref.
enum OktaResponseMode: String, CaseIterable, RecordValue {
    case query
    case fragment
    case formPost = "form_post"
    case postMessage = "okta_post_message"
}

struct OktaReturnAddress: Sendable {
    var redirectURI: String
    var clientName: String
    var mode = OktaResponseMode.query
    var state: String?

    init(_ request: OktaAuthorizeRequest, of client: OktaClient) {
        (redirectURI, clientName) = (request.redirectURI, client.name)
        (mode, state) = (request.responseMode, request.state)
    }

    /// The address of a request that was checked earlier; `nil` when its client is gone, and for a device's.
    init?(_ request: OktaAuthorizeRequest, _ state: OktaState) {
        guard let client = state.clients[request.clientID], !request.redirectURI.isEmpty else { return nil }
        self.init(request, of: client)
    }

    /// The address in a request that need not be right otherwise; `nil` unless client and redirect URI are.
    init?(_ parameters: OktaParameters, _ known: OktaState, _ switches: OktaSwitches) {
        guard let client = parameters["client_id"].flatMap({ known.clients[$0] }),
            let redirectURI = parameters["redirect_uri"], client.allows(redirectURI: redirectURI, switches)
        else { return nil }
        (self.redirectURI, clientName) = (redirectURI, client.name)
        mode = parameters["response_mode"].flatMap(OktaResponseMode.init) ?? .query
        let states = parameters.values("state")
        if states.count == 1, OktaAuthorizeRequest.isValid(state: states[0]) { state = states[0] }
    }

    /// The answer that takes the browser there, with what the client gets before its own `state`.
    func response(_ items: [(name: String, value: String)], to request: Request, by pages: OktaPages) -> Response {
        let items = items + (state.map { [("state", $0)] } ?? [])
        switch mode {
        case .query: return .onward(to: redirectURI.adding(items, after: "?"), from: request)
        case .fragment: return .onward(to: redirectURI.adding(items, after: "#"), from: request)
        case .formPost: return pages.response(.formPost(to: redirectURI, of: clientName, items), to: request)
        case .postMessage: return pages.response(.postMessage(to: redirectURI, of: clientName, items), to: request)
        }
    }
}

extension String {
    /// The address with these parameters; a query of its own stays (RFC 6749 section 3.1.2).
    func adding(_ items: [(name: String, value: String)], after sign: Character) -> String {
        items.isEmpty ? self : self + (contains(sign) ? "&" : String(sign)) + PercentEncoding.form(items)
    }
}

extension Response {
    /// The answer that takes a browser to another address; a client that asks a page for JSON gets the address.
    static func onward(to location: String, from request: Request) -> Response {
        var response: Response
        let isForPage = request.path.hasPrefix("/login/") || request.path == "/activate"
        if isForPage, OktaPageFormat(preferredBy: request) == .json {
            response = .json(["location": .string(location)])
            response.fields[.cacheControl] = "no-store"
        } else {
            response = .empty(.found)
            response.fields[.location] = location
        }
        // Source: ref.
        response.fields[.referrerPolicy] = "no-referrer"
        return response
    }
}

extension OktaClient {
    /// Whether the client is registered with that redirect URI. For native apps, the port of a loopback address is free
    /// (RFC 8252 section 7.3; that Okta allows it: ours).
    func allows(redirectURI: String, _ switches: OktaSwitches) -> Bool {
        if redirectURIs.contains(exactly: redirectURI) { return true }
        let local = /https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?([\/?].*)?/
        if switches.redirectURIs == .anyLocalhost, redirectURI.wholeMatch(of: local) != nil { return true }
        guard type == .native, let asked = Self.withoutLoopbackPort(redirectURI) else { return false }
        return redirectURIs.contains { Self.withoutLoopbackPort($0)?.hasSameBytes(as: asked) == true }
    }

    /// An http address of this machine without its port; `nil` for other addresses.
    private static func withoutLoopbackPort(_ uri: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where uri.utf8.starts(with: host.utf8) {
            var rest = uri.utf8.dropFirst(host.utf8.count)
            if rest.first == UInt8(ascii: ":") {
                let digits = rest.dropFirst().prefix(while: \.isDigit)
                guard let port = Int(String(Substring(digits))), (1...65_535).contains(port) else { return nil }
                rest = rest[digits.endIndex...]
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else { return nil }
            return host + String(Substring(rest))
        }
        return nil
    }
}
