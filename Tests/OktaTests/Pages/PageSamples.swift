import Emulation
import HTTPTypes
import Support
import Wire

@testable import Okta

extension OktaPage {
    private static let pages = Result {
        try OktaPages(VendorFixtures(store: Repository.fixtures, folder: "okta"))
    }

    /// The answer to a request for that path.
    func response(at path: String, as format: OktaPageFormat = .html) throws -> Response {
        let accept = format == .html ? "text/html" : "application/json"
        return try Self.pages.get().response(self, to: Request(method: .get, target: path, fields: ["Accept": accept]))
    }

    static func style() throws -> Response { try pages.get().style }
}

/// Every page there is, with one text in all the places that a value can take.
struct PageSamples {
    var text: String
    var redirectURI = "https://app.example.com/cb"

    var request: OktaPageRequest {
        OktaPageRequest(
            clientID: text, clientName: text, issuer: text, redirectURI: redirectURI, scopes: [text, text],
            prompt: text, acrValues: [text], isPushed: true)
    }
    var alert: OktaPageAlert {
        OktaPageAlert(failure: text, text: text, fields: ["username", "passcode", "user_code"])
    }

    private var ticket: OktaPage.Ticket { .init(tx: text, csrf: text) }

    var signIn: OktaPage {
        .signIn(
            ticket, request,
            users: [
                .init(login: text, name: text, status: text, factors: [text, text]),
                .init(login: text, name: text, status: "ACTIVE"),
            ],
            entered: .init(username: text, subject: text, idClaims: text, accessClaims: text), alert: alert)
    }

    private func secondFactor(_ push: OktaPage.Push?, _ alert: OktaPageAlert?) -> OktaPage {
        .secondFactor(
            ticket, request, login: text,
            factors: [.init(id: text, type: text, text: text), .init(id: "f2", type: "push", text: "Push")],
            chosen: text, push: push, alert: alert)
    }

    var secondFactor: OktaPage { secondFactor(nil, alert) }
    var push: OktaPage { secondFactor(.init(number: text), nil) }

    var consent: OktaPage {
        .consent(
            ticket, request, login: text,
            scopes: [.init(name: text, text: text, isRequired: true), .init(name: text, text: text)], alert: alert)
    }

    var activate: OktaPage { .activate(ticket, userCode: text, alert: alert) }
    var done: OktaPage { .done(text, text) }
    var error: OktaPage { .error(failure: text, error: text, description: text) }
    var formPost: OktaPage { .formPost(to: redirectURI, of: text, [("code", text), ("state", text)]) }
    var postMessage: OktaPage { .postMessage(to: redirectURI, of: text, [("code", text), ("state", text)]) }

    var all: [OktaPage] { [signIn, secondFactor, push, consent, activate, done, error, formPost, postMessage] }

    /// Texts that would be markup, script, another attribute or another field if they could.
    static let hostile = [
        "<script>alert(1)</script>", "\" onfocus=\"alert(1)", "' onfocus='alert(1)",
        "</title></textarea></script><img src=x>",
        "&lt;b&gt;&quot;&#39;&amp;amp;", "--><!--<script>", "a\r\nb\nc\rd", "\nfirst", "\u{2028}\u{2029}\u{202E}x",
        "\\\"\\u003c\\",
        "']]>`${x}`", "\u{1}\u{7F}\u{85}é😀", "javascript:alert(1)", "; script-src *",
    ]
}
