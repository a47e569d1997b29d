import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// A page, as HTML for people and as JSON for programs.
///
/// It knows nothing of routes and state: whoever answers fills it in and reads what its form sends. A form goes to the
/// address of its own page, query included, so that reloading leads back to the same sign-in.
struct OktaPage: Sendable {
    /// Which page it is: in `data-page`, in JSON, and as a section of the template.
    let name: String
    let title: String
    /// What both programs and the template get.
    var members: JSONObject = [:]
    /// What only the template needs.
    var shown: JSONObject = [:]
    var alert: OktaPageAlert?
    var status = HTTPResponse.Status.ok
    /// After how many seconds the page is fetched again.
    var refresh: Int?
    var policy = OktaContentPolicy()

    var json: JSON {
        var object: JSONObject = ["page": .string(name)]
        for member in members { object.append(member.name, member.value) }
        return .object(object)
    }
}

struct OktaPages: Sendable {
    private let template: Deferred<TextTemplate>
    let style: Response

    private static let names = [
        "sign-in", "second-factor", "consent", "activate", "done", "error", "form-post", "okta-post-message",
    ]

    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let file = try fixtures.file("pages/page.html")
        template = try Deferred(file) { () throws(FixtureProblem) in
            try TextTemplate(
                String(decoding: file.bytes, as: UTF8.self),
                roots: Self.names + ["page", "title", "up", "script", "request"],
                escaping: .html, at: FixtureNode(.null, from: file.path))
        }
        style = .page(.style, try fixtures.file("pages/page.css").bytes, under: OktaContentPolicy(forms: .client(nil)))
    }

    /// The page in the form that the request prefers.
    func response(_ page: OktaPage, to request: Request) -> Response {
        guard OktaPageFormat(preferredBy: request) == .html else {
            var response =
                page.alert.map { .json($0.json, status: .badRequest) } ?? Response.json(page.json, status: page.status)
            page.policy.apply(to: &response)
            return response
        }
        var response = Response.page(
            .document, Array(markup(of: page, at: request.path).utf8), under: page.policy, status: page.status)
        if let refresh = page.refresh, let name = HTTPField.Name("Refresh") { response.fields[name] = String(refresh) }
        return response
    }

    private func markup(of page: OktaPage, at path: Substring) -> String {
        var values = page.members
        for member in page.shown { values[member.name] = member.value }
        if let alert = page.alert {
            values["alert"] = ["failure": .string(alert.failure), "text": .string(alert.text)]
            values["wrong"] = .object(JSONObject(alert.fields.map { ($0, true) }))
        }
        (values["page"], values["title"], values[page.name]) = (.string(page.name), .string(page.title), true)
        // Relative links keep a prefix that selects a sandbox, and the path of a proxy, of which a page knows nothing.
        let folders = path.utf8.prefix { $0 != UInt8(ascii: "?") }.count { $0 == UInt8(ascii: "/") } - 1
        values["up"] = .string(String(repeating: "../", count: max(0, folders)))
        values["script"] = JSON(page.policy.script)
        // Read before, at the start or by a test.
        return (try? template.get())?.text(values) ?? ""
    }
}

/// Why a page is shown again.
struct OktaPageAlert: Sendable {
    var failure: String
    var text: String
    /// The fields to correct, by name.
    var fields: [String] = []
    /// What a client gets that asks for JSON, with status 400; `nil` means `{"failure": …}`.
    var answer: JSON?

    var json: JSON { answer ?? ["failure": .string(failure)] }

    /// The code of a device for which nobody waits. A client that asked for JSON gets the OAuth error.
    static let invalidUserCode = OktaPageAlert(
        failure: "user-code-invalid", text: "Invalid code. Try again.", fields: ["user_code"],
        answer: ["error": "invalid_user_code", "error_description": "The user code is invalid or has expired."])
}

enum OktaPageFormat: Sendable {
    case html
    case json

    /// The form that the `Accept` of a request prefers; HTML when it has no preference.
    init(preferredBy request: Request) {
        let ranges = request.fields.values(of: .accept).flatMap { $0.split(separator: ",") }.map(Self.range)
        /// The weight of a type, and how closely the range describes it; the closest range counts (RFC 9110 section
        /// 12.5.1).
        func preference(for type: String, _ group: String) -> (Double, Int) {
            for (closeness, name) in [(2, type), (1, group), (0, "*/*")] {
                guard let range = ranges.first(where: { $0.type == name }) else { continue }
                return range.weight > 0 ? (range.weight, closeness) : (0, 0)
            }
            return (0, 0)
        }
        // Scripts say `application/json, */*`: of equal weights, the type that is named wins.
        let isJSON = preference(for: "application/json", "application/*") > preference(for: "text/html", "text/*")
        self = isJSON ? .json : .html
    }

    /// A media range in small letters, and its weight: 1, unless `q` says less.
    private static func range(_ text: Substring) -> (type: String, weight: Double) {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
        return (parts.first ?? "", weight ?? 1)
    }
}

/// What a page may load, run and send, and who may show it in a frame; all else is forbidden.
struct OktaContentPolicy: Sendable {
    var forms = Forms.own(andThen: nil)
    /// The only script that runs, exactly as it stands between the tags.
    var script: String?
    /// The only origin whose pages may show the page in a frame.
    var frames: OktaRedirectTarget?

    enum Forms: Sendable {
        /// To this server, and from here to the client: browsers apply the rule to redirects, too (observed,
        /// w3c/webappsec#482).
        case own(andThen: OktaRedirectTarget?)
        /// To the client at once; without a target, nowhere.
        case client(OktaRedirectTarget?)
    }

    var text: String {
        let actions =
            switch forms {
            case .own(let target): ["'self'", target?.source].compactMap { $0 }.joined(separator: " ")
            case .client(let target): target?.source ?? "'none'"
            }
        var directives = ["default-src 'none'", "style-src 'self'"]
        if let script { directives.append("script-src \(Self.source(of: script))") }
        directives += ["form-action \(actions)", "base-uri 'none'", "frame-ancestors \(frames?.source ?? "'none'")"]
        return directives.joined(separator: "; ")
    }

    /// The source expression that allows a script by its hash (CSP level 3, section 2.3.1).
    static func source(of script: String) -> String { "'sha256-\(Base64.encode(Digest.sha256(Array(script.utf8))))'" }

    /// The fields of an answer under this policy.
    ///
    /// Without a referrer, browsers send a form with `Origin: null`, even to the page's own server; that it came from
    /// here is then said by `Sec-Fetch-Site` (Fetch, section 3.1; observed in Chromium).
    func apply(to response: inout Response) {
        response.fields[.contentSecurityPolicy] = text
        response.fields[.xContentTypeOptions] = "nosniff"
        response.fields[.cacheControl] = "no-store"
        response.fields[.referrerPolicy] = "no-referrer"
    }
}

extension Response {
    static func page(
        _ part: PagePart, _ body: [UInt8], under policy: OktaContentPolicy, status: HTTPResponse.Status = .ok
    ) -> Response {
        var response = Response.page(part, body, policy: policy.text, status: status)
        policy.apply(to: &response)
        return response
    }
}

/// An address on the web, reduced to what counts when two are compared: scheme, host, port and path.
///
/// The case of scheme and host, the scheme's own port, query and fragment do not count (RFC 3986 section 6.2, RFC 9449
/// section 4.3).
struct OktaAddress: Hashable, Sendable {
    /// Scheme, host and port as browsers write them in `Origin` (RFC 6454 section 6.2).
    let origin: ExactText
    /// Decoded, since clients escape other characters in a proof than on the wire (observed, pysdk); `/` for none.
    let path: ExactText

    /// Reads an address; `nil` unless it is an absolute one of http or https, without user information.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let port = Self.ports[scheme] else { return nil }
        let rest = text[mark.upperBound...]
        let end = rest.utf8.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)].lowercased()
        if authority.hasSuffix(port) {
            authority.removeLast(port.count)
        } else if authority.last == ":" {
            authority.removeLast()
        }
        guard !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        origin = ExactText("\(scheme)://\(authority)")
        let path = rest[(end ?? rest.endIndex)...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let text = path.isEmpty ? "/" : Substring(path)
        self.path = ExactText(PercentEncoding.decode(text) ?? text)
    }

    private static let ports = ["http": ":80", "https": ":443"]
}

/// Where a redirect URI leads, as far as a browser's policies can say it: an origin, or the scheme of an app.
///
/// Every part is checked against the letters it may have, so it can stand in a header field as it is.
struct OktaRedirectTarget: Sendable, Hashable {
    /// The origin, without a port that is the scheme's own; `nil` for an app's scheme, whose pages have none.
    let origin: String?
    /// What stands for it in a policy.
    let source: String

    /// Fails when a browser would not go there, or perhaps elsewhere than the text seems to say.
    init?(_ redirectURI: String) {
        guard let colon = redirectURI.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let text = redirectURI.utf8[..<colon]
        guard let first = text.first, first.isLetter,
            text.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
        else { return nil }
        let scheme = String(Substring(text)).lowercased()
        guard let ownPort = Self.webPorts[scheme] else {
            guard !Self.localSchemes.contains(scheme) else { return nil }
            (origin, source) = (nil, scheme + ":")
            return
        }
        let rest = redirectURI.utf8[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        guard let host = Host(authority, ownPort: ownPort) else { return nil }
        let origin = "\(scheme)://\(host.text)"
        self.origin = origin
        source = host.isNameable ? origin : scheme + ":"
    }

    private static let webPorts = ["http": 80, "https": 443]
    /// Schemes by which a browser stays on the page or on the machine; no app answers to them.
    private static let localSchemes: Set = [
        "about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source",
    ]

    private struct Host {
        let text: String
        /// Whether the grammar of policies has a form for the host (CSP level 3, section 2.3.1). It has none for IPv6
        /// and underscores: Chromium ignores such a source and says so on its console (observed).
        let isNameable: Bool

        init?(_ authority: Substring.UTF8View, ownPort: Int) {
            // User names are left out, too: what stands before the @ is made to be mistaken for a host.
            let isAddress = authority.first == UInt8(ascii: "[")
            let name: Substring.UTF8View
            if isAddress {
                guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
                name = authority[...end]
                let digits = name.dropFirst().dropLast()
                guard digits.contains(UInt8(ascii: ":")),
                    digits.allSatisfy({ $0.hexadecimalDigit != nil || ":.".utf8.contains($0) })
                else { return nil }
            } else {
                name = authority.prefix { $0 != UInt8(ascii: ":") }
                guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isDigit || "-._".utf8.contains($0) }) else {
                    return nil
                }
            }
            guard let port = Self.port(authority[name.endIndex...]) else { return nil }
            let host = String(Substring(name)).lowercased()
            text = port == 0 || port == ownPort ? host : "\(host):\(port)"
            let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            isNameable = !isAddress && labels.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: "_")) }
        }

        /// The port behind a colon; 0 when there is none, `nil` when it is no port.
        private static func port(_ text: Substring.UTF8View) -> Int? {
            guard let colon = text.first else { return 0 }
            let digits = text.dropFirst()
            guard colon == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
            guard !digits.isEmpty else { return 0 }
            return Int(String(Substring(digits))).flatMap { (1...65535).contains($0) ? $0 : nil }
        }
    }
}
