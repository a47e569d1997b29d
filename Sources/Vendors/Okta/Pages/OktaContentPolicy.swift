import HTTPTypes
import Tokens
import Wire

/// What a page may load, run and send, and who may show it in a frame; all else is forbidden.
struct OktaContentPolicy: Sendable {
    /// Where the forms may lead.
    var forms = Forms.own(andThen: nil)
    /// The only script that runs, exactly as it stands between the tags.
    var script: String?
    /// The only origin whose pages may show the page in a frame.
    var frames: OktaRedirectTarget?

    /// Where forms may lead.
    enum Forms: Sendable {
        /// To this server, and from here to the client: browsers apply the rule to redirects, too (observed,
        /// w3c/webappsec#482).
        case own(andThen: OktaRedirectTarget?)
        /// To the client at once; without a target, nowhere.
        case client(OktaRedirectTarget?)
    }

    /// The value of `Content-Security-Policy`.
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
    static func source(of script: String) -> String {
        "'sha256-\(Base64.encode(Digest.sha256(Array(script.utf8))))'"
    }

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

extension HTTPField.Name {
    static let referrerPolicy = Self("Referrer-Policy") ?? .contentSecurityPolicy
}
