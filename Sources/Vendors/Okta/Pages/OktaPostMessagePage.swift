import JSON

/// The page that posts an answer to the window that opened it, or to the page around it (`okta_post_message`).
struct OktaPostMessagePage: OktaPage {
    var redirectURI: String
    var clientName: String
    /// Names and values of the answer, in order.
    var parameters: [(name: String, value: String)]

    var name: String { "okta-post-message" }
    var title: String { "Back to \(clientName)" }
    var heading: [OktaHTML] { [.text("Back to "), .tag("bdi", clientName)] }

    private var message: JSON { .object(JSONObject(parameters.map { ($0.name, .string($0.value)) })) }
    private var origin: String? { OktaRedirectTarget(redirectURI)?.origin }

    var policy: OktaContentPolicy {
        let target = OktaRedirectTarget(redirectURI)
        guard let origin else { return OktaContentPolicy(forms: .client(nil)) }
        return OktaContentPolicy(
            forms: .client(nil),
            script: "(window.opener || window.parent).postMessage(\(message), \(.string(origin)));", frames: target)
    }

    var introduction: [OktaHTML] {
        // ours: without an origin there is nobody to whom only the answer may go.
        let text =
            origin.map { "The answer was posted to \($0). You can close this window." }
            ?? "The answer cannot be posted: the redirect URI has no web origin."
        return [.tag("p", ["class": "lead", "data-outcome": origin == nil ? "refusal" : "success"], text)]
    }

    var json: JSON { members([("origin", JSON(origin)), ("message", message)]) }
}
