import JSON

/// The page on which a user signs in: by login and password, or as one of the users there are.
///
/// The first button is the one that the Return key presses, so the users come after the password.
struct OktaSignInPage: OktaPage {
    var tx: String
    var csrf: String
    var request: OktaPageRequest?
    var users: [OktaPageUser]
    var alert: OktaPageAlert?
    /// What the fields begin with: a hint of the app, or what was sent when it was wrong.
    var entered = Entered()

    /// The fields that keep their text when the page is there again; a password is not among them.
    struct Entered: Sendable {
        var username = ""
        var subject = ""
        var idClaims = ""
        var accessClaims = ""
    }

    var name: String { "sign-in" }
    var title: String { "Sign In" }

    var introduction: [OktaHTML] {
        guard let request else { return [] }
        return [
            .tag("p", ["class": "lead"]) {
                "to continue to "
                OktaHTML.tag("bdi", ["data-client": request.clientID], request.clientName)
            }
        ]
    }

    var form: OktaForm? {
        let hidden = [(name: "tx", value: tx), (name: "csrf", value: csrf)]
        return OktaForm(hidden: hidden, parts: credentials + choice + [changes, refusal])
    }

    private var credentials: [OktaForm.Part] {
        [
            .control(.entry(.init(name: "username", label: "Username", kind: .username, value: entered.username))),
            .control(.entry(.init(name: "password", label: "Password", kind: .password))),
            .control(.button(.init(value: "sign-in", label: "Sign In", isMain: true))),
        ]
    }

    private var choice: [OktaForm.Part] {
        users.isEmpty ? [] : [.group("or sign in at once as", users.map { .control(.user($0)) })]
    }

    private var changes: OktaForm.Part {
        let isOpen = !(entered.subject + entered.idClaims + entered.accessClaims).isEmpty
        return .folded(
            "Change what the tokens say", isOpen: isOpen,
            [
                .control(
                    .entry(
                        .init(
                            name: "subject", label: "Subject", value: entered.subject,
                            hint: "Signs a guest in with this sub, without a password."))),
                .control(
                    .entry(
                        .init(
                            name: "id_claims", label: "Claims of the ID token", kind: .json, value: entered.idClaims,
                            hint: #"A JSON object, such as {"role":"admin"}; for this sign-in alone."#))),
                .control(
                    .entry(
                        .init(
                            name: "access_claims", label: "Claims of the access token", kind: .json,
                            value: entered.accessClaims))),
            ])
    }

    private var refusal: OktaForm.Part {
        .folded(
            "Refuse the sign-in", isOpen: false,
            [
                .control(
                    .choice(
                        .init(
                            name: "error", label: "Error that the app gets",
                            options: Self.errors.map { ($0, $0) }, chosen: Self.errors.first))),
                .control(.button(.init(value: "refuse", label: "Refuse"))),
            ])
    }

    /// The errors that the app can get (OpenID Connect Core section 3.1.2.6, RFC 6749 section 4.1.2.1).
    static let errors = ["access_denied", "login_required", "server_error", "temporarily_unavailable"]

    var json: JSON { members([("users", .array(users.map(\.json)))]) }
}
