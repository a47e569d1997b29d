import JSON

struct OktaPageUser: Sendable {
    var login: String
    var name: String
    var status: String
    /// The types of the second factors.
    var factors: [String] = []

    var button: OktaHTML {
        .tag(
            "button",
            ["name": "user", "value": login, "class": "user", "data-user": login, "data-status": status]
        ) {
            OktaHTML.tag("strong", name)
            OktaHTML.tag("span", ["class": status == "ACTIVE" ? "status" : "status other"], status)
            OktaHTML.tag("small", login)
            if !factors.isEmpty { OktaHTML.tag("small", "Factors: " + factors.joined(separator: ", ")) }
        }
    }

    var json: JSON {
        [
            "login": .string(login), "name": .string(name), "status": .string(status),
            "factors": .array(factors.map(JSON.string)),
        ]
    }
}
