import Emulation
import JSON

/// What people at the organization can do with users and their groups (all ours).
extension Okta {
    static let whoseUser = ActionMember("user", "id or login of the user", isRequired: true)
    private static let groupList = "ids or names of groups, besides Everyone"

    static let userActions: [VendorAction<Okta>] = [
        VendorAction(
            "add-user", about: "Adds a user.",
            members: [
                ActionMember("login", "what the user signs in with", isRequired: true),
                ActionMember("password", "the password; none"), ActionMember("first_name", "the first name; none"),
                ActionMember("last_name", "the last name; none"), ActionMember("email", "the email address; the login"),
                ActionMember("status", statusNames + "; ACTIVE"), ActionMember("groups", groupList + "; none"),
            ], body: addUser),
        VendorAction(
            "remove-user", about: "Removes a user with factors, sessions, tokens and consents.", members: [whoseUser]
        ) { (call, state) throws(ActionRefusal) in
            let user = try user(call, state)
            state.remove(user)
            return ["id": .string(user.id), "login": .string(user.login)]
        },
        VendorAction(
            "set-status", about: "Moves a user to a status, whatever the one before; DEPROVISIONED ends all tokens.",
            members: [whoseUser, ActionMember("status", statusNames, isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            try change(call, &state) { (user) throws(ActionRefusal) in
                let status = try call.read { $0.choice("status", of: OktaUser.Status.self, isRequired: true) }
                user.set(status ?? .active, at: call.moment)
            }
        },
        VendorAction(
            "set-password",
            about: "Gives a user a password; one who needed a new password is then active.",
            members: [whoseUser, ActionMember("password", "the new password", isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            try change(call, &state) { (user) throws(ActionRefusal) in
                user.password = try call.read { $0.text("password", atLeast: 1) }
                (user.passwordChanged, user.lastUpdated) = (call.moment, call.moment)
                if [.passwordExpired, .recovery, .provisioned].contains(user.status) {
                    user.set(.active, at: call.moment)
                }
            }
        },
        VendorAction(
            "set-groups", about: "Puts a user into groups; tokens show them from the next one on.",
            members: [whoseUser, ActionMember("groups", groupList, isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            try change(call, &state) { (user) throws(ActionRefusal) in
                user.groups = try groups(call)
                user.lastUpdated = call.moment
            }
        },
        VendorAction(
            "end-sessions", about: "Ends a user's sessions in browsers.",
            members: [whoseUser, ActionMember("tokens", "true to end all tokens too")]
        ) { (call, state) throws(ActionRefusal) in
            let user = try user(call, state)
            let endsTokens = try call.read { $0.bool("tokens") }
            state.endSessions(of: user.id)
            if endsTokens == true { state.revokeGrants(of: user.id) }
            return shown(user)
        },
    ]

    private static let statusNames = OktaUser.Status.allCases.map(\.rawValue).joined(separator: ", ")

    /// The user whom an action is about.
    static func user(_ call: ActionCall<Okta>, _ state: OktaState) throws(ActionRefusal) -> OktaUser {
        let name = try call.required("user")
        if let user = state.user(name) { return user }
        let hint = Nearest.hint(to: name, among: state.users.all.prefix(20).map(\.login))
        throw ActionRefusal("no user has the id or login \(name)\(hint)")
    }

    private static func change(
        _ call: ActionCall<Okta>, _ state: inout OktaState,
        _ change: (inout OktaUser) throws(ActionRefusal) -> Void
    ) throws(ActionRefusal) -> JSON {
        var user = try user(call, state)
        try change(&user)
        state.change(user)
        return shown(user)
    }

    @Sendable private static func addUser(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        let groups = try groups(call)
        let user = try call.read { members in
            var user = OktaUser()
            user.login = members.text("login", atLeast: 1, atMost: 255)
            user.password = members.optionalText("password", atLeast: 1, atMost: 255)
            user.firstName = members.optionalText("first_name", atMost: 255) ?? ""
            user.lastName = members.optionalText("last_name", atMost: 255) ?? ""
            user.email = members.optionalText("email", atMost: 255)
            user.status = members.choice("status") ?? .active
            return user
        }
        guard state.user(user.login) == nil else { throw ActionRefusal("another user signs in as \(user.login)") }
        var added = user
        added.id = call.identifiers.oktaID("00u")
        (added.created, added.lastUpdated, added.statusChanged) = (call.moment, call.moment, call.moment)
        added.activated = added.status == .staged ? nil : call.moment
        added.passwordChanged = added.password == nil ? nil : call.moment
        added.groups = groups
        state.add(added)
        return shown(added)
    }

    /// The ids of the groups that an action names, after Everyone.
    private static func groups(_ call: ActionCall<Okta>) throws(ActionRefusal) -> [String] {
        let accounts = call.vendor.accounts
        var ids = accounts.everyone
        for name in try call.read({ $0.texts("groups") }) ?? [] {
            guard let group = accounts.groups.first(where: { $0.id.hasSameBytes(as: name) || $0.name == name }) else {
                let hint = Nearest.hint(to: name, among: accounts.groups.map(\.name))
                throw ActionRefusal("no group has the id or name \(name)\(hint)")
            }
            if !ids.contains(group.id) { ids.append(group.id) }
        }
        return ids
    }

    private static func shown(_ user: OktaUser) -> JSON {
        [
            "id": .string(user.id), "login": .string(user.login), "status": .string(user.status.rawValue),
            "groups": .array(user.groups.map(JSON.string)),
        ]
    }
}

extension OktaAccounts {
    /// The id of the group that all users are in, if there is one. Source: docs:concepts/user-profiles.
    var everyone: [String] { groups.first { $0.name == "Everyone" }.map { [$0.id] } ?? [] }
}

/// What can happen with users' factors: on a phone, or at a help desk (all ours).
extension Okta {
    private static let whichFactor = ActionMember(
        "factor", "id or type of the factor; the user's first one that can have a code")

    static let factorActions: [VendorAction<Okta>] = [
        VendorAction(
            "enroll-factor", about: "Gives a user an active factor.",
            members: [
                whoseUser, ActionMember("type", kindNames, isRequired: true),
                ActionMember("secret", "of one-time codes, in base32; a new one"),
                ActionMember("phone", "of sms and call; +15550199"),
                ActionMember("public_key", "of push, as a JWK; none, so that only answer-push answers"),
                ActionMember("number_challenge", "of push: the number to choose on the device"),
            ], body: addFactor),
        VendorAction(
            "remove-factor", about: "Takes a factor from its user.",
            members: [ActionMember("factor", "id of the factor", isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            let id = try call.required("factor")
            guard let factor = state.factors[id] else {
                throw ActionRefusal("no factor has the id \(id)\(Nearest.hint(to: id, among: known(state)))")
            }
            state.remove(factor)
            return shown(factor)
        },
        VendorAction(
            "answer-push", about: "Answers the newest challenge of a user's devices, as the user would there.",
            members: [whoseUser, ActionMember("result", "APPROVE or DENY; APPROVE")]
        ) { (call, state) throws(ActionRefusal) in
            let user = try user(call, state)
            let answer = try call.read { $0.choice("result", of: OktaTransaction.Answer.self) } ?? .approve
            let pending = state.factors(of: user.id).flatMap { state.pending($0, at: call.moment) }
            guard let newest = pending.max(by: { $0.number < $1.number }) else {
                throw ActionRefusal("no challenge to a device of \(user.login) waits for an answer")
            }
            state.answer(newest, answer)
            return [
                "transaction": .string(newest.id), "factor": .string(newest.factorID),
                "result": .string(answer.rawValue),
            ]
        },
        VendorAction(
            "factor-code", about: "Tells the code that a user's app shows now, or that a phone got last.",
            members: [whoseUser, whichFactor], reading: tellCode),
    ]

    private static let kindNames = OktaFactor.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    private static func known(_ state: OktaState) -> [String] { state.factors.all.prefix(20).map(\.id) }

    private static func shown(_ factor: OktaFactor) -> JSON {
        ["factor": .string(factor.id), "type": .string(factor.kind.rawValue), "user": .string(factor.userID)]
    }

    @Sendable private static func addFactor(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        let user = try user(call, state)
        let identifiers = call.identifiers
        var factor = try call.read { members in
            var factor = OktaFactor()
            factor.kind = members.choice("type", isRequired: true) ?? .totp
            factor.secret = members.optionalText("secret", atMost: 255)
            if let secret = factor.secret, OktaTOTP(secret: secret) == nil {
                members.refuse("secret", "is not text in base32; expected A to Z and 2 to 7")
            }
            factor.phone = members.optionalText("phone", atMost: 255)
            factor.publicKey = members.value(
                "public_key", expecting: OktaFactor.deviceKeyForm, OktaFactor.deviceKey)
            factor.numberChallenge = members.optionalText("number_challenge", atMost: 255)
            return factor
        }
        factor.id = factor.kind.newID(identifiers)
        (factor.userID, factor.created) = (user.id, call.moment)
        switch factor.kind {
        case .totp: factor.secret = factor.secret ?? OktaTOTP.newSecret(identifiers)
        case .sms, .call: factor.phone = factor.phone ?? "+15550199"
        case .push: break
        }
        state.add(factor)
        return shown(factor)
    }

    @Sendable private static func tellCode(
        _ call: ActionCall<Okta>, _ state: OktaState
    ) throws(ActionRefusal) -> JSON {
        let user = try user(call, state)
        let name = try call.text("factor")
        let factors = state.factors(of: user.id).filter { factor in
            name.map { factor.id.hasSameBytes(as: $0) || factor.kind.rawValue.hasSameBytes(as: $0) } ?? true
        }
        for factor in factors {
            let code = factor.sentCode ?? factor.secret.flatMap(OktaTOTP.init)?.code(at: OktaTOTP.step(at: call.moment))
            guard let code else { continue }
            return [
                "factor": .string(factor.id), "type": .string(factor.kind.rawValue), "code": .string(code),
            ]
        }
        throw ActionRefusal(
            "\(user.login) has no factor\(name.map { " \($0)" } ?? "") with a code; sms and call have one when it was sent"
        )
    }
}
