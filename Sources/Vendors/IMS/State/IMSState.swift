import Emulation

/// What IMS remembers in one sandbox.
struct IMSState: Sendable {
    var issuers: IMSIssuerStore
    var users: IMSUserStore
    var trips = IMSTrips()
    var invitations = IMSInvitations()
    var tokenUses = IMSTokenUses()
    /// The changed keys of dev issuers; all others are as in the fixtures.
    var devKeys: [String: IssuerKeys] = [:]

    init(_ accounts: IMSAccounts) {
        issuers = RecordTable(fixtures: accounts.issuers)
        users = RecordTable(fixtures: accounts.users)
    }

    var size: StateSize {
        issuers.size + users.size + trips.size + StateSize(records: invitations.all.count, bytes: invitations.byteCount)
    }

    /// Removes trips and invitations of users who no longer exist.
    mutating func forgetStrays() {
        for key in trips.keys where users[key.user] == nil { trips.remove(key) }
        trips.number()
        invitations.keep { [users] in users[$0] != nil }
    }

    mutating func store(_ keys: IssuerKeys) { devKeys[keys.name] = keys }

    /// The user with that id, else with that enterprise id; the oldest one if no tenant decides.
    func user(_ name: String, of tenant: String?) -> IMSUser? {
        if let user = IMSUser.number(name).flatMap({ users[$0] }) { return user }
        guard let tenant else { return users.user(enterpriseID: name) }
        return users.user(of: tenant, enterpriseID: name)
    }
}
