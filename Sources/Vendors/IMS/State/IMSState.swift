import Emulation

/// What IMS remembers in one sandbox.
struct IMSState: Sendable {
    var issuers: IMSIssuerStore
    var users: IMSUserStore
    var trips = IMSTrips()
    var invitations = IMSInvitations()
    var tokenUses = IMSTokenUses()
    /// The keys of dev issuers that something happened to; those of the others are as the fixtures have them.
    var devKeys: [String: IssuerKeys] = [:]

    /// What the fixtures give.
    init(_ accounts: IMSAccounts) {
        issuers = RecordTable(fixtures: accounts.issuers)
        users = RecordTable(fixtures: accounts.users)
    }

    /// Enrolls a user with whom nobody of the tenant is in conflict; whoever is pushed out takes trips and invitations along.
    mutating func enroll(
        _ enrollment: IMSEnrollment, _ identifiers: IdentifierSource, at moment: Moment
    ) -> IMSUser {
        let (user, madeRoom) = users.enroll(enrollment, identifiers, at: moment)
        if madeRoom { forgetStrays() }
        return user
    }

    /// Forgets trips and invitations of users who are not there any more.
    mutating func forgetStrays() {
        for key in trips.keys where users[key.user] == nil { trips.remove(key) }
        trips.number()
        invitations.keep { [users] in users[$0] != nil }
    }

    /// Keeps the keys of a dev issuer.
    mutating func store(_ keys: IssuerKeys) { devKeys[keys.name] = keys }

    /// The user of that id or, when nobody has it, of that enterprise id; the older one where no tenant decides.
    func user(_ name: String, of tenant: String?) -> IMSUser? {
        if let user = IMSUser.number(name).flatMap({ users[$0] }) { return user }
        guard let tenant else { return users.user(enterpriseID: name) }
        return users.user(of: tenant, enterpriseID: name)
    }
}
