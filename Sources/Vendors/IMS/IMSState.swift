import Emulation
import JSON

struct IMSState: Sendable {
    var issuers: IMSIssuerStore
    var users: IMSUserStore
    var trips = IMSTrips()
    /// In the order in which they were sent.
    var invitations = RecordTable<IMSInvitation>()
    var tokenUses = IMSTokenUses()
    /// The changed keys of dev issuers; all others are as in the fixtures.
    var devKeys: [String: IssuerKeys] = [:]

    init(_ accounts: IMSAccounts) {
        issuers = RecordTable(fixtures: accounts.issuers)
        users = RecordTable(fixtures: accounts.users)
    }

    var size: StateSize { issuers.size + users.size + trips.size + invitations.size }

    /// Removes trips and invitations of users who no longer exist.
    mutating func forgetStrays() {
        for key in trips.keys where users[key.user] == nil { trips.remove(key) }
        trips.number()
        for invitation in invitations.all where users[invitation.user] == nil { invitations.remove(invitation.number) }
    }

    mutating func store(_ keys: IssuerKeys) { devKeys[keys.name] = keys }

    /// The user with that id, else with that enterprise id; the oldest one if no tenant decides.
    func user(_ name: String, of tenant: String?) -> IMSUser? {
        if let user = IMSUser.number(name).flatMap({ users[$0] }) { return user }
        guard let tenant else { return users.user(enterpriseID: name) }
        return users.user(of: tenant, .enterpriseID, name)
    }
}

/// State as JSON. Records have the members of `accounts.yaml`, and those that only requests change.
///
/// Fetched keys are left out: they are fetched again when needed.
extension IMS: RecordedVendor {
    func size(of state: State) -> StateSize { state.size }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        let (extent, current) = (coder.extent ?? .changes, state.devKeys)
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
            state.invitations.store(try IMSInvitation.record(node))
        }
        if coder.isWritingRows {
            coder.rows("token_uses", &state.tokenUses.uses) { $0.json(.changes) }
        } else {
            var uses = coder.isReading ? [] : state.tokenUses.uses.all
            coder.list("token_uses", &uses, atMost: IMSTokenUses.standardCapacity)
            if coder.isReading { for use in uses { state.tokenUses.insert(use) } }
        }
        coder.issuerKeys("dev_keys", &state.devKeys, of: "dev issuer", named: accounts.devIssuers.map(\.name)) {
            (name) throws(ControlRefusal) in try devKeys(of: name, among: current)
        }
        let number = { (node: FixtureNode) throws(FixtureProblem) in try node.int(in: Self.lastNumbers) }
        coder.lastNumber("last_user", &state.users, read: number)
        coder.lastNumber("last_invitation", &state.invitations, read: number)
        if extent == .changes { codeRemovals(&state, &coder) } else { state.checkOwners(&coder) }
        if coder.isReading { state.forgetStrays() }
    }

    private static let lastNumbers = 0...IMSUserStore.numbers.upperBound

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
        adopted.issuers = initialState.issuers.with(changesOf: state.issuers)
        if !state.issuers.ownOrder.isEmpty { adopted.issuers.arrange(state.issuers.keys) }
        // Fetched keys are kept where the issuer is unchanged.
        for issuer in state.issuers.all where issuer.remote != nil {
            if adopted.issuers[issuer.record.name]?.isSame(as: issuer) == true { adopted.issuers.store(issuer) }
        }
        adopted.users = initialState.users.with(changesOf: state.users)
        adopted.forgetStrays()
        return adopted
    }
}

extension IMSState {
    /// Clears what the fixtures never provide, before the state is read as a whole.
    fileprivate mutating func forgetAllButUsers() {
        (trips, invitations, tokenUses, devKeys) = (IMSTrips(), RecordTable(), IMSTokenUses(), [:])
    }

    /// Refuses trips and invitations of users who are not listed: without an owner they would be dropped.
    fileprivate func checkOwners(_ coder: inout RecordCoder) {
        if let trip = trips.all.first(where: { users[$0.user] == nil }) {
            coder.check(false, or: "trips: trip \(trip.id) belongs to \(IMSUser.id(trip.user)), who is not listed")
        }
        if let invitation = invitations.all.first(where: { users[$0.user] == nil }) {
            let (user, number) = (IMSUser.id(invitation.user), invitation.number)
            coder.check(false, or: "invitations: inv-\(number) was sent by \(user), who is not listed")
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
    func read<Value>(_ read: (inout FieldReader) -> Value) throws(FixtureProblem) -> Value {
        let body = IMSBody(try verbatim().object ?? [:])
        do throws(IMS.Refused) {
            return try body.read(read)
        } catch {
            throw problem("\(error)")
        }
    }

    fileprivate func userNumber() throws(FixtureProblem) -> Int {
        guard let number = IMSUser.number(try string()) else { throw problem("is not an id of the form usr-1") }
        return number
    }
}

/// The first use of a token id of an issuer.
struct IMSTokenUse: KeyedRecord, CodedRecord {
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let issuer: ExactText
        let tokenID: ExactText

        var description: String { JSON.array([issuer.json, tokenID.json]).text }
    }

    var issuer = ""
    var tokenID = ""
    /// The name sent by the device; empty without one.
    var device = ""
    /// The moment from which the token is no longer accepted, in Unix seconds.
    var end = 0.0

    var key: Key { Key(issuer: ExactText(issuer), tokenID: ExactText(tokenID)) }
    var memory: Int { issuer.utf8.count + tokenID.utf8.count + device.utf8.count }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("issuer", &issuer)
        coder.member("jti", &tokenID)
        coder.member("device", &device)
        coder.member("end", &end)
    }
}

/// Which token ids were used, by which device first, and until when that matters.
///
/// Source: replay protection is the documented purpose of `jti` (security page); the modes and bounds are ours.
struct IMSTokenUses: Sendable {
    /// ours: memory limits; beyond them the earliest uses are forgotten, so that their replays are accepted.
    private let capacity: Int
    static let standardCapacity = 20_000
    static let byteCapacity = 8 * 1024 * 1024

    /// The uses, earliest first.
    var uses = RecordTable<IMSTokenUse>()
    /// The number of uses at which to look for expired ones.
    private var nextSweep = 1000

    init(capacity: Int = IMSTokenUses.standardCapacity) { self.capacity = capacity }

    var count: Int { uses.count }

    /// Notes a use, unless the token id was used before.
    ///
    /// - Returns: the device of the first use; `nil` when this is the first.
    mutating func use(
        _ tokenID: String, of issuer: String, by device: String, until end: Double, at moment: Double
    ) -> String? {
        let use = IMSTokenUse(issuer: issuer, tokenID: tokenID, device: device, end: end)
        if let known = uses[use.key], moment < known.end { return known.device }
        insert(use)
        if uses.count >= nextSweep || uses.byteCount > Self.byteCapacity { sweep(at: moment) }
        return nil
    }

    mutating func insert(_ use: IMSTokenUse) {
        uses.remove(use.key)
        uses.store(use)
    }

    /// Removes expired uses, and if that is not enough, the earliest tenth.
    private mutating func sweep(at moment: Double) {
        for use in uses.all where use.end <= moment { uses.remove(use.key) }
        if uses.count >= capacity || uses.byteCount > Self.byteCapacity {
            for key in uses.keys.prefix(uses.count / 10 + 1) { uses.remove(key) }
        }
        nextSweep = min(max(1000, uses.count * 2), capacity)
    }
}

/// Actions on users and keys without a request from the app (all ours).
extension IMS {
    private static let userMembers = [
        ActionMember.required("user", "id or enterprise id of the user"),
        .optional("tenant", "tenant of the enterprise id; by default that of the issuer"),
        .optional("issuer", "iss of the user's tokens; without it and a tenant, the oldest user counts"),
    ]

    static let actions = [
        action(
            "enroll-user", about: "Enrolls a user, as the people at IMS would.",
            members: [
                .required("email", "email address"),
                .optional("tenant", "the tenant; by default that of the first issuer"),
                .optional("enterprise_id", "the sub of the user's tokens; none until an activation links it"),
                .optional("activation_id", "what the user enters to activate the app; by default the email"),
                .optional("activate", "true for a user who is active at once; needs an enterprise_id"),
            ], body: enrollByAction),
        action(
            "activate-user", about: "Makes a user active.", members: userMembers,
            body: { (call, state) throws(ControlRefusal) in try change(call, &state, to: .active) }),
        action(
            "deactivate-user", about: "Deactivates a user: valid tokens are refused from the next request on.",
            members: userMembers,
            body: { (call, state) throws(ControlRefusal) in try change(call, &state, to: .deactivated) }),
        drillKeys(of: "dev issuer"),
    ]

    private static func enrollByAction(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        var members = call.members
        let tenant = try call.text("tenant") ?? state.issuers.all.first?.record.tenant ?? "demo"
        members["tenant"] = .string(tenant)
        if let text = members["activate"]?.string { members["activate"] = .bool(text == "true") }
        return try ControlRefusal.wording {
            let user = try IMSBody(members).read { body in
                let tenant = body.text("tenant")
                return IMSUser(&body, of: tenant)
            }
            try check(user, state)
            return state.users.enroll(user, call.identifiers, at: call.moment).operatorJSON
        }
    }

    private static func change(
        _ call: Action, _ state: inout State, to wanted: IMSUser.State
    ) throws(ControlRefusal) -> JSON {
        let name = try call.required("user")
        let issuer = try call.text("issuer")
        let tenant = try call.text("tenant") ?? issuer.flatMap { state.issuers.issuer($0)?.record.tenant }
        var user = try ControlRefusal.require(
            state.user(name, of: tenant), "no user has the id or the enterprise id", name,
            among: state.users.all.prefix(20).map(\.id))
        guard user.state != wanted else { throw ControlRefusal("\(user.id) is already \(wanted.rawValue)") }
        if wanted == .deactivated {
            user.deactivate(at: call.moment)
        } else {
            try ControlRefusal.require(user.enterpriseID != nil, "\(user.id) has no enterprise id to be active with")
            user.activate(at: call.moment)
        }
        state.users.store(user)
        return ["id": .string(user.id), "state": .string(user.state.rawValue)]
    }
}
