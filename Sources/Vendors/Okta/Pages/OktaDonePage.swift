import JSON

/// A page after which there is nothing to do here. The texts about devices are those of the sign-in widget (observed).
struct OktaDonePage: OktaPage {
    var title: String
    var text: String
    /// Whether the user got what they came for.
    var isSuccess = true

    var name: String { "done" }

    var introduction: [OktaHTML] {
        [.tag("p", ["class": "lead", "data-outcome": isSuccess ? "success" : "refusal"], text)]
    }

    var json: JSON {
        members([("title", .string(title)), ("text", .string(text)), ("success", .bool(isSuccess))])
    }

    static let deviceActivated = OktaDonePage(
        title: "Device activated", text: "Follow the instructions on your device for next steps")
    static let deviceNotActivated = OktaDonePage(
        title: "Device not activated",
        text: "Your device cannot be activated because you did not allow access", isSuccess: false)
}
