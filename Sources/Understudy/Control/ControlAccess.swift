import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    /// Where a request comes from, according to the browser; no script can set it. Fetch Metadata Request Headers,
    /// section 2.4.
    fileprivate static let fetchSite = Self("Sec-Fetch-Site") ?? .origin
}

/// Who may make a control call: no web page on another origin, and no one without the token.
///
/// People who run a server on a laptop also open web pages there, and a page can send requests to any server that its
/// browser reaches. Decision `0013` explains each rule. Vendors' calls are not affected: an app may use any name that
/// leads here, and pages call vendors by the vendors' own rules.
struct ControlAccess: Sendable {
    /// The required bearer token; `nil` for none.
    let token: String?
    /// Names of this server besides those that every server has.
    private let hostNames: Set<String>

    init(token: String?, hostNames: Set<String>) {
        self.token = token
        self.hostNames = Set(hostNames.map { Self.plain($0.lowercased()[...]) })
    }

    /// Refuses requests that a page on another origin could have sent.
    func check(_ request: Request) throws(ControlProblem) {
        try checkHost(request.authority)
        try checkSite(request)
        try checkContentType(request)
    }

    func hasToken(_ request: Request) -> Bool {
        guard let token else { return true }
        return BearerToken(request.fields).bytes?.elementsEqual(token.utf8) == true
    }
}

// MARK: - Host

extension ControlAccess {
    /// A page whose name was changed after loading to lead here shares the origin of its requests; only the name
    /// reveals it. Such a name is never an address, never ends in `localhost`, and always has a dot.
    private func checkHost(_ authority: String?) throws(ControlProblem) {
        // HTTP/1.0 clients may omit it, but no browser does.
        guard let authority, !isOwn(authority) else { return }
        let name = Self.plain(authority.lowercased().prefix { $0 != ":" })
        throw ControlProblem(
            .forbidden, "foreign-host",
            """
            Host is \(authority), which is not a name of this server; control calls accept an IP address, localhost, \
            NAME.localhost, a name without a dot, or one allowed with --allow-host \(name).
            """)
    }

    /// Compared as bytes: nearly every host is an address or `localhost`, and each call is checked.
    func isOwn(_ authority: String) -> Bool {
        let bytes = authority.utf8
        guard bytes.first != UInt8(ascii: "[") else { return true }
        let name = bytes.prefix { $0 != UInt8(ascii: ":") }
        // No top-level domain is a number, so every resolver treats this as an address.
        let isAddress = name.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        guard !isAddress, name.contains(UInt8(ascii: ".")) else { return true }
        let text = Self.plain(Substring(name).lowercased()[...])
        return !text.utf8.contains(UInt8(ascii: ".")) || text.hasSuffix(".localhost") || hostNames.contains(text)
    }

    /// A name without its optional final dot.
    private static func plain(_ name: Substring) -> String { String(name.hasSuffix(".") ? name.dropLast() : name) }
}

// MARK: - Origin

extension ControlAccess {
    private func checkSite(_ request: Request) throws(ControlProblem) {
        let site = request.fields[.fetchSite]
        if let site, site != "same-origin", site != "none" {
            throw ControlProblem(
                .forbidden, "foreign-site",
                """
                Sec-Fetch-Site is \(site); only this server's own web pages may make control calls (same-origin). \
                A typed address (none) and clients other than browsers are accepted.
                """)
        }
        guard let origin = request.fields[.origin], !Self.isOwn(origin, of: request, from: site) else { return }
        throw ControlProblem(
            .forbidden, "foreign-origin",
            """
            Origin is \(origin), not that of this server, \(Self.scheme(of: request))://\(request.authority ?? ""); \
            only this server's own web pages may make control calls.
            """)
    }

    private static func scheme(of request: Request) -> String { request.connection.isSecure ? "https" : "http" }

    /// Whether the origin is the one that the request's host names.
    ///
    /// Behind a proxy that terminates TLS the scheme differs, and only a browser that says `same-origin` confirms the
    /// origin.
    private static func isOwn(_ origin: String, of request: Request, from site: String?) -> Bool {
        guard let authority = request.authority?.lowercased() else { return false }
        for (scheme, port) in [("http", ":80"), ("https", ":443")]
        where site == "same-origin" || scheme == self.scheme(of: request) {
            let host = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
            if origin.lowercased() == "\(scheme)://\(host)" { return true }
        }
        return false
    }
}

// MARK: - Content type

extension ControlAccess {
    /// Any page's form can be sent here without a preflight, and older browsers do not name its origin.
    private func checkContentType(_ request: Request) throws(ControlProblem) {
        guard request.method != .get, request.method != .head, let value = request.fields[.contentType] else { return }
        let type = value.prefix { $0 != ";" && $0 != "," && $0 != " " && $0 != "\t" }.lowercased()
        guard Self.isForm(type), !Self.isUsual(type, of: request) else { return }
        throw ControlProblem(
            .forbidden, "form-content",
            """
            Content-Type is \(type), which a form of any web page can send; a control call's content is \
            application/json, or of no type at all.
            """)
    }

    /// The types that a page may send to other origins without a preflight. Fetch standard, section 2.2.2.
    private static func isForm(_ type: String) -> Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(type)
    }

    /// Whether some non-browser clients use that type for JSON by default.
    private static func isUsual(_ type: String, of request: Request) -> Bool {
        let agent = request.fields[.userAgent] ?? ""
        return switch type {
        // curl -d, wget, URLSession, Java's HttpURLConnection, Ruby, and PowerShell, whose agent begins like a
        // browser's.
        case "application/x-www-form-urlencoded":
            request.fields[.origin] == nil && request.fields[.fetchSite] == nil && request.fields[.referer] == nil
                && (!agent.hasPrefix("Mozilla/") || agent.firstRange(of: "PowerShell/") != nil)
        // Their fetch uses this type for every string. A page cannot use their names: setting the agent requires a
        // preflight.
        case "text/plain": ["node", "undici", "Deno/", "Bun/"].contains { agent.hasPrefix($0) }
        default: false
        }
    }
}
