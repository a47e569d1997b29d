import JSON

/// What an app asked for when it sent its user here.
struct OktaPageRequest: Sendable {
    var clientID: String
    var clientName: String
    /// The server that was asked.
    var issuer: String
    /// Where the answer goes; `nil` for a device, which polls for it.
    var redirectURI: String?
    var scopes: [String]
    var prompt: String?
    var acrValues: [String] = []
    /// Whether the request came from the app's server (RFC 9126) and not through the browser.
    var isPushed = false

    /// Where the browser may go from the page.
    var target: OktaRedirectTarget? { redirectURI.flatMap(OktaRedirectTarget.init) }

    var client: JSON { ["id": .string(clientID), "name": .string(clientName)] }

    var json: JSON {
        [
            "issuer": .string(issuer), "redirect_uri": JSON(redirectURI), "scopes": .array(scopes.map(JSON.string)),
            "prompt": JSON(prompt), "acr_values": .array(acrValues.map(JSON.string)), "pushed": .bool(isPushed),
        ]
    }

    /// The table beside the form.
    var html: OktaHTML {
        .tag("aside", ["aria-labelledby": "asked"]) {
            OktaHTML.tag("h2", ["id": "asked"], "What the app asked for")
            OktaHTML.tag("dl") {
                row("client", "Client", clientName)
                row("client_id", "Client ID", clientID)
                row("issuer", "Server", issuer)
                row("redirect_uri", "Redirect URI", redirectURI ?? "none, a device polls")
                row("scopes", "Scopes", scopes.joined(separator: " "))
                row("prompt", "Prompt", prompt ?? "not sent")
                row("acr_values", "ACR values", acrValues.isEmpty ? "not sent" : acrValues.joined(separator: " "))
                row("pushed", "Pushed", isPushed ? "yes" : "no")
            }
        }
    }

    private func row(_ name: String, _ label: String, _ value: String) -> OktaHTML {
        .tag("div") {
            OktaHTML.tag("dt", label)
            OktaHTML.tag("dd", ["data-asked": name], value)
        }
    }
}
