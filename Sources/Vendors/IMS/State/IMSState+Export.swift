import Emulation
import JSON
import Tokens

/// State as JSON. Records have the members that they have in `accounts.yaml`, and those that only requests change.
///
/// Fetched keys are left out: they are asked for again where they are needed.
extension IMS {
    func export(_ state: IMSState, _ extent: StateExtent) -> JSON? {
        switch extent {
        case .whole: return IMSChanges(of: state, since: IMSState()).json(extent)
        case .changes:
            let changes = IMSChanges(of: state, since: initialState)
            if changes.isEmpty(since: initialState) { return nil }
            return changes.json(extent)
        }
    }

    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: IMSState
    ) throws(FixtureProblem) -> IMSState {
        let changes = try IMSChanges(node, extent, self, over: current)
        let enrolled = changes.users.count { initialState.users[$0.number] == nil }
        guard enrolled <= IMSUsers.standardCapacity else {
            throw node.problem(
                "users: \(enrolled) of them are not of the fixtures, and at most \(IMSUsers.standardCapacity) are kept")
        }
        switch extent {
        case .whole:
            try changes.checkOwners(at: node)
            var state = IMSState()
            for user in changes.users where initialState.users[user.number] != nil {
                state.users.put(user, isOfFixtures: true)
            }
            state = state.with(changes)
            // An id of the fixtures is not given out again, whether its user is in the import or not.
            state.users.count(from: initialState.users.lastNumber)
            return state
        case .changes: return current.with(changes)
        }
    }

    func adopt(_ state: IMSState, startedFrom old: IMS) -> IMSState {
        var adopted = initialState.with(IMSChanges(of: state, since: old.initialState))
        // Keys that were fetched stay where the issuer stayed as it was.
        for issuer in state.issuers.all {
            guard issuer.remote != nil, adopted.issuers.named(issuer.record.name)?.record == issuer.record else {
                continue
            }
            adopted.issuers.put(issuer)
        }
        return adopted
    }
}

extension IMSChanges {
    private static let members = [
        "issuers", "users", "trips", "invitations", "token_uses", "dev_keys", "last_user", "last_invitation",
    ]

    /// The changes, or a whole state as the changes since nothing.
    fileprivate func json(_ extent: StateExtent) -> JSON {
        var json: JSONObject = [
            "issuers": .array(issuers.map(\.record.json)),
            "users": .array(users.map { $0.record(withSecrets: extent == .changes) }),
            "trips": .array(trips.map { $0.trip.record(of: $0.user) }),
            "invitations": .array(invitations.map(\.json)),
            "token_uses": .array(
                tokenUses.map {
                    [
                        "issuer": .string($0.key.issuer.text), "jti": .string($0.key.tokenID.text),
                        "device": .string($0.use.device), "end": .number(JSONNumber($0.use.end)),
                    ]
                }),
            "dev_keys": .array(devKeys.map { $0.export(extent) }),
            "last_user": JSON(lastUser), "last_invitation": JSON(lastInvitation),
        ]
        if extent == .changes {
            if !issuerOrder.isEmpty { json["issuer_order"] = .array(issuerOrder.map(JSON.string)) }
            json["removed_issuers"] = .array(removedIssuers.map(JSON.string))
            json["removed_users"] = .array(removedUsers.map { JSON($0) })
        }
        return .object(json)
    }

    fileprivate init(
        _ node: FixtureNode, _ extent: StateExtent, _ vendor: IMS, over current: IMSState
    ) throws(FixtureProblem) {
        let removals = extent == .changes ? ["issuer_order", "removed_issuers", "removed_users"] : []
        let document = try node.mapping(Self.members + removals)
        self.init(
            lastUser: try document["last_user"]?.int(in: 0...IMSUsers.numbers.upperBound) ?? 0,
            lastInvitation: try document["last_invitation"]?.int(in: 0...IMSUsers.numbers.upperBound) ?? 0)
        issuers = try IMSIssuer.list(try document.required("issuers"), vendor.accounts.fixtures)
        users = try IMSUser.list(try document.required("users"), known: current.users)
        try document["issuer_order"]?.forEachRecord { (node) throws(FixtureProblem) in
            issuerOrder.append(try node.string())
        }
        try document["removed_issuers"]?.forEachRecord { (node) throws(FixtureProblem) in
            removedIssuers.append(try node.string())
        }
        try document["removed_users"]?.forEachRecord { (node) throws(FixtureProblem) in
            removedUsers.append(try node.int())
        }
        trips = try Self.trips(document["trips"])
        try document["invitations"]?.forEachRecord(atMost: IMSInvitations.capacity) { (node) throws(FixtureProblem) in
            invitations.append(try IMSInvitation.record(node))
        }
        try document["token_uses"]?.forEachRecord(atMost: IMSTokenUses.standardCapacity) {
            (node) throws(FixtureProblem) in
            tokenUses.append(try IMSTokenUses.record(node))
        }
        try document["dev_keys"]?.forEachRecord { (node) throws(FixtureProblem) in
            devKeys.append(try Self.keys(node, extent, vendor, current))
        }
    }

    /// Refuses trips and invitations of users who are not listed: with nobody to ask for them they would be dropped.
    fileprivate func checkOwners(at node: FixtureNode) throws(FixtureProblem) {
        let numbers = Set(users.map(\.number))
        if let (user, trip) = trips.first(where: { !numbers.contains($0.user) }) {
            throw node.problem("trips: no user \(IMSUser.id(user)) is listed, whose trip \(trip.id) is")
        }
        if let invitation = invitations.first(where: { !numbers.contains($0.user) }) {
            throw node.problem(
                "invitations: no user \(IMSUser.id(invitation.user)) is listed, who sent inv-\(invitation.number)")
        }
    }

    private static func trips(_ list: FixtureNode?) throws(FixtureProblem) -> [(user: Int, trip: IMSTrip)] {
        var (trips, kept): ([(user: Int, trip: IMSTrip)], IMSTrips) = ([], IMSTrips())
        try list?.forEachRecord { (node) throws(FixtureProblem) in
            let (user, trip) = try IMSTrip.record(node)
            guard kept.hasRoom(for: trip, of: user) else {
                throw node.problem(
                    "a sandbox keeps at most \(IMSTrips.mostOfUser) trips of a user, and \(IMSTrips.byteCapacity) bytes "
                        + "of all")
            }
            kept.add(trip, of: user)
            trips.append((user, trip))
        }
        return trips
    }

    /// Keys of a dev issuer, whose private parts come from the export, from what the sandbox has, or from the fixtures.
    private static func keys(
        _ node: FixtureNode, _ extent: StateExtent, _ vendor: IMS, _ current: IMSState
    ) throws(FixtureProblem) -> IssuerKeys {
        let name = try node.mapping("issuer", "broken", "fetches", "keys").required("issuer")
        let text = try name.string()
        let known: IssuerKeys?
        do {
            known = try vendor.devKeys(of: text, in: current)
        } catch {
            throw name.problem(error.description)
        }
        guard let known else {
            let hint = Nearest.hint(to: text, among: vendor.accounts.devIssuers.map(\.name))
            throw name.problem("no dev issuer is called \(text)\(hint)")
        }
        return try known.imported(from: node, extent)
    }
}

// MARK: - Records

extension IMSTrip {
    fileprivate func record(of user: Int) -> JSON {
        var record = fullJSON.object ?? [:]
        record["point_count"] = nil
        if vehicleID == nil { record["vehicle_id"] = nil }
        record["received_at"] = received.json
        record["user"] = .string(IMSUser.id(user))
        return .object(record)
    }

    fileprivate static func record(_ node: FixtureNode) throws(FixtureProblem) -> (user: Int, trip: IMSTrip) {
        let entry = try node.mapping(
            "trip_id", "started_at", "ended_at", "distance_meters", "vehicle_id", "points", "received_at", "user")
        let received = try entry.required("received_at").moment()
        let user = try entry.required("user").userNumber()
        do {
            let body = IMSBody(try node.verbatim().object ?? [:])
            return (user, try body.read { IMSTrip(&$0, received: received) })
        } catch let refusal as IMSRefusal {
            throw node.problem(refusal.reason ?? refusal.failure.rawValue)
        } catch {
            throw node.problem("\(error)")
        }
    }
}

extension IMSInvitation {
    fileprivate static func record(_ node: FixtureNode) throws(FixtureProblem) -> IMSInvitation {
        let entry = try node.mapping(
            "kind", "name", "email", "phone", "account_ids", "vehicle_ids", "invitation_id", "from_user_id", "status",
            "created_at")
        let id = try entry.required("invitation_id")
        let text = try id.string()
        guard text.hasPrefix("inv-"), let number = Int(text.dropFirst(4)), IMSUsers.numbers.contains(number) else {
            throw id.problem("is no id of the form inv-1")
        }
        let user = try entry.required("from_user_id").userNumber()
        let created = try entry.required("created_at").moment()
        do {
            return try IMSBody(try node.verbatim().object ?? [:]).read {
                IMSInvitation(&$0, number: number, user: user, created: created)
            }
        } catch let refusal as IMSRefusal {
            throw node.problem(refusal.reason ?? refusal.failure.rawValue)
        } catch {
            throw node.problem("\(error)")
        }
    }
}

extension IMSTokenUses {
    fileprivate static func record(_ node: FixtureNode) throws(FixtureProblem) -> (key: Key, use: Use) {
        let entry = try node.mapping("issuer", "jti", "device", "end")
        let key = Key(
            issuer: ExactText(try entry.required("issuer").string()),
            tokenID: ExactText(try entry.required("jti").string()))
        return (
            key,
            Use(device: try entry.required("device").string(), end: try entry.required("end").number())
        )
    }
}

extension FixtureNode {
    fileprivate func userNumber() throws(FixtureProblem) -> Int {
        guard let number = IMSUser.number(try string()) else { throw problem("is no id of the form usr-1") }
        return number
    }
}
