import HTTPTypes
import JSON

@testable import Okta

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

    var signIn: OktaSignInPage {
        OktaSignInPage(
            tx: text, csrf: text, request: request,
            users: [
                OktaPageUser(login: text, name: text, status: text, factors: [text, text]),
                OktaPageUser(login: text, name: text, status: "ACTIVE"),
            ],
            alert: alert, entered: .init(username: text, subject: text, idClaims: text, accessClaims: text))
    }

    var secondFactor: OktaSecondFactorPage {
        OktaSecondFactorPage(
            tx: text, csrf: text, request: request, login: text,
            factors: [.init(id: text, type: text, text: text), .init(id: "f2", type: "push", text: "Push")],
            chosen: text, alert: alert)
    }

    var push: OktaSecondFactorPage {
        var page = secondFactor
        page.alert = nil
        page.push = .init(number: text)
        return page
    }

    var consent: OktaConsentPage {
        OktaConsentPage(
            tx: text, csrf: text, request: request, login: text,
            scopes: [.init(name: text, text: text, isRequired: true), .init(name: text, text: text)], alert: alert)
    }

    var activate: OktaActivatePage { OktaActivatePage(tx: text, csrf: text, userCode: text, alert: alert) }
    var done: OktaDonePage { OktaDonePage(title: text, text: text) }
    var error: OktaErrorPage { OktaErrorPage(failure: text, error: text, description: text) }

    var formPost: OktaFormPostPage {
        OktaFormPostPage(
            redirectURI: redirectURI, clientName: text, parameters: [("code", text), ("state", text)])
    }

    var postMessage: OktaPostMessagePage {
        OktaPostMessagePage(
            redirectURI: redirectURI, clientName: text, parameters: [("code", text), ("state", text)])
    }

    var all: [any OktaPage] {
        [signIn, secondFactor, push, consent, activate, done, error, formPost, postMessage]
    }

    /// Texts that would be markup, script, another attribute or another field if they could.
    static let hostile = [
        "<script>alert(1)</script>", "\" onfocus=\"alert(1)", "' onfocus='alert(1)",
        "</title></textarea></script><img src=x>",
        "&lt;b&gt;&quot;&#39;&amp;amp;", "--><!--<script>", "a\r\nb\nc\rd", "\nfirst", "\u{2028}\u{2029}\u{202E}x",
        "\\\"\\u003c\\",
        "']]>`${x}`", "\u{1}\u{7F}\u{85}é😀", "javascript:alert(1)", "; script-src *",
    ]
}
