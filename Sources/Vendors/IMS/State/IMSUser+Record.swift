import Emulation
import JSON

/// Users as fixtures and exports list them.
extension IMSUser {
    private static let members = [
        "id", "tenant", "enterprise_id", "activation_id", "email", "first_name", "last_name", "phone", "locale",
        "state", "activation_code", "activation_code_expires_at", "created_at", "activated_at", "deactivated_at",
    ]

    /// Reads users, checked against each other.
    ///
    /// - Parameter known: users of an earlier state, who keep the codes that a list leaves out.
    static func list(_ node: FixtureNode, known: IMSUsers = IMSUsers()) throws(FixtureProblem) -> [IMSUser] {
        var users = IMSUsers()
        try node.forEachRecord { (node) throws(FixtureProblem) in
            let user = try IMSUser(node, known)
            guard users[user.number] == nil else { throw node.problem("another user has the id \(user.id)") }
            if let name = users.conflict(with: user) {
                throw node.problem("another user of tenant \(user.tenant) has the same \(name)")
            }
            users.put(user, isOfFixtures: true)
        }
        return users.all
    }

    private init(_ node: FixtureNode, _ known: IMSUsers) throws(FixtureProblem) {
        let entry = try node.mapping(Self.members)
        let id = try entry.required("id")
        guard let number = Self.number(try id.string()), IMSUsers.numbers.contains(number) else {
            throw id.problem("is no id of the form usr-1")
        }
        let email = try entry.required("email").text()
        self.init(
            number: number, tenant: try entry.required("tenant").text(),
            enterpriseID: try entry["enterprise_id"]?.text(),
            activationID: try entry["activation_id"]?.text() ?? email, email: email,
            created: try entry.required("created_at").moment())
        firstName = try entry["first_name"]?.string() ?? ""
        lastName = try entry["last_name"]?.string() ?? ""
        phone = try entry["phone"]?.string() ?? ""
        locale = try entry["locale"]?.string() ?? "en"
        state = try entry.required("state").choice(of: State.self)
        activated = try entry["activated_at"]?.moment()
        deactivated = try entry["deactivated_at"]?.moment()
        activation =
            try Self.activation(entry) ?? known[number].flatMap { $0.isSamePerson(as: self) ? $0.activation : nil }
        if state == .active {
            activation = nil
            guard enterpriseID != nil else { throw node.problem("user \(self.id) is active without an enterprise_id") }
        }
    }

    private static func activation(_ entry: FixtureMapping) throws(FixtureProblem) -> Activation? {
        guard let code = entry["activation_code"] else { return nil }
        return Activation(code: try code.text(), expires: try entry.required("activation_code_expires_at").keptMoment())
    }

    private func isSamePerson(as other: IMSUser) -> Bool {
        tenant == other.tenant && activationID == other.activationID && email == other.email
    }

    /// The user as a record that can be read again; what is empty is left out.
    ///
    /// - Parameter withSecrets: whether the code is in it, which lets anybody activate the user.
    func record(withSecrets: Bool) -> JSON {
        var record: JSONObject = ["id": .string(id), "tenant": .string(tenant)]
        record["enterprise_id"] = enterpriseID.map(JSON.string)
        record["activation_id"] = .string(activationID)
        record["email"] = .string(email)
        for (name, value) in [("first_name", firstName), ("last_name", lastName), ("phone", phone)] where value != "" {
            record[name] = .string(value)
        }
        record["locale"] = .string(locale)
        record["state"] = .string(state.rawValue)
        if withSecrets, let activation {
            record["activation_code"] = .string(activation.code)
            record["activation_code_expires_at"] = activation.expires.json
        }
        record["created_at"] = created.json
        record["activated_at"] = activated?.json
        record["deactivated_at"] = deactivated?.json
        return .object(record)
    }
}

extension FixtureNode {
    /// The text here, which is not empty.
    fileprivate func text() throws(FixtureProblem) -> String {
        let text = try string()
        guard (1...IMSBody.longestText).contains(text.unicodeScalars.count) else {
            throw problem("a text of 1 to \(IMSBody.longestText) characters is expected")
        }
        return text
    }
}
