import Emulation
import JSON

/// The trips of all users of a sandbox, in order of arrival.
typealias IMSTrips = RecordTable<IMSTrip>

extension IMSTrip: KeyedRecord {
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
