import Emulation
import HTTPEngine
import Synchronization

/// Counts the server's answers and their durations, for all sandboxes together, until the process ends.
///
/// Every thread counts in its own place, and the places are added up on reading: a counter shared by all loops would
/// cost each request more than the counting itself.
final class Metrics: Sendable {
    /// The group in which an exchange is counted.
    struct Place {
        var vendor = ExchangeLabel.none
        var route = ExchangeLabel.none
    }

    struct Vendor: Sendable {
        let id: String
        let routes: [String]
        let failures: [String]
        let failureIndices: [String: Int]

        init(_ vendor: any LoadedVendor) {
            id = vendor.identity.id
            routes = vendor.routes.map(\.id)
            failures = vendor.failureNames
            failureIndices = Dictionary(
                zip(failures, failures.indices).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The vendors, in the emulator's order.
    let vendors: [Vendor]
    /// When counting began, by the machine's clock.
    let began = SandboxClock.machine
    private let places: [CountingPlace]
    private let servers = Mutex<[ServerOccupancy]>([])

    /// Creates empty counts.
    init(vendors: [any LoadedVendor]) {
        self.vendors = vendors.map(Vendor.init)
        // One for each loop, and one for each thread where deferred answers end.
        places = (0..<2 * ServerConfiguration.coreCount).map { _ in CountingPlace(vendorCount: vendors.count) }
    }

    func count(at place: Place, status: Int, failure: String?, after watch: Stopwatch) {
        let failure = failure.flatMap { name in
            place.vendor == ExchangeLabel.none ? nil : vendors[place.vendor].failureIndices[name]
        }
        let label = ExchangeLabel(
            vendor: place.vendor, route: place.route, status: status, failure: failure ?? ExchangeLabel.none)
        let nanoseconds = watch.elapsedNanoseconds
        ownPlace.counts.withLock { $0.record(label, nanoseconds: nanoseconds) }
    }

    func countControlCall(_ operation: Int, status: Int) {
        ownPlace.counts.withLock { $0.record(ControlCallLabel(operation: operation, status: status)) }
    }

    private var ownPlace: CountingPlace { places[ThreadNumber.current % places.count] }

    /// Includes a server's connections.
    func observe(_ server: ServerOccupancy) {
        servers.withLock { $0.append(server) }
    }

    /// The occupancy of the servers that use this emulator.
    var occupancies: [ServerOccupancy] { servers.withLock { $0 } }

    /// All counts together.
    var total: ExchangeCounts {
        places.reduce(into: ExchangeCounts(vendorCount: vendors.count)) { total, place in
            total.add(place.counts.withLock { $0 })
        }
    }
}
