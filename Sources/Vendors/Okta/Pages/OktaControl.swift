enum OktaControl: Sendable {
    case entry(Entry)
    case choice(Choice)
    case checkbox(Checkbox)
    case button(Button)
    case user(OktaPageUser)

    /// The name under which the control sends its value.
    var name: String {
        switch self {
        case .entry(let entry): entry.name
        case .choice(let choice): choice.name
        case .checkbox(let checkbox): checkbox.name
        case .button(let button): button.name
        case .user: "user"
        }
    }

    struct Entry: Sendable {
        var name: String
        var label: String
        var kind = Kind.text
        var value = ""
        var hint: String?
        /// Whether the cursor is there at once, on pages where nothing stands before it.
        var isFirst = false

        /// What is typed, which decides the keyboard, what is filled in and what is corrected.
        enum Kind: Sendable {
            case text
            case username
            case password
            case oneTimeCode
            case userCode
            case json
        }
    }

    /// One of several values.
    struct Choice: Sendable {
        var name: String
        var label: String
        var options: [(value: String, text: String)]
        var chosen: String?
    }

    struct Checkbox: Sendable {
        var name: String
        var value: String
        var label: String
        /// A quiet second line.
        var note: String?
        /// Whether it is sent whatever the user does. A browser leaves such a box out of the form, so the server adds
        /// its value.
        var isFixed = false
    }

    struct Button: Sendable {
        var name = "action"
        var value: String
        var label: String
        /// Whether the page is there for this button, which the Return key presses, too, when it is the first.
        var isMain = false
    }
}
