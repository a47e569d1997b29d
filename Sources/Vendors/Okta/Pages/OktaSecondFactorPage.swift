import JSON

/// The page on which a user proves a second factor.
struct OktaSecondFactorPage: OktaPage {
    var tx: String
    var csrf: String
    var request: OktaPageRequest?
    /// The user who signs in.
    var login: String
    var factors: [Factor]
    var chosen: String?
    /// The push that the user has not answered yet.
    var push: Push?
    var alert: OktaPageAlert?

    struct Factor: Sendable {
        var id: String
        var type: String
        /// What the user reads, such as the phone's number.
        var text: String
    }

    /// A push on its way.
    struct Push: Sendable {
        /// The number to pick on the device.
        var number: String?
    }

    var name: String { "second-factor" }
    var title: String { "Verify it’s you" }
    /// The page must find out by itself that the push was answered, without a script.
    var refresh: Int? { push == nil ? nil : 5 }

    var introduction: [OktaHTML] {
        let who: OktaHTML = .tag("p", ["class": "lead"]) {
            "Signing in as "
            OktaHTML.tag("bdi", ["data-user": login], login)
        }
        guard let push else { return [who] }
        return [
            who,
            .tag("div", ["role": "status", "class": "wait", "data-waiting": "push"]) {
                OktaHTML.tag("p", "A push is on its way. This page looks for the answer every 5 seconds.")
                if let number = push.number {
                    OktaHTML.tag("p") {
                        "On the device, pick "
                        OktaHTML.tag("strong", ["data-number": number], number)
                    }
                }
            },
        ]
    }

    var form: OktaForm? {
        OktaForm(
            hidden: [("tx", tx), ("csrf", csrf)],
            parts: [
                .control(
                    .choice(
                        .init(
                            name: "factor", label: "Factor", options: factors.map { ($0.id, $0.text) }, chosen: chosen))
                )
            ] + (push == nil ? code : waiting))
    }

    private var code: [OktaForm.Part] {
        [
            .control(
                .entry(
                    .init(
                        name: "passcode", label: "Code", kind: .oneTimeCode,
                        hint: "For a push or a text message, press Send first.", isFirst: true))),
            .row([
                .button(.init(value: "verify", label: "Verify", isMain: true)),
                .button(.init(value: "send", label: "Send")),
                .button(.init(value: "cancel", label: "Cancel")),
            ]),
        ]
    }

    /// No field to type into: it would be emptied every time the page is fetched again.
    private var waiting: [OktaForm.Part] {
        [
            .row([
                .button(.init(value: "verify", label: "Look now", isMain: true)),
                .button(.init(value: "send", label: "Send")),
                .button(.init(value: "cancel", label: "Cancel")),
            ])
        ]
    }

    var json: JSON {
        let factors = factors.map { factor -> JSON in
            ["id": .string(factor.id), "type": .string(factor.type), "text": .string(factor.text)]
        }
        var own: [(String, JSON)] = [
            ("user", .string(login)), ("factors", .array(factors)), ("chosen", JSON(chosen)),
            ("waiting", .bool(push != nil)),
        ]
        if let number = push?.number { own.append(("number", .string(number))) }
        return members(own)
    }
}
