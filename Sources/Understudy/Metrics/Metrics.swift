import Emulation
import HTTPEngine
import Synchronization

/// Counts what the server answers and how long that takes, for all sandboxes together; nothing but its end clears it.
///
/// Every thread counts in a place of its own, and the places are added up when somebody asks: a count that all loops
/// share would cost each request more than the counting.
final class Metrics: Sendable {
    /// Where an exchange is counted.
    struct Place {
        var vendor = ExchangeLabel.none
        var route = ExchangeLabel.none
    }

    /// A vendor as the counts name it.
    struct Vendor: Sendable {
        let id: String
        let routes: [String]
        let failures: [String]
        let failureIndices: [String: Int]

        init(_ vendor: any LoadedVendor) {
            id = vendor.identity.id
            routes = vendor.routes.map(\.id)
            failures = vendor.failures.map(\.name)
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

    /// Counts of nothing yet.
    init(vendors: [any LoadedVendor]) {
        self.vendors = vendors.map(Vendor.init)
        // The loops have one each, and so have the threads on which deferred answers end.
        places = (0..<2 * ServerConfiguration.coreCount).map { _ in CountingPlace(vendorCount: vendors.count) }
    }

    /// Counts an exchange.
    func count(at place: Place, status: Int, failure: String?, after watch: Stopwatch) {
        let failure = failure.flatMap { name in
            place.vendor == ExchangeLabel.none ? nil : vendors[place.vendor].failureIndices[name]
        }
        let label = ExchangeLabel(
            vendor: place.vendor, route: place.route, status: status, failure: failure ?? ExchangeLabel.none)
        let nanoseconds = watch.elapsedNanoseconds
        ownPlace.counts.withLock { $0.record(label, nanoseconds: nanoseconds) }
    }

    /// Counts a control call at the operation of that index.
    func countControlCall(_ operation: Int, status: Int) {
        ownPlace.counts.withLock { $0.record(ControlCallLabel(operation: operation, status: status)) }
    }

    private var ownPlace: CountingPlace { places[ThreadNumber.current % places.count] }

    /// Takes a server's connections into account.
    func observe(_ server: ServerOccupancy) {
        servers.withLock { $0.append(server) }
    }

    /// How busy the servers are that ask here.
    var occupancies: [ServerOccupancy] { servers.withLock { $0 } }

    /// All counts together.
    var total: ExchangeCounts {
        places.reduce(into: ExchangeCounts(vendorCount: vendors.count)) { total, place in
            total.add(place.counts.withLock { $0 })
        }
    }
}
