import Emulation
import Tokens

/// What requests and people made of the state that the fixtures give.
///
/// Laid over the state of other fixtures, it yields the state as if all that had met those: what nobody touched is
/// theirs, what was made or changed is as it was left.
struct IMSChanges: Sendable {
    /// Issuers that were onboarded or replaced.
    var issuers: [IMSIssuer] = []
    /// The names of all issuers in their order; empty where they come in that order by themselves.
    var issuerOrder: [String] = []
    /// Names of issuers of the fixtures that were deleted.
    var removedIssuers: [String] = []
    /// Users who were enrolled, or of whom something changed.
    var users: [IMSUser] = []
    /// Numbers of users of the fixtures who are gone.
    var removedUsers: [Int] = []
    /// Trips with their users.
    var trips: [(user: Int, trip: IMSTrip)] = []
    var invitations: [IMSInvitation] = []
    var tokenUses: [(key: IMSTokenUses.Key, use: IMSTokenUses.Use)] = []
    /// The keys of dev issuers that something happened to.
    var devKeys: [IssuerKeys] = []
    /// The number of the user that was enrolled last.
    var lastUser: Int
    /// The number of the last invitation.
    var lastInvitation: Int

    /// What makes a state differ from the one that it began as.
    init(of state: IMSState, since start: IMSState) {
        lastUser = state.users.lastNumber
        lastInvitation = state.invitations.lastNumber
        issuers = state.issuers.all.filter { issuer in
            start.issuers.named(issuer.record.name)?.record != issuer.record
        }
        removedIssuers = start.issuers.all.map(\.record.name).filter { state.issuers.named($0) == nil }
        let names = state.issuers.all.map(\.record.name)
        if start.issuers.with(self).all.map(\.record.name) != names { issuerOrder = names }
        users = state.users.all.filter { start.users[$0.number] != $0 }
        removedUsers = start.users.all.map(\.number).filter { state.users[$0] == nil }
        trips = state.trips.all
        invitations = state.invitations.all
        tokenUses = state.tokenUses.all
        devKeys = state.devKeys.values.sorted { $0.name < $1.name }
    }

    /// No changes but how far numbers have come.
    init(lastUser: Int, lastInvitation: Int) {
        (self.lastUser, self.lastInvitation) = (lastUser, lastInvitation)
    }

    /// Whether nothing differs.
    func isEmpty(since start: IMSState) -> Bool {
        issuers.isEmpty && removedIssuers.isEmpty && users.isEmpty && removedUsers.isEmpty && trips.isEmpty
            && invitations.isEmpty && tokenUses.isEmpty && devKeys.isEmpty && lastUser == start.users.lastNumber
            && lastInvitation == start.invitations.lastNumber
    }
}

extension IMSIssuers {
    /// The issuers with these changes over them.
    fileprivate func with(_ changes: IMSChanges) -> IMSIssuers {
        var issuers = self
        for name in changes.removedIssuers { issuers.remove(name) }
        for issuer in changes.issuers {
            let other = issuers.issuer(issuer.record.issuer)?.record.name
            if let other, !other.hasSameBytes(as: issuer.record.name) { issuers.remove(other) }
            issuers.put(issuer)
        }
        if !changes.issuerOrder.isEmpty { issuers.order(changes.issuerOrder) }
        return issuers
    }
}

extension IMSState {
    /// The state with these changes over it.
    ///
    /// Where a record of the changes and another of this state want the same name or id, that of the changes stays: a
    /// client relies on it already.
    func with(_ changes: IMSChanges) -> IMSState {
        var state = self
        state.issuers = issuers.with(changes)
        for number in changes.removedUsers { state.users.remove(number) }
        for user in changes.users { state.users.put(user, isOfFixtures: users[user.number] != nil) }
        state.users.count(from: changes.lastUser)
        for (user, trip) in changes.trips { state.trips.add(trip, of: user) }
        for invitation in changes.invitations { state.invitations.add(invitation) }
        state.invitations.count(from: changes.lastInvitation)
        for (key, use) in changes.tokenUses { state.tokenUses.insert(key, device: use.device, until: use.end) }
        for keys in changes.devKeys { state.store(keys) }
        state.forgetStrays()
        return state
    }
}
