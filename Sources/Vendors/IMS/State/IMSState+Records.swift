import Emulation
import JSON

/// State as JSON. Records have the members of `accounts.yaml`, and those that only requests change.
///
/// Fetched keys are left out: they are fetched again when needed.
extension IMS: RecordedVendor {
    func size(of state: State) -> StateSize { state.size }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        let (extent, current) = (coder.extent ?? .changes, state)
        coder.reading { (mapping) throws(FixtureProblem) in
            // Of several mistakes, one in these two is reported.
            for name in ["last_user", "last_invitation"] { _ = try mapping[name]?.int(in: Self.lastNumbers) }
        }
        if coder.isReading, extent == .whole { state.forgetAllButUsers() }
        let issuers = coder.table("issuers", &state.issuers, write: { issuer, _ in issuer.record.json }) {
            (node, _) throws(FixtureProblem) in try IMSIssuer.list(node, accounts.fixtures)
        }
        if extent == .whole { state.issuers.arrange(issuers) }
        coder.table("users", &state.users)
        coder.list("trips", coder.elements { state.trips.all.map(\.record) }) { (node) throws(FixtureProblem) in
            state.trips.add(try IMSTrip.record(node))
        }
        let invitations = coder.elements { state.invitations.all.map(\.json) }
        coder.list("invitations", invitations) { (node) throws(FixtureProblem) in
            state.invitations.add(try IMSInvitation.record(node))
        }
        if coder.isWritingRows {
            coder.rows("token_uses", &state.tokenUses.uses) { $0.json(.changes) }
        } else {
            var uses = coder.isReading ? [] : state.tokenUses.all
            coder.list("token_uses", &uses, atMost: IMSTokenUses.standardCapacity)
            if coder.isReading { for use in uses { state.tokenUses.insert(use) } }
        }
        coder.issuerKeys("dev_keys", &state.devKeys, of: "dev issuer", named: accounts.devIssuers.map(\.name)) {
            (name) throws(MintRefusal) in try devKeys(of: name, in: current)
        }
        codeNumbers(&state, &coder)
        if extent == .changes { codeRemovals(&state, &coder) } else { state.checkOwners(&coder) }
        if coder.isReading { state.forgetStrays() }
    }

    private static let lastNumbers = 0...IMSUserStore.numbers.upperBound

    private func codeNumbers(_ state: inout State, _ coder: inout RecordCoder) {
        let range = Self.lastNumbers
        coder.lastNumber("last_user", &state.users) { (node) throws(FixtureProblem) in try node.int(in: range) }
        var last = state.invitations.lastNumber
        coder.note(isChanged: last != 0)
        coder.member("last_invitation", &last, or: 0, in: range)
        state.invitations.count(from: last)
    }

    private func codeRemovals(_ state: inout State, _ coder: inout RecordCoder) {
        var order = coder.isReading ? [] : state.issuers.ownOrder
        coder.member("issuer_order", &order, or: [], write: { $0.isEmpty ? JSON?.none : .array($0.map(\.json)) }) {
            (node) throws(FixtureProblem) in
            var order: [ExactText] = []
            try node.forEachRecord { (node) throws(FixtureProblem) in order.append(ExactText(try node.string())) }
            return order
        }
        coder.removals("removed_issuers", &state.issuers, isRequired: false)
        coder.removals("removed_users", &state.users, isRequired: false)
        if coder.isReading, !order.isEmpty { state.issuers.arrange(order) }
    }

    func adopt(_ state: State, startedFrom old: IMS) -> State {
        var adopted = state
        (adopted.issuers, adopted.users) = (initialState.issuers, initialState.users)
        adopted.issuers.take(changesOf: state.issuers)
        if !state.issuers.ownOrder.isEmpty { adopted.issuers.arrange(state.issuers.keys) }
        // Fetched keys are kept where the issuer is unchanged.
        for issuer in state.issuers.all where issuer.remote != nil {
            if adopted.issuers.named(issuer.record.name)?.isSame(as: issuer) == true { adopted.issuers.store(issuer) }
        }
        adopted.users.take(changesOf: state.users)
        adopted.forgetStrays()
        return adopted
    }
}

extension IMSState {
    /// Clears what the fixtures never provide, before the state is read as a whole.
    fileprivate mutating func forgetAllButUsers() {
        (trips, invitations, tokenUses, devKeys) = (IMSTrips(), IMSInvitations(), IMSTokenUses(), [:])
    }

    /// Refuses trips and invitations of users who are not listed: without an owner they would be dropped.
    fileprivate func checkOwners(_ coder: inout RecordCoder) {
        if let trip = trips.all.first(where: { users[$0.user] == nil }) {
            coder.check(false, or: "trips: no user \(IMSUser.id(trip.user)) is listed, whose trip \(trip.id) is")
        }
        if let invitation = invitations.all.first(where: { users[$0.user] == nil }) {
            let (user, number) = (IMSUser.id(invitation.user), invitation.number)
            coder.check(false, or: "invitations: no user \(user) is listed, who sent inv-\(number)")
        }
    }
}

// MARK: - Records

extension IMSTrip {
    fileprivate var record: JSON {
        var record = fullJSON.object ?? [:]
        record["point_count"] = nil
        if vehicleID == nil { record["vehicle_id"] = nil }
        record["received_at"] = received.written
        record["user"] = .string(IMSUser.id(user))
        return .object(record)
    }

    fileprivate static func record(_ node: FixtureNode) throws(FixtureProblem) -> IMSTrip {
        let entry = try node.mapping(
            "trip_id", "started_at", "ended_at", "distance_meters", "vehicle_id", "points", "received_at", "user")
        let received = try entry.required("received_at").moment()
        let user = try entry.required("user").userNumber()
        return try node.read { IMSTrip(&$0, of: user, received: received) }
    }
}

extension IMSInvitation {
    fileprivate static func record(_ node: FixtureNode) throws(FixtureProblem) -> IMSInvitation {
        let entry = try node.mapping(
            "kind", "name", "email", "phone", "account_ids", "vehicle_ids", "invitation_id", "from_user_id", "status",
            "created_at")
        let id = try entry.required("invitation_id")
        let text = try id.string()
        guard text.hasPrefix("inv-"), let number = Int(text.dropFirst(4)), IMSUserStore.numbers.contains(number) else {
            throw id.problem("is not an id of the form inv-1")
        }
        let user = try entry.required("from_user_id").userNumber()
        let created = try entry.required("created_at").moment()
        return try node.read { IMSInvitation(&$0, number: number, user: user, created: created) }
    }
}

extension FixtureNode {
    /// Reads a record as the content of the request that created it.
    fileprivate func read<Value>(_ read: (inout FieldReader) -> Value) throws(FixtureProblem) -> Value {
        let body = IMSBody(try verbatim().object ?? [:])
        do throws(IMSRefusal) {
            return try body.read(read)
        } catch {
            throw problem(error.reason ?? error.failure.rawValue)
        }
    }

    fileprivate func userNumber() throws(FixtureProblem) -> Int {
        guard let number = IMSUser.number(try string()) else { throw problem("is not an id of the form usr-1") }
        return number
    }
}
