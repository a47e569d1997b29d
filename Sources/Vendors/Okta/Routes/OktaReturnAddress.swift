import Emulation
import HTTPTypes
import JSON
import Wire

/// How the parameters of an answer reach the client. Source: ref.
enum OktaResponseMode: String, CaseIterable, RecordValue {
    case query
    case fragment
    case formPost = "form_post"
    case postMessage = "okta_post_message"
}

/// Where and how a client gets the answer to its authorization request.
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
    init?(_ request: OktaAuthorizeRequest, _ accounts: OktaAccounts) {
        guard let client = accounts.clients[request.clientID], !request.redirectURI.isEmpty else { return nil }
        self.init(request, of: client)
    }

    /// The address in a request that need not be right otherwise; `nil` unless client and redirect URI are.
    init?(_ parameters: OktaParameters, _ accounts: OktaAccounts) {
        guard let client = parameters["client_id"].flatMap({ accounts.clients[$0] }),
            let redirectURI = parameters["redirect_uri"], client.allows(redirectURI: redirectURI)
        else { return nil }
        (self.redirectURI, clientName) = (redirectURI, client.name)
        mode = parameters["response_mode"].flatMap(OktaResponseMode.init) ?? .query
        let states = parameters.items.filter { $0.name.hasSameBytes(as: "state") }
        if states.count == 1, OktaAuthorizeRequest.isValid(state: states[0].value) { state = states[0].value }
    }

    /// The answer that takes the browser there.
    ///
    /// - Parameter items: what the client gets, before its own `state`.
    func response(
        _ items: [(name: String, value: String)], to request: Request, by pages: OktaPages
    ) -> Response {
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
        if request.isForPage, OktaPageFormat(preferredBy: request) == .json {
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

extension Request {
    /// Whether it is for one of the pages on which people sign in.
    var isForPage: Bool { path.hasPrefix("/login/") || path == "/activate" }
}

extension OktaClient {
    /// Whether the client is registered with that redirect URI. For native apps, the port of a loopback address is free
    /// (RFC 8252 section 7.3; that Okta allows it: ours).
    func allows(redirectURI: String) -> Bool {
        if redirectURIs.contains(where: { $0.hasSameBytes(as: redirectURI) }) { return true }
        guard type == .native, let asked = Self.withoutLoopbackPort(redirectURI) else { return false }
        return redirectURIs.contains { Self.withoutLoopbackPort($0)?.hasSameBytes(as: asked) == true }
    }

    /// An http address of this machine without its port; `nil` for other addresses.
    private static func withoutLoopbackPort(_ uri: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where uri.utf8.starts(with: host.utf8) {
            var rest = uri.utf8.dropFirst(host.utf8.count)
            if rest.first == UInt8(ascii: ":") {
                let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                guard let port = Int(String(Substring(digits))), (1...65_535).contains(port) else { return nil }
                rest = rest[digits.endIndex...]
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else { return nil }
            return host + String(Substring(rest))
        }
        return nil
    }
}
