import Emulation
import JSON

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
                value.string.flatMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
                    .flatMap { numbers.contains($0) ? $0 : nil }
            } ?? 20
        cursor = query.optionalText("cursor").map { text in
            let parts = text.split(separator: "_").compactMap { Double($0) }
            guard parts.count == 2, parts.allSatisfy(\.isFinite), let number = Int(exactly: parts[1]),
                Self.cursor(parts[0], number) == text
            else {
                query.refuse("cursor", "is none that an answer gave; expected a next_cursor")
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
