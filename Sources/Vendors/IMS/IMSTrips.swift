import Emulation
import JSON

/// A recorded trip of a user. Source: that the SDK submits trips is documented (site); the members are ours.
struct IMSTrip: Sendable, KeyedRecord {
    let id: String
    let started: RFC3339Time
    let ended: RFC3339Time
    /// As written by the client.
    let distance: JSONNumber
    let vehicleID: String?
    let pointCount: Int
    /// The points as a JSON array, which takes a tenth of the memory of a parsed one.
    let points: [UInt8]
    let received: Moment
    let user: Int
    /// The position in order of arrival, from 1 on without gaps.
    var number = 0

    init(_ body: inout FieldReader, of user: Int, received: Moment) {
        id = body.text("trip_id", atMost: 64)
        started = body.time("started_at")
        ended = body.time("ended_at")
        if ended.unixSeconds < started.unixSeconds { body.refuse("ended_at", "is before started_at") }
        distance = body.number("distance_meters", in: 0...1e12, isRequired: true) ?? JSONNumber(0)
        vehicleID = body.optionalText("vehicle_id")
        let points = body.objects("points", Self.point)
        pointCount = points.count
        self.points = JSON.array(points).bytes
        (self.received, self.user) = (received, user)
    }

    /// A point with its known members; others are ignored. A device does not always know its speed (ours).
    private static func point(_ body: inout FieldReader) -> JSON {
        var point: JSONObject = ["at": .string(body.time("at").text)]
        for (name, range) in [("lat", -90.0...90), ("lon", -180.0...180)] {
            point.append(name, body.number(name, in: range, isRequired: true).map(JSON.number) ?? .null)
        }
        point["speed_mps"] = body.number("speed_mps", in: 0...1e6).map(JSON.number)
        return .object(point)
    }

    /// How long the trip took, in seconds.
    var duration: Double { ended.unixSeconds - started.unixSeconds }

    /// Whether both trips have the same content, whatever the form of their numbers.
    func hasSameContent(as other: IMSTrip) -> Bool {
        started.text == other.started.text && ended.text == other.ended.text
            && distance.isEquivalent(to: other.distance) && vehicleID == other.vehicleID
            && pointCount == other.pointCount && (points == other.points || pointList.isEquivalent(to: other.pointList))
    }

    /// The members that differ from an earlier upload, with both values where they are short.
    func differences(from other: IMSTrip) -> String {
        var differences: [String] = []
        for (name, mine, theirs) in [
            ("started_at", started.text, other.started.text), ("ended_at", ended.text, other.ended.text),
            ("vehicle_id", vehicleID ?? "null", other.vehicleID ?? "null"),
        ] where mine != theirs { differences.append("\(name): \(mine), before \(theirs)") }
        if !distance.isEquivalent(to: other.distance) {
            differences.append("distance_meters: \(distance.literal), before \(other.distance.literal)")
        }
        if differences.isEmpty { differences.append("points: \(pointCount) of them, before \(other.pointCount)") }
        return differences.joined(separator: "; ")
    }

    /// The points; they parse because this server wrote them.
    private var pointList: JSON { (try? JSON.parse(points)) ?? [] }

    /// The trip without its points.
    var json: JSON { .object(members) }

    var fullJSON: JSON {
        var members = members
        members["points"] = pointList
        return .object(members)
    }

    private var members: JSONObject {
        [
            "trip_id": .string(id), "started_at": .string(started.text), "ended_at": .string(ended.text),
            "distance_meters": .number(distance), "vehicle_id": JSON(vehicleID), "point_count": JSON(pointCount),
            "received_at": JSON(received.wholeSeconds),
        ]
    }

    /// A trip's id is unique per user.
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let user: Int
        let id: ExactText

        var description: String { "\(user) \(id)" }
    }

    var key: Key { Key(user: user, id: ExactText(id)) }
    var group: Int? { user }
    var memory: Int { points.count + id.utf8.count + (vehicleID?.utf8.count ?? 0) + 256 }

    func isSame(as other: IMSTrip) -> Bool { json == other.json }
}

/// The trips of all users of a sandbox, in order of arrival.
typealias IMSTrips = RecordTable<IMSTrip>

extension IMSTrips {
    func trip(_ id: String, of user: Int) -> IMSTrip? { self[IMSTrip.Key(user: user, id: ExactText(id))] }

    /// The trips of a user, newest first; of those with the same start, the last to arrive comes first.
    func trips(of user: Int) -> [IMSTrip] {
        records(in: user).sorted { ($0.started.unixSeconds, $0.number) > ($1.started.unixSeconds, $1.number) }
    }

    mutating func add(_ trip: IMSTrip) {
        var trip = trip
        remove(trip.key)
        trip.number = count + 1
        store(trip)
    }

    /// Renumbers the trips after gaps: cursors hold the numbers, which must be the same after an import.
    mutating func number() {
        for (index, key) in keys.enumerated() where self[key]?.number != index + 1 {
            change(key) { $0.number = index + 1 }
        }
    }
}

/// Trips and their totals. Source: it is documented that the SDK submits trips and that a portal sums them up (site);
/// the calls are ours.
extension IMS {
    /// Stores a trip. An identical trip changes nothing: a client that got no answer sends it again.
    static func uploadTrip(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let trip = try call.body { IMSTrip(&$0, of: user.number, received: call.moment) }
        if let known = state.trips.trip(trip.id, of: user.number) {
            try Refused.require(
                trip.hasSameContent(as: known), .tripConflict,
                "\(user.id) has sent trip \(trip.id) with another \(trip.differences(from: known)); expected the same content"
            )
            return .json(known.json)
        }
        state.trips.add(trip)
        return .json(trip.json, status: .created)
    }

    /// Lists trips by start time: from one time (inclusive) to another (exclusive; ours).
    static func listTrips(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let page = try call.query.read(TripPage.init)
        let (trips, next) = page.trips(among: state.trips.trips(of: user.number))
        return .json(["trips": .array(trips.map(\.json)), "next_cursor": JSON(next)])
    }

    static func readTrip(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["trip_id"]
        let trip = try Refused.require(
            state.trips.trip(id, of: user.number), .tripNotFound,
            "no trip of \(user.id) has the id \(id); expected that of a trip in their list")
        return .json(trip.fullJSON)
    }

    static func readSummary(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let trips = state.trips.trips(of: user.number)
        let distance = trips.reduce(0) { $0 + $1.distance.double }
        let duration = trips.reduce(0) { $0 + $1.duration }
        // The last trip is the one that ended last, whenever it began.
        let last = trips.max { $0.ended.unixSeconds < $1.ended.unixSeconds }
        return .json([
            "trip_count": JSON(trips.count), "distance_meters": .number(JSONNumber(distance)),
            "duration_seconds": .number(JSONNumber(duration)), "first_trip_at": JSON(trips.last?.started.text),
            "last_trip_at": JSON(last?.ended.text),
        ])
    }
}

private struct TripPage {
    private let from: Double?
    private let to: Double?
    private let limit: Int
    /// Start and number of the previous page's last trip.
    private let cursor: (began: Double, number: Int)?

    init(_ query: inout FieldReader) {
        from = query.time("from", RFC3339Time.init)?.unixSeconds
        to = query.time("to", RFC3339Time.init)?.unixSeconds
        let numbers = 1...100
        limit =
            query.value("limit", expecting: "a number from 1 to 100") { value in
                // Digits only: `Int` also reads signs.
                value.string.flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil }
                    .flatMap { numbers.contains($0) ? $0 : nil }
            } ?? 20
        cursor = query.optionalText("cursor").map { text in
            let parts = text.split(separator: "_").compactMap { Double($0) }
            guard parts.count == 2, parts.allSatisfy(\.isFinite), let number = Int(exactly: parts[1]),
                Self.cursor(parts[0], number) == text
            else {
                query.refuse("cursor", "is not one from an answer; expected a next_cursor")
                return (0, 0)
            }
            return (parts[0], number)
        }
    }

    /// The page, and where the next one begins.
    func trips(among all: [IMSTrip]) -> ([IMSTrip], String?) {
        let fitting = all.filter { trip in
            let began = trip.started.unixSeconds
            let isBehind = cursor.map { (began, trip.number) < ($0.began, $0.number) } ?? true
            return isBehind && from.map { began >= $0 } ?? true && to.map { began < $0 } ?? true
        }
        let page = Array(fitting.prefix(limit))
        guard fitting.count > limit, let last = page.last else { return (page, nil) }
        return (page, Self.cursor(last.started.unixSeconds, last.number))
    }

    private static func cursor(_ began: Double, _ number: Int) -> String { "\(JSONNumber(began))_\(number)" }
}

/// An invitation that a user sends. Source: the SDK's calls are documented (site); the members are ours.
struct IMSInvitation: KeyedRecord {
    enum Kind: String, CaseIterable, Sendable {
        case account
        case vehicle

        /// The member that lists what is shared.
        var member: String { self == .account ? "account_ids" : "vehicle_ids" }
    }

    /// ours: a limit.
    private static let mostShared = 100

    let kind: Kind
    let name: String
    let email: String
    let phone: String
    let sharedIDs: [String]
    let number: Int
    let user: Int
    let created: Moment

    init(_ body: inout FieldReader, number: Int, user: Int, created: Moment) {
        kind = body.choice("kind", isRequired: true) ?? .account
        name = body.text("name")
        email = body.email("email") ?? ""
        phone = body.optionalText("phone") ?? ""
        if email.isEmpty, phone.isEmpty {
            body.refuse("email", "was not sent, and neither was phone; expected one of them")
        }
        sharedIDs = Self.ids(kind.member, &body)
        (self.number, self.user, self.created) = (number, user, created)
    }

    private static func ids(_ name: String, _ body: inout FieldReader) -> [String] {
        let values = body.list(name) ?? []
        if values.count > mostShared { body.refuse(name, "has more than \(mostShared) elements") }
        for (index, value) in values.prefix(mostShared).enumerated()
        where !(1...IMSBody.longestText).contains(value.string?.unicodeScalars.count ?? 0) {
            body.refuse("\(name).\(index)", "is not a string of 1 to \(IMSBody.longestText) characters")
        }
        return values.compactMap(\.string)
    }

    var key: Int { number }
    var group: Int? { user }
    var memory: Int { ([name, email, phone] + sharedIDs).reduce(256) { $0 + $1.utf8.count } }

    func isSame(as other: IMSInvitation) -> Bool { json == other.json }

    var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "email": .string(email), "phone": .string(phone),
            kind.member: .array(sharedIDs.map(JSON.string)), "invitation_id": .string("inv-\(number)"),
            "from_user_id": .string(IMSUser.id(user)), "status": "sent", "created_at": JSON(created.wholeSeconds),
        ]
    }
}

/// Invitations to others. Source: the SDK's calls are documented (site); the requests are ours, and no mail is sent.
extension IMS {
    static func sendInvitation(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let number = state.invitations.nextNumber(upTo: IMSUserStore.numbers.upperBound)
        let invitation = try call.body { IMSInvitation(&$0, number: number, user: user.number, created: call.moment) }
        state.invitations.store(invitation)
        return .json(invitation.json, status: .created)
    }

    static func listInvitations(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        .json(["invitations": .array(state.invitations.records(in: user.number).map(\.json))])
    }
}
