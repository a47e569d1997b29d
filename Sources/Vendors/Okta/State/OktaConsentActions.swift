import Emulation
import JSON

/// Consents that a user gives or takes back elsewhere (all ours).
extension Okta {
    private static let place = [
        whoseUser, ActionMember("client", "id of the client", isRequired: true),
        ActionMember("server", "id of the authorization server; the first custom one"),
    ]

    static let consentActions: [VendorAction<Okta>] = [
        VendorAction(
            "consent", about: "Lets a user have agreed to scopes for a client.",
            members: place + [ActionMember("scopes", "the scopes, as a list, or separated by spaces", isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            var consent = try consent(call, state)
            let server = call.vendor.accounts.server(consent.serverID)
            for scope in try scopes(call) {
                guard server?.scope(scope) != nil || OktaServerMetadata.scopes.contains(scope) else {
                    let hint = Nearest.hint(to: scope, among: server?.scopes.map(\.name) ?? [])
                    throw ActionRefusal("server \(consent.serverID) has no scope \(scope)\(hint)")
                }
                if !consent.scopes.contains(scope) { consent.scopes.append(scope) }
            }
            state.consents.add(consent, within: OktaState.bound)
            return shown(consent)
        },
        VendorAction(
            "revoke-consent", about: "Takes a user's consent to a client's scopes back.", members: place
        ) { (call, state) throws(ActionRefusal) in
            let consent = try consent(call, state)
            guard state.consents.remove(consent.key) != nil else {
                throw ActionRefusal(
                    "the user has not consented to scopes of \(consent.serverID) for \(consent.clientID)")
            }
            return shown(consent)
        },
    ]

    /// The consent that an action is about; without scopes if there is none yet.
    private static func consent(
        _ call: ActionCall<Okta>, _ state: OktaState
    ) throws(ActionRefusal) -> OktaConsent {
        let user = try user(call, state)
        let client = try client(call)
        let accounts = call.vendor.accounts
        let name = try call.text("server") ?? accounts.defaultServer.id
        guard let server = accounts.server(name) else {
            let hint = Nearest.hint(to: name, among: accounts.servers.map(\.id))
            throw ActionRefusal("no authorization server is called \(name)\(hint)")
        }
        let consent = OktaConsent(userID: user.id, clientID: client.id, serverID: server.id)
        return state.consents[consent.key] ?? consent
    }

    static func client(_ call: ActionCall<Okta>) throws(ActionRefusal) -> OktaClient {
        let id = try call.required("client")
        if let client = call.vendor.accounts.clients[id] { return client }
        let hint = Nearest.hint(to: id, among: call.vendor.accounts.clients.all.map(\.id))
        throw ActionRefusal("no client has the id \(id)\(hint)")
    }

    private static func scopes(_ call: ActionCall<Okta>) throws(ActionRefusal) -> [String] {
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
