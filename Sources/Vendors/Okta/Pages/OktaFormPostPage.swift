import JSON

/// The page by which a browser posts an answer to the app (OAuth 2.0 Form Post Response Mode).
struct OktaFormPostPage: OktaPage {
    var redirectURI: String
    var clientName: String
    /// Names and values of the answer, in order.
    var parameters: [(name: String, value: String)]

    var name: String { "form-post" }
    var title: String { "Back to \(clientName)" }
    var heading: [OktaHTML] { [.text("Back to "), .tag("bdi", clientName)] }

    /// The form is sent without asking the form itself, in which a parameter could be named `submit`.
    private static let script: OktaScript = "HTMLFormElement.prototype.submit.call(document.forms[0]);"

    var policy: OktaContentPolicy {
        OktaContentPolicy(forms: .client(OktaRedirectTarget(redirectURI)), script: Self.script)
    }

    var introduction: [OktaHTML] {
        [
            .tag("form", ["method": "post", "action": redirectURI]) {
                for item in parameters {
                    OktaHTML.tag("input", ["type": "hidden", "name": item.name, "value": item.value])
                }
                OktaHTML.tag("noscript") {
                    OktaHTML.tag("p", "Without scripts, the answer needs your hand.")
                    OktaHTML.tag("button", ["class": "main"], "Continue")
                }
            }
        ]
    }

    var json: JSON {
        members([
            ("action", .string(redirectURI)),
            ("parameters", .object(JSONObject(parameters.map { ($0.name, .string($0.value)) }))),
        ])
    }
}
