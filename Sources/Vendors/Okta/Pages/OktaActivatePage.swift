import JSON

/// The page on which a user types the code that a device shows. The texts are those of the sign-in widget (observed).
struct OktaActivatePage: OktaPage {
    var tx: String
    var csrf: String
    /// What the field begins with.
    var userCode = ""
    var alert: OktaPageAlert?

    var name: String { "activate" }
    var title: String { "Activate your device" }

    var introduction: [OktaHTML] {
        [.tag("p", ["class": "lead"], "Follow the instructions on your device to get an activation code")]
    }

    var form: OktaForm? {
        OktaForm(
            hidden: [("tx", tx), ("csrf", csrf)],
            parts: [
                .control(
                    .entry(
                        .init(
                            name: "user_code", label: "Activation Code", kind: .userCode, value: userCode,
                            isFirst: true))),
                .control(.button(.init(value: "next", label: "Next", isMain: true))),
            ])
    }

    var json: JSON { members([("user_code", .string(userCode))]) }

    /// The alert about a code that nobody waits for. A client that asked for JSON gets the OAuth error.
    static let invalidCode = OktaPageAlert(
        failure: "user-code-invalid", text: "Invalid code. Try again.", fields: ["user_code"],
        answer: [
            "error": "invalid_user_code", "error_description": "The user code is invalid or has expired.",
        ])
}
