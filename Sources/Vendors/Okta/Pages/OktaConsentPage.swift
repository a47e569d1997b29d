import JSON

/// The page on which a user lets an app have scopes, or does not. The texts are those of the sign-in widget (observed).
struct OktaConsentPage: OktaPage {
    var tx: String
    var csrf: String
    var request: OktaPageRequest?
    /// The user who signs in.
    var login: String
    var scopes: [Scope]
    var alert: OktaPageAlert?

    struct Scope: Sendable {
        var name: String
        /// What the user reads.
        var text: String
        /// Whether the app gets nothing without it.
        var isRequired = false
    }

    var name: String { "consent" }
    var title: String { "\(request?.clientName ?? "The app") would like to access:" }

    var heading: [OktaHTML] {
        [
            .tag("bdi", ["data-client": request?.clientID], request?.clientName ?? "The app"),
            .text(" would like to access:"),
        ]
    }

    var form: OktaForm? {
        let boxes = scopes.map { scope -> OktaForm.Part in
            let note = scope.isRequired ? "\(scope.name), required" : scope.name
            return .control(
                .checkbox(
                    .init(
                        name: "scope", value: scope.name, label: scope.text, note: note, isFixed: scope.isRequired)))
        }
        return OktaForm(
            hidden: [("tx", tx), ("csrf", csrf)],
            parts: boxes + [
                .note("You are signed in as \(login)."),
                .row([
                    .button(.init(value: "allow", label: "Allow Access", isMain: true)),
                    .button(.init(value: "deny", label: "Don't Allow")),
                ]),
            ])
    }

    var json: JSON {
        let scopes = scopes.map { scope -> JSON in
            ["name": .string(scope.name), "text": .string(scope.text), "required": .bool(scope.isRequired)]
        }
        return members([("user", .string(login)), ("scopes", .array(scopes))])
    }
}
