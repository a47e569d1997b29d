import Emulation
import JSON

/// What people at the organization can do with users and their groups (all ours).
extension Okta {
    static let whoseUser = ActionMember.required("user", "id or login of the user")
    static let whichServer = ActionMember.optional(
        "server", "id of the authorization server; by default the first custom one")
    private static let groupList = "ids or names of groups, besides Everyone"

    /// Clients and redirect URIs, for an app's own tests.
    static let clientActions = [
        action(
            "add-client", about: "Registers a client, which stays until a reset.",
            members: [
                .optional("id", "the client id; by default a new one"),
                .optional("name", "the name that pages show; by default the id"),
                .optional("application_type", "web, native, browser or service; by default browser"),
                .optional("secret", "the secret; by default none, for a public client"),
                .optional("redirect_uris", "a list of redirect URIs; by default none"),
                .optional("post_logout_redirect_uris", "a list of addresses after logout; by default none"),
                .optional("grants", "a list of grant types; by default authorization_code and refresh_token"),
                .optional("pkce_required", "whether codes need PKCE; by default true for native and browser"),
            ], body: addClient),
        action(
            "add-redirect-uri", about: "Registers a further redirect URI of a client.",
            members: [
                .required("client", "id of the client"),
                .required("uri", "the redirect URI"),
                .optional("logout", "true for an address after logout"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            var client = try state.client(named: try call.required("client"))
            let (uri, isAfterLogout) = try call.read { ($0.text("uri", atLeast: 1), $0.bool("logout") ?? false) }
            let uris = isAfterLogout ? \OktaClient.postLogoutURIs : \OktaClient.redirectURIs
            if !client[keyPath: uris].contains(exactly: uri) {
                client[keyPath: uris].append(uri)
                state.clients.change(client.key) { $0 = client }
            }
            return client.json(.whole)
        },
    ]

    private static func addClient(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        var client = try call.read { members in
            var client = OktaClient()
            client.id = members.optionalText("id", atLeast: 1, atMost: 255) ?? ""
            client.name = members.optionalText("name", atMost: 255) ?? ""
            client.type = members.choice("application_type") ?? .browser
            client.secret = members.optionalText("secret", atLeast: 1, atMost: 255)
            client.redirectURIs = members.texts("redirect_uris") ?? []
            client.postLogoutURIs = members.texts("post_logout_redirect_uris") ?? []
            client.grants = members.texts("grants") ?? ["authorization_code", "refresh_token"]
            client.requiresPKCE = members.bool("pkce_required") ?? [.native, .browser].contains(client.type)
            return client
        }
        if let complaint = OktaGrantType.complaint(about: client.grants) { throw ControlRefusal(complaint) }
        guard state.clients[client.id] == nil else { throw ControlRefusal("another client has the id \(client.id)") }
        if client.id.isEmpty { client.id = call.identifiers.oktaID("0oa") }
        if client.name.isEmpty { client.name = client.id }
        client.methods = client.secret == nil ? [.none] : [.secretBasic, .secretPost]
        state.clients.add(client, within: OktaState.shortBound)
        return client.json(.whole)
    }

    static let userActions = [
        action(
            "add-user", about: "Adds a user.",
            members: [
                .required("login", "what the user signs in with"),
                .optional("password", "the password; by default none"),
                .optional("first_name", "the first name; by default none"),
                .optional("last_name", "the last name; by default none"),
                .optional("email", "the email address; by default the login"),
                .optional("status", statusNames + "; by default ACTIVE"),
                .optional("groups", groupList + "; by default none"),
            ], body: addUser),
        action(
            "remove-user", about: "Removes a user with factors, sessions, tokens and consents.", members: [whoseUser]
        ) { (call, state) throws(ControlRefusal) in
            let user = try user(call, state)
            state.remove(user)
            return ["id": .string(user.id), "login": .string(user.login)]
        },
        action(
            "set-status", about: "Moves a user to a status, whatever the one before; DEPROVISIONED ends all tokens.",
            members: [whoseUser, .required("status", statusNames)]
        ) { (call, state) throws(ControlRefusal) in
            try change(call, &state) { (user) throws(ControlRefusal) in
                let status = try call.read { $0.choice("status", of: OktaUser.Status.self, isRequired: true) }
                user.set(status ?? .active, at: call.moment)
            }
        },
        action(
            "set-password", about: "Sets a user's password; a user who needed a new one is then active.",
            members: [whoseUser, .required("password", "the new password")]
        ) { (call, state) throws(ControlRefusal) in
            try change(call, &state) { (user) throws(ControlRefusal) in
                user.setPassword(try call.read { $0.text("password", atLeast: 1) }, at: call.moment)
            }
        },
        action(
            "set-groups", about: "Puts a user into groups; tokens show them from the next one on.",
            members: [whoseUser, .required("groups", groupList)]
        ) { (call, state) throws(ControlRefusal) in
            let known = state.groups
            return try change(call, &state) { (user) throws(ControlRefusal) in
                user.groups = try groups(call, known)
                user.lastUpdated = call.moment
            }
        },
        action(
            "add-group", about: "Adds a group, into which add-user and set-groups put users.",
            members: [.required("name", "the name"), .optional("id", "the id; by default a new one")]
        ) { (call, state) throws(ControlRefusal) in
            let (name, id) = try call.read {
                ($0.text("name", atLeast: 1, atMost: 255), $0.optionalText("id", atMost: 255))
            }
            let group = OktaGroup(id: id ?? call.identifiers.oktaID("00g"), name: name, created: call.moment)
            if let other = state.groups[group.id] ?? state.groups[named: ExactText(name)] {
                throw ControlRefusal("there is the group \(other.id), \(other.name), already")
            }
            state.groups.add(group, within: OktaState.shortBound)
            return group.json(.whole)
        },
        action(
            "end-sessions", about: "Ends a user's sessions in browsers.",
            members: [whoseUser, .optional("tokens", "true to end all tokens too")]
        ) { (call, state) throws(ControlRefusal) in
            let user = try user(call, state)
            let endsTokens = try call.read { $0.bool("tokens") }
            state.endSessions(of: user.id)
            if endsTokens == true { state.revokeGrants(of: user.id) }
            return shown(user)
        },
    ]

    private static let statusNames = OktaUser.Status.allCases.map(\.rawValue).joined(separator: ", ")

    static func user(_ call: Action, _ state: State) throws(ControlRefusal) -> OktaUser {
        try state.user(named: try call.required("user"))
    }

    private static func change(
        _ call: Action, _ state: inout State, _ change: (inout OktaUser) throws(ControlRefusal) -> Void
    ) throws(ControlRefusal) -> JSON {
        var user = try user(call, state)
        try change(&user)
        state.change(user)
        return shown(user)
    }

    private static func addUser(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let groups = try groups(call, state.groups)
        var user = try call.read { members in
            var user = OktaUser()
            user.login = members.text("login", atLeast: 1, atMost: 255)
            user.password = members.optionalText("password", atLeast: 1, atMost: 255)
            user.firstName = members.optionalText("first_name", atMost: 255) ?? ""
            user.lastName = members.optionalText("last_name", atMost: 255) ?? ""
            user.email = members.optionalText("email", atMost: 255)
            user.status = members.choice("status") ?? .active
            return user
        }
        guard state.user(user.login) == nil else { throw ControlRefusal("another user signs in as \(user.login)") }
        (user.id, user.groups) = (call.identifiers.oktaID("00u"), groups)
        (user.created, user.lastUpdated, user.statusChanged) = (call.moment, call.moment, call.moment)
        user.activated = user.status == .staged ? nil : call.moment
        user.passwordChanged = user.password == nil ? nil : call.moment
        state.add(user)
        return shown(user)
    }

    /// The ids of the groups that an action names, after Everyone.
    private static func groups(_ call: Action, _ known: RecordTable<OktaGroup>) throws(ControlRefusal) -> [String] {
        var ids = known.everyone
        for name in try call.read({ $0.texts("groups") }) ?? [] {
            guard let group = known[name] ?? known[named: ExactText(name)] else {
                throw ControlRefusal("no group has the id or name \(name)\(known.hint(to: name, by: \.name))")
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

    // MARK: - Actions on users' factors, as on a phone or at a help desk (all ours)

    private static let whichFactor = ActionMember.optional(
        "factor", "id or type of the factor; by default the user's first one that can have a code")

    static let factorActions = [
        action(
            "enroll-factor", about: "Enrolls an active factor for a user.",
            members: [
                whoseUser, .required("type", kindNames),
                .optional("secret", "of one-time codes, in base32; by default a new one"),
                .optional("phone", "of sms and call; by default +15550199"),
                .optional("question", "of question: its id; by default disliked_food"),
                .optional("answer", "of question; by default not-a-secret-answer"),
                .optional("public_key", "of push, as a JWK; by default none, so that only answer-push answers"),
                .optional("number_challenge", "of push: the number to choose on the device"),
            ], body: addFactor),
        action(
            "remove-factor", about: "Removes a factor from its user.",
            members: [.required("factor", "id of the factor")]
        ) { (call, state) throws(ControlRefusal) in
            let factor = try state.factor(named: try call.required("factor"))
            state.remove(factor)
            return shown(factor)
        },
        action(
            "answer-push", about: "Answers the newest challenge of a user's devices, as the user would there.",
            members: [whoseUser, .optional("result", "APPROVE or DENY; APPROVE")]
        ) { (call, state) throws(ControlRefusal) in
            let user = try user(call, state)
            let answer = try call.read { $0.choice("result", of: OktaTransaction.Answer.self) } ?? .approve
            let pending = state.factors(of: user.id).flatMap { state.pending($0, at: call.moment) }
            let newest = try ControlRefusal.require(
                pending.max(by: { $0.number < $1.number }),
                "no challenge to a device of \(user.login) waits for an answer")
            state.answer(newest, answer)
            return [
                "transaction": .string(newest.id), "factor": .string(newest.factorID),
                "result": .string(answer.rawValue),
            ]
        },
        action(
            "factor-code", about: "Shows the code that a user's app shows now, or that a phone got last.",
            members: [whoseUser, whichFactor], reading: tellCode),
    ]

    private static let kindNames = OktaFactor.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    private static func shown(_ factor: OktaFactor) -> JSON {
        ["factor": .string(factor.id), "type": .string(factor.kind.rawValue), "user": .string(factor.userID)]
    }

    private static func addFactor(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
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
            factor.question = members.optionalText("question", atMost: 255)
            factor.answer = members.optionalText("answer", atLeast: 1, atMost: 255)
            factor.publicKey = members.value("public_key", expecting: OktaFactor.deviceKeyForm, OktaFactor.deviceKey)
            factor.numberChallenge = members.optionalText("number_challenge", atMost: 255)
            return factor
        }
        factor.id = factor.kind.newID(identifiers)
        (factor.userID, factor.created) = (user.id, call.moment)
        switch factor.kind {
        case .totp: factor.secret = factor.secret ?? OktaTOTP.newSecret(identifiers)
        case .sms, .call: factor.phone = factor.phone ?? "+15550199"
        case .question:
            factor.question = factor.question ?? OktaQuestion.known[0].id
            factor.answer = factor.answer ?? "not-a-secret-answer"
        case .push: break
        }
        state.add(factor)
        return shown(factor)
    }

    private static func tellCode(_ call: Action, _ state: State) throws(ControlRefusal) -> JSON {
        let user = try user(call, state)
        let name = try call.text("factor")
        let factors = state.factors(of: user.id).filter { factor in
            name.map { factor.id.hasSameBytes(as: $0) || factor.kind.rawValue.hasSameBytes(as: $0) } ?? true
        }
        for factor in factors {
            let code = factor.sentCode ?? factor.secret.flatMap(OktaTOTP.init)?.code(at: OktaTOTP.step(at: call.moment))
            guard let code else { continue }
            return ["factor": .string(factor.id), "type": .string(factor.kind.rawValue), "code": .string(code)]
        }
        throw ControlRefusal(
            "\(user.login) has no factor\(name.map { " \($0)" } ?? "") with a code; sms and call have one when it was sent"
        )
    }

    // MARK: - Consents that a user gives or revokes elsewhere (all ours)

    private static let place = [whoseUser, .required("client", "id of the client"), whichServer]

    static let consentActions = [
        action(
            "consent", about: "Records a user's consent to scopes for a client.",
            members: place + [.required("scopes", "the scopes, as a list, or separated by spaces")]
        ) { (call, state) throws(ControlRefusal) in
            var consent = try consent(call, state)
            let server = call.vendor.accounts.server(consent.serverID)
            for scope in try scopes(call) {
                try ControlRefusal.require(
                    server?.scope(scope) != nil || OktaServerMetadata.scopes.contains(scope),
                    "server \(consent.serverID) has no scope", scope, among: server?.scopes.map(\.name) ?? [])
                if !consent.scopes.contains(scope) { consent.scopes.append(scope) }
            }
            state.consents.add(consent, within: OktaState.bound)
            return shown(consent)
        },
        action("revoke-consent", about: "Revokes a user's consent to a client's scopes.", members: place) {
            (call, state) throws(ControlRefusal) in
            let consent = try consent(call, state)
            try ControlRefusal.require(
                state.consents.remove(consent.key) != nil,
                "the user has not consented to scopes of \(consent.serverID) for \(consent.clientID)")
            return shown(consent)
        },
    ]

    /// The consent that an action is about; without scopes if there is none yet.
    private static func consent(_ call: Action, _ state: State) throws(ControlRefusal) -> OktaConsent {
        let user = try user(call, state)
        let client = try state.client(named: try call.required("client"))
        let server = try call.vendor.accounts.server(named: try call.text("server"))
        let consent = OktaConsent(userID: user.id, clientID: client.id, serverID: server.id)
        return state.consents[consent.key] ?? consent
    }

    private static func scopes(_ call: Action) throws(ControlRefusal) -> [String] {
        try call.read { members in
            members.value("scopes", expecting: "a list of scopes, or their names separated by spaces") { value in
                if let text = value.string { return text.split(separator: " ").map(String.init) }
                let names = value.array?.compactMap(\.string)
                return names?.count == value.array?.count ? names : nil
            }
        } ?? []
    }

    private static func shown(_ consent: OktaConsent) -> JSON {
        [
            "user": .string(consent.userID), "client": .string(consent.clientID), "server": .string(consent.serverID),
            "scopes": .array(consent.scopes.map(JSON.string)),
        ]
    }
}

// MARK: - What mint requests and actions name

extension OktaState {
    func client(named id: String) throws(ControlRefusal) -> OktaClient {
        try ControlRefusal.require(clients[id], "no client has the id", id, among: clients.all.map(\.id))
    }

    func factor(named id: String) throws(ControlRefusal) -> OktaFactor {
        try ControlRefusal.require(factors[id], "no factor has the id", id, among: factors.all.prefix(20).map(\.id))
    }

    func user(named name: String) throws(ControlRefusal) -> OktaUser {
        try ControlRefusal.require(
            user(name), "no user has the id or login", name, among: users.all.prefix(20).map(\.login))
    }
}
