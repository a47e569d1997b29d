import Emulation
import JSON

/// Users as the management API creates, changes and shows them.
extension Okta {
    static func createUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let isActivated = try call.query.read { $0.flag("activate", or: true) }
        var (user, password, groups) = try call.json { OktaUser().changed(by: &$0) }
        if let unknown = groups.first(where: { state.groups[$0] == nil }) {
            let hint = state.groups.hint(to: unknown, by: \.id)
            throw Okta.refusal("groupIds", "has \(unknown), and no group has that id\(hint)")
        }
        let address = user.login.split(separator: "@", omittingEmptySubsequences: false)
        guard address.count == 2, !address.contains(where: \.isEmpty) else {
            throw Okta.refusal("login", "is \(user.login); expected the form of an email address")
        }
        (user.id, user.created, user.statusChanged) = (call.identifiers.oktaID("00u"), call.moment, call.moment)
        // All users are in it. Source: docs:concepts/user-profiles.
        let everyone = state.groups.everyone
        user.groups = everyone + groups.filter { !everyone.contains($0) }
        try call.complete(&user, password, in: state)
        user.status = user.password == nil ? .provisioned : .active
        if isActivated { user.activated = call.moment } else { user.status = .staged }
        state.add(user)
        return .json(user.json(at: call.arrival.base))
    }

    static func getUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try call.user(in: state).json(at: call.arrival.base))
    }

    /// Changes members of a user, or with PUT the user as a whole.
    static func updateUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        var body = try call.jsonFields().object
        if call.request.method == .post {
            var profile = user.shownProfile
            for member in body["profile"]?.object ?? [:] { profile[member.name] = member.value }
            body["profile"] = .object(profile)
        }
        var (changed, password, _) = try Fields<Okta>(body, notedBy: call.arrival).read { user.changed(by: &$0) }
        try call.complete(&changed, password, in: state)
        state.change(changed)
        return .json(changed.json(at: call.arrival.base))
    }

    /// Deactivates a user; one who is deactivated is deleted.
    static func deleteUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        if user.status == .deprovisioned {
            state.remove(user)
        } else {
            state.take(.deactivate, for: user, call.identifiers, at: call.moment)
        }
        return .empty()
    }

    /// Lists users, without deactivated ones unless there is a condition. Source: api, with its 200 users a page.
    static func listUsers(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        try list(
            state.users.all, atMost: 200, call, hiding: { $0.status == .deprovisioned },
            words: { [$0.firstName, $0.lastName, $0.address] }, show: { $0.json(at: $1, inList: true) })
    }

    static func listUserGroups(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (user, base) = (try call.user(in: state), call.arrival.base)
        return .json(.array(user.groups.compactMap { state.groups[$0]?.json(at: base) }))
    }

    /// Changes what a user signs in with. Source: api; answers pysdk, recorded.
    static func changeCredentials(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try call.user(in: state)
        let name = call.parameters["step"]
        let statuses: [OktaUser.Status] =
            [.active, .recovery, .staged] + (name == "change_recovery_question" ? [] : [.passwordExpired])
        try Refused.require(
            statuses.contains(user.status), .userOperationForbidden,
            "\(user.login) is \(user.status.rawValue); expected \(statuses.map(\.rawValue).joined(separator: ", "))")
        switch name {
        case "change_password":
            let passwords = try call.json { body in
                ["oldPassword", "newPassword"].map { body.nested($0, isRequired: true) { $0.text("value") } ?? "" }
            }
            try user.requirePassword(passwords[0])
            call.setPassword(passwords[1], of: &user)
        case "change_recovery_question":
            let (password, recovery) = try call.json { body in
                (
                    body.nested("password", isRequired: true) { $0.text("value") } ?? "",
                    OktaUser.recovery(&body, isRequired: true)
                )
            }
            try user.requirePassword(password, as: "password")
            (user.recoveryQuestion, user.recoveryAnswer) = (recovery?.question, recovery?.answer)
            user.lastUpdated = call.moment
        case "forgot_password":
            // With the answer to the question a new password is set at once. Source: api; answers pysdk, recorded.
            let (new, answer) = try call.json(isOptional: true) { body in
                let new = body.nested("password") { $0.text("value") }
                return (new, body.nested("recovery_question", isRequired: new != nil) { $0.text("answer") })
            }
            if let new, let answer {
                try user.requireAnswer(answer)
                call.setPassword(new, of: &user)
                break
            }
            let sendsEmail = try call.query.read { $0.flag("sendEmail", or: true) }
            let changed = state.take(.resetPassword, for: user, call.identifiers, at: call.moment)
            let address = "\(call.arrival.base)/signin/reset-password/\(changed.recoveryToken ?? "")"
            return .json(sendsEmail ? [:] : ["resetPasswordUrl": .string(address)])
        default:
            throw Refused(
                .routeNotFound, because: "found credentials/\(name); expected one of \(OktaUser.credentialSteps)")
        }
        state.change(user)
        var shown = user.credentials
        shown["emails"] = nil
        return .json(.object(shown))
    }
}

extension OktaCall {
    /// Sets a password, and notes one that Okta's default policy refuses: those of examples say that they are no secrets.
    /// Source: api.
    mutating func setPassword(_ password: String, of user: inout OktaUser) {
        user.setPassword(password, at: moment)
        let separators: Set<Character> = [",", ".", "_", "#", "@", "-"]
        let (parts, text) = (user.login.lowercased().split { separators.contains($0) }, password.lowercased())
        let faults = [
            ("fewer than eight characters", password.count < 8),
            ("no uppercase letter", !password.contains(where: \.isUppercase)),
            ("no lowercase letter", !password.contains(where: \.isLowercase)),
            ("no digit", !password.contains(where: \.isNumber)),
            ("a part of the login", parts.contains { $0.count >= 4 && text.firstRange(of: $0) != nil }),
        ].filter(\.1).map(\.0)
        if faults.isEmpty { return }
        findings.note(
            "password-policy", expected: .text("what Okta's default policy for passwords takes"),
            found: .text("a password with \(faults.joined(separator: ", "))"), source: "api")
    }

    /// Completes a user who was described, and whose login must be free.
    fileprivate mutating func complete(
        _ user: inout OktaUser, _ password: String?, in state: OktaState
    ) throws(Refused) {
        let other = state.user(user.login)
        try Refused.require(
            other == nil || other?.id.hasSameBytes(as: user.id) == true, .userExists,
            "another user signs in as \(user.login); expected an unused login")
        user.lastUpdated = moment
        if let password { setPassword(password, of: &user) }
    }

    func user(in state: OktaState) throws(Refused) -> OktaUser {
        let name = parameters["user"]
        return try Refused.require(
            state.user(name), .userNotFound, with: ["id": .string(name)],
            "no user has the id or login \(name)\(state.users.hint(to: name, by: \.login))")
    }
}

extension OktaUser {
    func requireActive(orFail failure: OktaFailure) throws(Okta.Refused) {
        try Okta.Refused.require(isActive, failure, "\(login) is \(status.rawValue); expected ACTIVE")
    }

    func requirePassword(
        _ text: String, orFail failure: OktaFailure = .credentialsRefused, as member: String = "oldPassword"
    ) throws(Okta.Refused) {
        try Okta.Refused.require(
            password?.hasSameBytes(as: text) == true, failure, with: ["member": .string(member)],
            "the password is not that of \(login); expected the user's own")
    }

    func requireAnswer(_ text: String) throws(Okta.Refused) {
        try Okta.Refused.require(
            recoveryAnswer?.hasSameBytes(as: text) == true, .recoveryAnswerWrong,
            "found another answer than that of \(login); expected the one to the question")
    }

    /// The user as a request describes one. Source: api; by default Okta requires four members of a profile.
    func changed(by body: inout FieldReader) -> (user: OktaUser, password: String?, groups: [String]) {
        var user = self
        _ = body.nested("profile", isRequired: true) { profile in
            user.login = profile.text("login")
            (user.firstName, user.lastName) = (profile.text("firstName"), profile.text("lastName"))
            let email = profile.text("email")
            user.email = email.hasSameBytes(as: user.login) ? nil : email
            let known: Set = ["login", "email", "firstName", "lastName"]
            let others = profile.whole.filter { !known.contains($0.name) && !$0.value.isNull }
            user.profile = .object(JSONObject(others.map { ($0.name, $0.value) }))
        }
        let (password, recovery) =
            body.nested("credentials") { credentials in
                (credentials.nested("password") { $0.text("value") }, Self.recovery(&credentials))
            } ?? (nil, nil)
        if let recovery { (user.recoveryQuestion, user.recoveryAnswer) = (recovery.question, recovery.answer) }
        return (user, password, body.texts("groupIds") ?? [])
    }

    fileprivate static func recovery(
        _ body: inout FieldReader, isRequired: Bool = false
    ) -> (question: String, answer: String)? {
        body.nested("recovery_question", isRequired: isRequired) { ($0.text("question"), $0.text("answer")) }
    }

    /// The user as the management API shows it. Source: api; recorded answers (pysdk), in which lists have no other
    /// links than the first.
    func json(at base: String, inList: Bool = false) -> JSON {
        [
            "id": .string(id), "status": .string(status.rawValue), "created": .string(created.shown),
            "activated": JSON(activated?.shown), "statusChanged": JSON(statusChanged?.shown),
            "lastLogin": JSON(lastLogin?.shown), "lastUpdated": .string(updated.shown),
            "passwordChanged": JSON(passwordChanged?.shown), "type": ["id": "otyunderstudyuser001"],
            "profile": .object(shownProfile), "credentials": .object(credentials),
            "_links": .object(links(at: base, inList)),
        ]
    }

    fileprivate var shownProfile: JSONObject {
        var shown: JSONObject = [
            "firstName": .string(firstName), "lastName": .string(lastName), "mobilePhone": .null, "secondEmail": .null,
            "login": .string(login), "email": .string(address),
        ]
        for member in profile.object ?? [:] { shown[member.name] = member.value }
        return shown
    }

    fileprivate var credentials: JSONObject {
        var shown: JSONObject = password == nil ? [:] : ["password": [:]]
        shown.append("emails", [["value": .string(address), "status": "VERIFIED", "type": "PRIMARY"]])
        if let recoveryQuestion { shown.append("recovery_question", ["question": .string(recoveryQuestion)]) }
        shown.append("provider", ["type": "OKTA", "name": "OKTA"])
        return shown
    }

    /// Where a user can be led. Source: recorded answers (pysdk) for STAGED, ACTIVE and SUSPENDED; others inferred.
    private var steps: String {
        switch status {
        case .staged: "activate reset_factors"
        case .provisioned: "reactivate reset_password reset_factors deactivate"
        case .active: "suspend \(Self.usual)"
        case .passwordExpired: Self.usual.replacing(" change_recovery_question", with: "")
        case .recovery: Self.usual
        case .lockedOut: "unlock reset_password reset_factors deactivate"
        case .suspended: "unsuspend reset_factors deactivate"
        case .deprovisioned: "activate"
        }
    }

    fileprivate static let credentialSteps = "forgot_password change_password change_recovery_question"
    private static let usual = "\(credentialSteps) reset_password expire_password reset_factors deactivate"

    private func links(at base: String, _ inList: Bool) -> JSONObject {
        let address = "\(base)/api/v1/users/\(id)"
        var links: JSONObject = ["self": ["href": .string(address)]]
        if inList { return links }
        for (name, kind) in [("schema", "schemas/user/osc"), ("type", "types/user/oty")] {
            links.append(name, ["href": .string("\(base)/api/v1/meta/\(kind)understudyuser001")])
        }
        for step in steps.split(separator: " ") {
            let words = step.split(separator: "_")
            let name = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            let path = Self.credentialSteps.contains(step) ? "credentials" : "lifecycle"
            links.append(String(name), ["href": .string("\(address)/\(path)/\(step)"), "method": "POST"])
        }
        return links
    }
}

extension IdentifierSource {
    /// An id of 20 characters that begins with the prefix of its kind.
    func oktaID(_ prefix: String) -> String { prefix + oktaID(ofLength: 20 - prefix.utf8.count) }
}

/// Steps in the lifecycle of users, and the end of their sessions.
extension Okta {
    static func takeLifecycleStep(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let name = call.parameters["step"]
        guard let step = OktaLifecycleStep(rawValue: name) else {
            let hint = Nearest.hint(to: name, among: OktaLifecycleStep.allCases.map(\.rawValue))
            throw Refused(.routeNotFound, because: "no step is called \(name)\(hint)")
        }
        let sendsEmail = try call.query.read { $0.flag("sendEmail", or: true) }
        let user = try call.user(in: state)
        guard step.statuses.contains(user.status) else {
            // Source: clients that look for the first one (codes leaves it out).
            let cause = step == .suspend ? "Cannot suspend a user that is not active" : "Cannot \(name) this user"
            throw Refused(
                step.refusal(for: user), ["cause": .string(cause)],
                because: "\(user.login) is \(user.status.rawValue); expected "
                    + "\(step.statuses.map(\.rawValue).joined(separator: ", ")) for \(name)")
        }
        let changed = state.take(step, for: user, call.identifiers, at: call.moment)
        let (base, token) = (call.arrival.base, changed.recoveryToken ?? "")
        return switch step {
        case .expirePassword: .json(changed.json(at: base))
        case .expireWithTemporary: .json(["tempPassword": JSON(changed.password)])
        case .resetPassword where !sendsEmail:
            .json(["resetPasswordUrl": .string("\(base)/reset_password/\(token)")])
        case .activate where !sendsEmail, .reactivate where !sendsEmail:
            .json(["activationUrl": .string("\(base)/tokens/\(token)/verify"), "activationToken": .string(token)])
        default: .json([:])
        }
    }

    static func endUserSessions(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let endsTokens = try call.query.read { $0.flag("oauthTokens", or: false) }
        let user = try call.user(in: state)
        state.endSessions(of: user.id)
        if endsTokens { state.revokeGrants(of: user.id) }
        return .empty()
    }

    /// Ends everything that a user has, at the request of a security product. Source: api; of the forms of a subject
    /// identifier RFC 9493 section 3.2.
    static func revokeGlobally(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let subject = try call.json { $0.object("sub_id", isRequired: true) } ?? [:]
        let format = subject["format"]?.string ?? ""
        let name: String?
        switch format {
        case "opaque": name = subject["id"]?.string
        case "iss_sub":
            let issuer = subject["iss"]?.string ?? ""
            try Refused.require(
                call.arrival.sandbox.addresses.contains(exactly: issuer), .subIDInvalid,
                "iss is “\(issuer)”; expected \(call.arrival.base)")
            name = subject["sub"]?.string
        default: throw Refused(.subIDInvalid, because: "format is “\(format)”; expected opaque or iss_sub")
        }
        let user = try Refused.require(
            name.flatMap(state.user), .subIDInvalid,
            "sub_id names no user: \(name ?? "it has no id"); expected the id of a user")
        state.endSessions(of: user.id)
        state.revokeGrants(of: user.id)
        return .empty()
    }
}
