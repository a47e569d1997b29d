import Emulation
import JSON

/// The trips of all users of a sandbox, in the order in which they came.
typealias IMSTrips = RecordTable<IMSTrip>

extension IMSTrip: KeyedRecord {
    /// A trip's id is its user's own.
    struct Key: Hashable, Sendable {
        let user: Int
        let id: ExactText
    }

    var key: Key { Key(user: user, id: ExactText(id)) }
    var group: Int? { user }
    var memory: Int { byteCount }

    func isSame(as other: IMSTrip) -> Bool { json == other.json }
}

extension IMSTrips {
    /// ours: bounds, so that uploads in a loop cannot fill the machine.
    static var mostOfUser: Int { 2000 }
    static var byteCapacity: Int { 32 * 1024 * 1024 }

    /// The trip of a user with that id.
    func trip(_ id: String, of user: Int) -> IMSTrip? { self[IMSTrip.Key(user: user, id: ExactText(id))] }

    /// The trips of a user, the newest first; of those that began together, the one that came last.
    func trips(of user: Int) -> [IMSTrip] {
        records(in: user).sorted { ($0.started.unixSeconds, $0.number) > ($1.started.unixSeconds, $1.number) }
    }

    /// Whether the user's trips and the sandbox have room for one more.
    func hasRoom(for trip: IMSTrip) -> Bool {
        count(in: trip.user) < Self.mostOfUser && byteCount + trip.byteCount <= Self.byteCapacity
    }

    /// Keeps a trip of a user behind all others.
    mutating func add(_ trip: IMSTrip) {
        var trip = trip
        remove(trip.key)
        trip.number = count + 1
        store(trip)
    }

    /// Numbers the trips anew where some are gone: cursors hold the numbers, and must be the same after an import.
    mutating func number() {
        for (index, key) in keys.enumerated() where self[key]?.number != index + 1 {
            change(key) { $0.number = index + 1 }
        }
    }
}
