import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    /// Where a browser says a request comes from (Fetch Metadata Request Headers, section 2.3).
    fileprivate static let fetchSite = Self("Sec-Fetch-Site") ?? .origin
}

/// Tells forms of our own pages from forged ones: a page's form carries a value made of a cookie, which no other site
/// can read.
struct OktaPageSeal {
    private static let cookieName = "understudy_tx"

    /// The value of the browser's cookie.
    private let cookie: String

    /// The seal of the browser that sent a request; a browser without a cookie gets one.
    init(_ request: Request, _ identifiers: IdentifierSource) {
        cookie = request.cookie(Self.cookieName) ?? identifiers.opaque(ofLength: 43)
    }

    private init(cookie: String) { self.cookie = cookie }

    /// Whether the browser has been shown a page.
    static func isKnown(to request: Request) -> Bool { request.cookie(cookieName) != nil }

    var setCookie: String { "\(Self.cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Lax" }

    /// What the form of a page for this browser sends along.
    func ticket(for tx: String) -> OktaPage.Ticket { OktaPage.Ticket(tx: tx, csrf: csrf(for: tx)) }

    private func csrf(for tx: String) -> String {
        Base64URL.encode(Digest.sha256(Array("understudy csrf \(tx) \(cookie)".utf8)))
    }

    /// Checks that a form was filled in on a page of ours, by the browser that the page was for.
    ///
    /// - Throws: ``OktaFailure/loginForged``
    static func check(_ parameters: OktaParameters, of call: OktaCall) throws(OktaRefusal) {
        let cookie = try OktaRefusal.require(
            call.request.cookie(cookieName), .loginForged,
            "found no cookie \(cookieName); expected the one that comes with the page")
        guard let tx = parameters["tx"], let csrf = parameters["csrf"],
            csrf.hasSameBytes(as: OktaPageSeal(cookie: cookie).csrf(for: tx))
        else {
            throw Refusal(
                .loginForged,
                because: "found a csrf that does not fit tx and the cookie \(cookieName); expected that of the page")
        }
        if let stranger = foreignOrigin(of: call) {
            throw Refusal(.loginForged, because: "found a form from \(stranger); expected \(call.arrival.base)")
        }
    }

    /// Where a form was sent from, if not from here.
    private static func foreignOrigin(of call: OktaCall) -> String? {
        guard let origin = call.request.fields[.origin] else { return nil }
        if origin == "null" {
            // Browsers hide the origin of pages without a referrer, and say by another field that it is ours.
            let site = call.request.fields[.fetchSite]
            return site == nil || site == "same-origin" ? nil : "a page that hides its origin (\(site ?? ""))"
        }
        let sandbox = call.arrival.sandbox
        let own = sandbox.publicBase.addresses(of: sandbox.name).compactMap { OktaRedirectTarget($0)?.origin }
        let asked = call.request.authority.map { ["http://\($0)", "https://\($0)"] } ?? []
        return (own + asked).contains { $0.hasSameBytes(as: origin.lowercased()) } ? nil : origin
    }
}
