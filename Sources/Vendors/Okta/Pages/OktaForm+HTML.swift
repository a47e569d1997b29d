extension OktaForm {
    /// The markup; an alert marks the fields that it is about.
    func html(_ alert: OktaPageAlert?) -> OktaHTML {
        .tag("form", ["method": "post", "accept-charset": "utf-8"]) {
            for item in hidden { OktaHTML.tag("input", ["type": "hidden", "name": item.name, "value": item.value]) }
            for part in parts { part.html(alert) }
        }
    }
}

extension OktaForm.Part {
    fileprivate func html(_ alert: OktaPageAlert?) -> OktaHTML {
        switch self {
        case .control(let control): control.html(alert)
        case .note(let text): .tag("p", ["class": "note"], text)
        case .group(let name, let parts):
            .tag("fieldset") {
                OktaHTML.tag("legend", name)
                for part in parts { part.html(alert) }
            }
        case .folded(let name, let isOpen, let parts):
            .tag("details", ["open": OktaHTML.flag(isOpen)]) {
                OktaHTML.tag("summary", name)
                for part in parts { part.html(alert) }
            }
        case .row(let controls): .tag("div", ["class": "row"]) { for control in controls { control.html(alert) } }
        }
    }
}

extension OktaControl {
    fileprivate func html(_ alert: OktaPageAlert?) -> OktaHTML {
        switch self {
        case .entry(let entry): entry.html(alert)
        case .choice(let choice): choice.html
        case .checkbox(let checkbox): checkbox.html
        case .button(let button):
            .tag(
                "button", ["name": button.name, "value": button.value, "class": button.isMain ? "main" : nil],
                button.label)
        case .user(let user): user.button
        }
    }
}

extension OktaControl.Entry {
    /// The field under its label; a name occurs once on a page, so it is the id, too.
    fileprivate func html(_ alert: OktaPageAlert?) -> OktaHTML {
        let isWrong = alert?.fields.contains { $0.hasSameBytes(as: name) } ?? false
        let hintID = hint.map { _ in "\(name)-hint" }
        let notes = [isWrong ? OktaPageAlert.id : nil, hintID].compactMap { $0 }
        let isText = kind == .text || kind == .username || kind == .json
        let attributes: KeyValuePairs<StaticString, String?> = [
            "type": kind == .json ? nil : kind == .password ? "password" : "text", "id": name, "name": name,
            "value": kind == .json ? nil : value, "rows": kind == .json ? "3" : nil, "autocomplete": completion,
            "inputmode": kind == .oneTimeCode ? "numeric" : nil,
            "autocapitalize": kind == .userCode ? "characters" : isText ? "none" : nil,
            "spellcheck": kind == .password ? nil : "false", "autofocus": OktaHTML.flag(isFirst),
            "aria-invalid": isWrong ? "true" : nil,
            "aria-describedby": notes.isEmpty ? nil : notes.joined(separator: " "),
        ]
        return .tag("div", ["class": "field"]) {
            OktaHTML.tag("label", ["for": name], label)
            kind == .json ? OktaHTML.tag("textarea", attributes, value) : OktaHTML.tag("input", attributes)
            if let hint { OktaHTML.tag("p", ["class": "note", "id": hintID], hint) }
        }
    }

    private var completion: String {
        switch kind {
        case .username: "username"
        case .password: "current-password"
        case .oneTimeCode: "one-time-code"
        case .text, .userCode, .json: "off"
        }
    }
}

extension OktaControl.Choice {
    fileprivate var html: OktaHTML {
        .tag("div", ["class": "field"]) {
            OktaHTML.tag("label", ["for": name], label)
            OktaHTML.tag("select", ["id": name, "name": name]) {
                for option in options {
                    let isChosen = chosen.map(option.value.hasSameBytes) ?? false
                    OktaHTML.tag(
                        "option", ["value": option.value, "selected": OktaHTML.flag(isChosen)], option.text)
                }
            }
        }
    }
}

extension OktaControl.Checkbox {
    fileprivate var html: OktaHTML {
        .tag("label", ["class": "check"]) {
            OktaHTML.tag(
                "input",
                [
                    "type": "checkbox", "name": name, "value": value, "checked": "",
                    "disabled": OktaHTML.flag(isFixed),
                ])
            OktaHTML.tag("span") {
                OktaHTML.tag("bdi", label)
                if let note { OktaHTML.tag("small", note) }
            }
        }
    }
}
