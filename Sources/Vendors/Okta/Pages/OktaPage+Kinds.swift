import HTTPTypes
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

    fileprivate var members: JSONObject {
        [
            "client": ["id": .string(clientID), "name": .string(clientName)],
            "request": [
                "issuer": .string(issuer), "redirect_uri": JSON(redirectURI), "scopes": .array(scopes.map(JSON.string)),
                "prompt": JSON(prompt), "acr_values": .array(acrValues.map(JSON.string)), "pushed": .bool(isPushed),
            ],
        ]
    }

    /// The rows of the table beside the form.
    fileprivate var rows: JSON {
        let rows = [
            ("client", "Client", clientName), ("client_id", "Client ID", clientID), ("issuer", "Server", issuer),
            ("redirect_uri", "Redirect URI", redirectURI ?? "none, a device polls"),
            ("scopes", "Scopes", scopes.joined(separator: " ")), ("prompt", "Prompt", prompt ?? "not sent"),
            ("acr_values", "ACR values", acrValues.isEmpty ? "not sent" : acrValues.joined(separator: " ")),
            ("pushed", "Pushed", isPushed ? "yes" : "no"),
        ]
        return .array(rows.map { ["name": .string($0), "label": .string($1), "value": .string($2)] })
    }
}

/// The pages of a sign-in. The texts are those of the sign-in widget where it has them (observed).
extension OktaPage {
    /// The hidden fields of a page's form.
    struct Ticket: Sendable {
        var tx: String
        var csrf: String
    }

    /// A page with a form.
    ///
    /// - Parameter fields: the names that the form can send, each once, in order.
    private init(
        _ name: String, _ title: String, _ ticket: Ticket, _ request: OktaPageRequest?, _ own: JSONObject,
        sends fields: [String], _ alert: OktaPageAlert?
    ) {
        self.init(name: name, title: title)
        members = ["tx": .string(ticket.tx), "csrf": .string(ticket.csrf)]
        for member in request?.members ?? [:] { members.append(member.name, member.value) }
        for member in own { members.append(member.name, member.value) }
        members.append("fields", .array((["tx", "csrf"] + fields).map(JSON.string)))
        shown = ["asked": request?.rows ?? []]
        policy = OktaContentPolicy(forms: .own(andThen: request?.target))
        self.alert = alert
    }

    struct User: Sendable {
        var login: String
        var name: String
        var status: String
        /// The types of the second factors.
        var factors: [String] = []

        fileprivate var json: JSON {
            [
                "login": .string(login), "name": .string(name), "status": .string(status),
                "factors": .array(factors.map(JSON.string)),
            ]
        }

        fileprivate var shown: JSON {
            [
                "login": .string(login), "name": .string(name), "status": .string(status),
                "class": status == "ACTIVE" ? "status" : "status other",
                "factors": factors.isEmpty ? .bool(false) : .string(factors.joined(separator: ", ")),
            ]
        }
    }

    /// The fields that keep their text when the page is shown again; a password is not among them.
    struct Entered: Sendable {
        var username = ""
        var subject = ""
        var idClaims = ""
        var accessClaims = ""
    }

    /// The errors that the app can get (OpenID Connect Core section 3.1.2.6, RFC 6749 section 4.1.2.1).
    static let errors = ["access_denied", "login_required", "server_error", "temporarily_unavailable"]

    /// The page on which a user signs in: by login and password, or as one of the existing users.
    ///
    /// The first button is the one that the Return key presses, so the users come after the password.
    ///
    /// - Parameter entered: what the fields begin with: a hint of the app, or what was sent when it was wrong.
    static func signIn(
        _ ticket: Ticket, _ request: OktaPageRequest, users: [User], entered: Entered = Entered(),
        alert: OktaPageAlert? = nil
    ) -> OktaPage {
        var page = OktaPage(
            "sign-in", "Sign In", ticket, request, ["users": .array(users.map(\.json))],
            sends: ["username", "password", "action"] + (users.isEmpty ? [] : ["user"])
                + ["subject", "id_claims", "access_claims", "error"], alert)
        page.shown["choice"] = .bool(!users.isEmpty)
        page.shown["users"] = .array(users.map(\.shown))
        page.shown["entered"] = [
            "username": .string(entered.username), "subject": .string(entered.subject),
            "id_claims": .string(entered.idClaims), "access_claims": .string(entered.accessClaims),
            "isChanged": .bool(!(entered.subject + entered.idClaims + entered.accessClaims).isEmpty),
        ]
        return page
    }

    struct Factor: Sendable {
        var id: String
        var type: String
        /// What the user reads, such as the phone's number.
        var text: String
    }

    struct Push: Sendable {
        var number: String?
    }

    /// The page on which a user proves a second factor.
    static func secondFactor(
        _ ticket: Ticket, _ request: OktaPageRequest, login: String, factors: [Factor], chosen: String?,
        push: Push? = nil, alert: OktaPageAlert? = nil
    ) -> OktaPage {
        let list = factors.map { factor -> JSON in
            ["id": .string(factor.id), "type": .string(factor.type), "text": .string(factor.text)]
        }
        var own: JSONObject = [
            "user": .string(login), "factors": .array(list), "chosen": JSON(chosen), "waiting": .bool(push != nil),
        ]
        if let number = push?.number { own.append("number", .string(number)) }
        var page = OktaPage(
            "second-factor", "Verify it’s you", ticket, request, own,
            sends: ["factor"] + (push == nil ? ["passcode"] : []) + ["action"], alert)
        let options = factors.map { factor -> JSON in
            let isChosen = chosen.map(factor.id.hasSameBytes) ?? false
            return ["id": .string(factor.id), "text": .string(factor.text), "isChosen": .bool(isChosen)]
        }
        page.shown["options"] = .array(options)
        // The page must find out by itself that the push was answered, without a script.
        page.refresh = push == nil ? nil : 5
        return page
    }

    struct Scope: Sendable {
        var name: String
        var text: String
        /// Whether the app gets nothing without it. A browser leaves such a box out of the form, so the server adds it.
        var isRequired = false
    }

    /// The page on which a user lets an app have scopes, or does not.
    static func consent(
        _ ticket: Ticket, _ request: OktaPageRequest, login: String, scopes: [Scope], alert: OktaPageAlert? = nil
    ) -> OktaPage {
        let list = scopes.map { scope -> JSON in
            ["name": .string(scope.name), "text": .string(scope.text), "required": .bool(scope.isRequired)]
        }
        return OktaPage(
            "consent", "\(request.clientName) would like to access:", ticket, request,
            ["user": .string(login), "scopes": .array(list)], sends: ["scope", "action"], alert)
    }

    /// The page on which a user types the code that a device shows.
    static func activate(_ ticket: Ticket, userCode: String = "", alert: OktaPageAlert? = nil) -> OktaPage {
        OktaPage(
            "activate", "Activate your device", ticket, nil, ["user_code": .string(userCode)],
            sends: ["user_code", "action"], alert)
    }

    /// A page after which there is nothing to do here.
    static func done(_ title: String, _ text: String, isSuccess: Bool = true) -> OktaPage {
        var page = OktaPage(name: "done", title: title)
        page.members = ["title": .string(title), "text": .string(text), "success": .bool(isSuccess)]
        page.shown = ["outcome": isSuccess ? "success" : "refusal"]
        return page
    }

    static let deviceActivated = done("Device activated", "Follow the instructions on your device for next steps")
    static let deviceNotActivated = done(
        "Device not activated", "Your device cannot be activated because you did not allow access", isSuccess: false)

    /// The page about a refusal that no redirect may carry to the app. Programs get the refusal itself.
    static func error(
        _ status: HTTPResponse.Status = .badRequest, failure: String, error: String, description: String
    ) -> OktaPage {
        var page = OktaPage(name: "error", title: "The request was refused")
        page.status = status
        page.shown = [
            "status": JSON(status.code), "failure": .string(failure), "code": .string(error),
            "description": .string(description),
        ]
        return page
    }

    // MARK: - The pages that carry an answer to the app

    /// The page by which a browser posts an answer to the app (OAuth 2.0 Form Post Response Mode).
    static func formPost(
        to redirectURI: String, of client: String, _ parameters: [(name: String, value: String)]
    ) -> OktaPage {
        var page = OktaPage(name: "form-post", title: "Back to \(client)")
        page.members = [
            "action": .string(redirectURI),
            "parameters": .object(JSONObject(parameters.map { ($0.name, .string($0.value)) })),
        ]
        let items = parameters.map { item -> JSON in ["name": .string(item.name), "value": .string(item.value)] }
        page.shown = ["client": .string(client), "items": .array(items)]
        // The form is sent without asking the form itself, in which a parameter could be named `submit`.
        page.policy = OktaContentPolicy(
            forms: .client(OktaRedirectTarget(redirectURI)),
            script: "HTMLFormElement.prototype.submit.call(document.forms[0]);")
        return page
    }

    /// The page that posts an answer to the window that opened it, or to the page around it (`okta_post_message`).
    static func postMessage(
        to redirectURI: String, of client: String, _ parameters: [(name: String, value: String)]
    ) -> OktaPage {
        let message = JSON.object(JSONObject(parameters.map { ($0.name, .string($0.value)) }))
        let target = OktaRedirectTarget(redirectURI)
        var page = OktaPage(name: "okta-post-message", title: "Back to \(client)")
        page.members = ["origin": JSON(target?.origin), "message": message]
        page.policy = OktaContentPolicy(forms: .client(nil))
        // ours: without an origin, the answer could not be restricted to its receiver.
        var text = "The answer cannot be posted: the redirect URI has no web origin."
        if let origin = target?.origin {
            text = "The answer was posted to \(origin). You can close this window."
            page.policy.script =
                "(window.opener || window.parent).postMessage(\(message.inScript), \(JSON.string(origin).inScript));"
            page.policy.frames = target
        }
        page.shown = [
            "client": .string(client), "text": .string(text), "outcome": target?.origin == nil ? "refusal" : "success",
        ]
        return page
    }
}

extension JSON {
    /// The value as a literal of JavaScript.
    ///
    /// Brackets and ampersands are escaped, so that no value ends the element or begins a comment of HTML, and so are the
    /// two line separators that are line breaks for old engines.
    fileprivate var inScript: String {
        text.unicodeScalars.reduce(into: "") { literal, scalar in
            switch scalar {
            case "<", ">", "&", "\u{2028}", "\u{2029}": literal += "\\u" + scalar.value.digits(atLeast: 4, radix: 16)
            default: literal.unicodeScalars.append(scalar)
            }
        }
    }
}
