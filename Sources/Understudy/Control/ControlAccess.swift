import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    /// Where a request comes from, as browsers say it; no script can set it. Fetch Metadata Request Headers, section 2.4.
    fileprivate static let fetchSite = Self("Sec-Fetch-Site") ?? .origin
}

/// Who may make a control call: nobody by way of a web page on another origin, and nobody without the token.
///
/// Whoever runs a server on a laptop also opens web pages there, and a page can send requests to any server that its
/// browser reaches. The page `0013` of the decisions says what each rule is for. Vendors' calls are no affair of this: an
/// app may have any name lead here, and pages call vendors by the vendors' own rules.
struct ControlAccess: Sendable {
    /// The bearer token that is asked for; `nil` for none.
    let token: String?
    /// Names of this server besides those that every server has.
    private let hostNames: Set<String>

    /// Access by that token, under these names.
    init(token: String?, hostNames: Set<String>) {
        self.token = token
        self.hostNames = Set(hostNames.map { Self.plain($0.lowercased()[...]) })
    }

    /// Refuses what a page on another origin can have sent.
    func check(_ request: Request) throws(ControlProblem) {
        try checkHost(request.authority)
        try checkSite(request)
        try checkContentType(request)
    }

    /// Whether the request has the token, where one is asked for.
    func hasToken(_ request: Request) -> Bool {
        guard let token else { return true }
        return BearerToken(request.fields).bytes?.elementsEqual(token.utf8) == true
    }
}

// MARK: - Host

extension ControlAccess {
    /// A page whose name was made to lead here after it was loaded is of the same origin as what it asks for, and only its
    /// name tells on it. No such name is an address, ends in `localhost`, or does without a dot.
    private func checkHost(_ authority: String?) throws(ControlProblem) {
        // HTTP/1.0 may leave it out, which no browser does.
        guard let authority, !isOwn(authority) else { return }
        let name = Self.plain(authority.lowercased().prefix { $0 != ":" })
        throw ControlProblem(
            .forbidden, "foreign-host",
            """
            Host is \(authority), which is no name of this server; control calls go to an IP address, localhost, \
            NAME.localhost, a name without a dot, or one that serve was given with --allow-host \(name).
            """)
    }

    /// Compared among bytes: nearly every host is an address or `localhost`, and each call is asked for it.
    private func isOwn(_ authority: String) -> Bool {
        let bytes = authority.utf8
        guard bytes.first != UInt8(ascii: "[") else { return true }
        let name = bytes.prefix { $0 != UInt8(ascii: ":") }
        // No top-level domain is a number, so this is an address to whoever resolves it.
        let isAddress = name.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        guard !isAddress, name.contains(UInt8(ascii: ".")) else { return true }
        let text = Self.plain(Substring(name).lowercased()[...])
        return !text.utf8.contains(UInt8(ascii: ".")) || text.hasSuffix(".localhost") || hostNames.contains(text)
    }

    /// A name without the dot that may end it.
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
                Sec-Fetch-Site is \(site); of web pages, only this server's own make control calls (same-origin). \
                An address that a person types (none) and clients that are no browsers are welcome.
                """)
        }
        guard let origin = request.fields[.origin], !Self.isOwn(origin, of: request, from: site) else { return }
        throw ControlProblem(
            .forbidden, "foreign-origin",
            """
            Origin is \(origin), not that of this server, \(Self.scheme(of: request))://\(request.authority ?? ""); \
            of web pages, only this server's own make control calls.
            """)
    }

    private static func scheme(of request: Request) -> String { request.connection.isSecure ? "https" : "http" }

    /// Whether that is the origin that the request's host names.
    ///
    /// Where a proxy ends TLS the scheme is another one, and only a browser that says `same-origin` knows that it is right.
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
    /// A form of any page can be sent here without the browser asking first, and older browsers do not say whose it was.
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

    /// The types that a page may send to other origins without being asked. Fetch standard, section 2.2.2.
    private static func isForm(_ type: String) -> Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(type)
    }

    /// Whether clients that are no browsers call their JSON that unless they are told otherwise.
    private static func isUsual(_ type: String, of request: Request) -> Bool {
        let agent = request.fields[.userAgent] ?? ""
        return switch type {
        // curl -d, wget, URLSession, Java's HttpURLConnection, Ruby, PowerShell, of which the last begins like a browser.
        case "application/x-www-form-urlencoded":
            request.fields[.origin] == nil && request.fields[.fetchSite] == nil && request.fields[.referer] == nil
                && (!agent.hasPrefix("Mozilla/") || agent.firstRange(of: "PowerShell/") != nil)
        // The fetch of these calls every string so. A page cannot take their names: naming an agent is asked for first.
        case "text/plain": ["node", "undici", "Deno/", "Bun/"].contains { agent.hasPrefix($0) }
        default: false
        }
    }
}
