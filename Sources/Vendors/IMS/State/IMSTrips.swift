import Emulation
import JSON

/// The trips of all users of a sandbox.
struct IMSTrips: Sendable {
    /// ours: bounds, so that uploads in a loop cannot fill the machine.
    static let mostOfUser = 2000
    static let byteCapacity = 32 * 1024 * 1024

    private var trips: [Int: [ExactText: IMSTrip]] = [:]
    private var byteCount = 0
    private var lastNumber = 0

    /// The trip of a user with that id.
    func trip(_ id: String, of user: Int) -> IMSTrip? { trips[user]?[ExactText(id)] }

    /// The trips of a user, the newest first; of those that began together, the one that came last.
    func trips(of user: Int) -> [IMSTrip] {
        (trips[user] ?? [:]).values.sorted {
            ($0.started.unixSeconds, $0.number) > ($1.started.unixSeconds, $1.number)
        }
    }

    /// All trips with their users, in the order in which they came.
    var all: [(user: Int, trip: IMSTrip)] {
        trips.flatMap { user, trips in trips.values.map { (user, $0) } }.sorted { $0.1.number < $1.1.number }
    }

    /// Whether the user's trips and the sandbox have room for one more.
    func hasRoom(for trip: IMSTrip, of user: Int) -> Bool {
        (trips[user]?.count ?? 0) < Self.mostOfUser && byteCount + trip.byteCount <= Self.byteCapacity
    }

    /// Keeps a trip of a user.
    mutating func add(_ trip: IMSTrip, of user: Int) {
        var trip = trip
        lastNumber += 1
        trip.number = lastNumber
        byteCount += trip.byteCount
        if let old = trips[user, default: [:]].updateValue(trip, forKey: ExactText(trip.id)) {
            byteCount -= old.byteCount
        }
    }

    /// Forgets the trips of users who are not among these.
    mutating func keep(_ users: (Int) -> Bool) {
        trips = trips.filter { users($0.key) }
        byteCount = trips.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.byteCount } }
    }
}
