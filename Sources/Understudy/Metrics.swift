import Emulation
import HTTPEngine
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Counts the server's answers and their durations, for all sandboxes together, until the process ends.
///
/// Every thread counts in its own place, and the places are added up on reading: a counter shared by all loops would
/// cost each request more than the counting itself.
final class Metrics: Sendable {
    struct Vendor: Sendable {
        let id: String
        /// Without those that fixtures describe.
        let routes: [String]
        let failures: [String]
        let failureIndices: [String: Int]
        /// Where its bits begin in a ``Coverage``: one for each failure, then one for each route.
        let firstMark: Int

        init(_ vendor: any AnyLoadedVendor, firstMark: Int) {
            self.firstMark = firstMark
            id = vendor.identity.id
            routes = vendor.addedRoutes == nil ? vendor.routes.map(\.id) : []
            failures = vendor.failureNames
            failureIndices = Dictionary(failures.enumerated().map { ($1, $0) }) { first, _ in first }
        }
    }

    /// The counts of some threads, protected by a lock that is hardly ever contended.
    private final class CountingPlace: Sendable {
        let counts: Mutex<ExchangeCounts>

        init(_ counts: ExchangeCounts) { self.counts = Mutex(counts) }
    }

    /// The vendors, in the emulator's order.
    let vendors: [Vendor]
    /// When counting began, by the machine's clock.
    let began = SandboxClock.machine
    private let table: RouteTable
    private let places: [CountingPlace]
    private let servers = Mutex<[ServerOccupancy]>([])

    /// - Parameter vendors: the last one's routes may be replaced.
    init(vendors: [any AnyLoadedVendor], _ table: RouteTable) {
        self.table = table
        self.vendors = vendors.reduce(into: []) { known, vendor in
            let first = known.last.map { $0.firstMark + $0.routes.count + $0.failures.count } ?? 0
            known.append(Vendor(vendor, firstMark: first))
        }
        // One for each loop, and one for each thread where deferred answers end.
        places = (0..<2 * ServerConfiguration.coreCount).map { _ in
            CountingPlace(ExchangeCounts(vendorCount: vendors.count))
        }
    }

    /// The label of an exchange at its vendor and route.
    func label(at place: ExchangeLabel, status: Int, failure: String?) -> ExchangeLabel {
        var label = place
        label.status = status
        if let failure, place.vendor != ExchangeLabel.none {
            label.failure = vendors[place.vendor].failureIndices[failure] ?? ExchangeLabel.none
        }
        return label
    }

    /// The bits that an exchange sets in the coverage of its sandbox; negative for none.
    func marks(of label: ExchangeLabel) -> (route: Int, failure: Int) {
        guard label.vendor != ExchangeLabel.none else { return (-1, -1) }
        // Read in place: a copy would retain its lists.
        let (first, failures) = (vendors[label.vendor].firstMark, vendors[label.vendor].failures.count)
        return (label.route < 0 ? -1 : first + failures + label.route, label.failure < 0 ? -1 : first + label.failure)
    }

    /// A vendor's routes, with those that were replaced.
    func routes(of vendor: Int) -> [String] {
        vendors[vendor].routes.isEmpty ? table.addedNames : vendors[vendor].routes
    }

    func count(_ label: ExchangeLabel, after watch: Stopwatch) {
        let nanoseconds = watch.elapsedNanoseconds
        ownPlace.counts.withLock { $0.record(label, nanoseconds: nanoseconds) }
    }

    /// Counts a control call, by its index or ``ExchangeLabel/none``.
    func countControlCall(_ operation: Int, status: Int) {
        let label = ExchangeLabel(route: operation, status: status)
        ownPlace.counts.withLock { $0.controlCalls[label, default: 0] += 1 }
    }

    private var ownPlace: CountingPlace { places[ThreadNumber.current % places.count] }

    func observe(_ server: ServerOccupancy) { servers.withLock { $0.append(server) } }

    var occupancies: [ServerOccupancy] { servers.withLock { $0 } }

    var total: ExchangeCounts {
        places.reduce(into: ExchangeCounts(vendorCount: vendors.count)) { total, place in
            total.add(place.counts.withLock { $0 })
        }
    }
}

/// Groups exchanges for counting, by indices, so that a request creates no strings.
struct ExchangeLabel: Hashable, Sendable, Comparable {
    /// The index for no vendor, route or failure.
    static let none = -1

    var vendor = none
    var route = none
    var status = 0
    var failure = none

    /// In one step instead of four, since every request is counted.
    func hash(into hasher: inout Hasher) { hasher.combine(vendor << 48 ^ route << 32 ^ status << 16 ^ failure) }

    static func < (left: ExchangeLabel, right: ExchangeLabel) -> Bool {
        (left.vendor, left.route, left.status, left.failure) < (right.vendor, right.route, right.status, right.failure)
    }
}

struct ExchangeCounts: Sendable {
    private(set) var exchanges: [ExchangeLabel: Int] = [:]
    /// By the call as route, and the status.
    fileprivate(set) var controlCalls: [ExchangeLabel: Int] = [:]
    /// By vendor, the last one for paths that no vendor owns.
    private(set) var durations: [DurationHistogram]

    init(vendorCount: Int) { durations = Array(repeating: DurationHistogram(), count: vendorCount + 1) }

    mutating func record(_ label: ExchangeLabel, nanoseconds: Int) {
        exchanges[label, default: 0] += 1
        durations[label.vendor == ExchangeLabel.none ? durations.count - 1 : label.vendor].record(nanoseconds)
    }

    mutating func add(_ other: ExchangeCounts) {
        exchanges.merge(other.exchanges, uniquingKeysWith: +)
        controlCalls.merge(other.controlCalls, uniquingKeysWith: +)
        for index in durations.indices { durations[index].add(other.durations[index]) }
    }
}

/// How many durations fell into each bucket, and their sum.
struct DurationHistogram: Sendable {
    /// The upper bounds of the buckets: from what the machine itself takes to what people wait for.
    static let bounds: [(nanoseconds: Int, seconds: String)] = [
        (50_000, "0.00005"), (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"),
        (2_500_000, "0.0025"), (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"),
        (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1"),
        (2_500_000_000, "2.5"), (5_000_000_000, "5"), (10_000_000_000, "10"),
    ]

    /// By bucket, the last one without a bound.
    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var nanoseconds = 0

    mutating func record(_ nanoseconds: Int) {
        // Nearly all are short, so the search begins there.
        counts[Self.bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? Self.bounds.count] += 1
        self.nanoseconds += nanoseconds
    }

    mutating func add(_ other: DurationHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        nanoseconds += other.nanoseconds
    }

    var count: Int { counts.reduce(0, +) }

    /// How many durations were at most each bound, including `+Inf`.
    var cumulative: [(bound: String, count: Int)] {
        var sum = 0
        return zip(Self.bounds.map(\.seconds) + ["+Inf"], counts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }
}

// MARK: - As text

extension Emulator {
    /// The metrics in the format of Prometheus.
    ///
    /// - Parameter calls: the ids of the control calls, in the order of their indices.
    func metricsText(calls: [String]) -> String {
        var text = MetricsText()
        let counts = metrics.total
        writeExchanges(counts, to: &text)
        writeDurations(counts, to: &text)
        let name = "understudy_control_calls_total"
        text.family(name, "counter", "Answered control calls, by call and status.")
        for (label, count) in counts.controlCalls.sorted(by: { $0.key < $1.key }) {
            let call = label.route == ExchangeLabel.none ? "" : calls[label.route]
            text.sample(name, count, ["call": call, "status": "\(label.status)"])
        }
        // Without a server there are no connections to report.
        let servers = metrics.occupancies
        if !servers.isEmpty {
            text.gauge(
                "understudy_open_connections", "Open connections, WebSockets included.",
                servers.reduce(0) { $0 + $1.openConnections })
            text.gauge("understudy_open_websockets", "Open WebSockets.", servers.reduce(0) { $0 + $1.openWebSockets })
        }
        text.gauge("understudy_sandboxes", "Sandboxes, the standard one included.", sandboxes.count)
        text.gauge(
            "understudy_sandboxes_in_memory", "Sandboxes, including removed ones that are still in use.",
            sandboxes.countInMemory)
        text.gauge("understudy_journal_entries", "Entries of all journals.", sandboxes.journalEntries)
        text.gauge("understudy_journal_bytes", "Memory that all journals keep, estimated.", sandboxes.journalBytes)
        text.counter(
            "understudy_log_lines_dropped_total", "Log lines that were dropped since nobody read them.",
            droppedLogLines())
        if let total = keeper?.total { writeState(total, to: &text) }
        text.gauge(
            "understudy_build_info", "Always 1; the labels are the release and the fixtures' fingerprint.", 1,
            ["version": Self.version, "fixtures": inForce.loaded.fingerprint])
        text.gauge(
            "process_start_time_seconds", "When the process was started, in Unix seconds.", metrics.began.unixSeconds)
        // Only Linux has this file.
        let statistics = String(decoding: (try? Files.content(of: "/proc/self/statm")) ?? [], as: UTF8.self)
        if let pages = statistics.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
            let bytes = pages * sysconf(Int32(_SC_PAGESIZE))
            text.gauge("process_resident_memory_bytes", "Resident memory.", bytes)
        }
        return text.text
    }

    private func writeExchanges(_ counts: ExchangeCounts, to text: inout MetricsText) {
        let name = "understudy_requests_total"
        text.family(
            name, "counter", "Answered requests of all sandboxes; reason is the failure's name, route the route's id.")
        for (label, count) in counts.exchanges.sorted(by: { $0.key < $1.key }) {
            let vendor = label.vendor == ExchangeLabel.none ? nil : metrics.vendors[label.vendor]
            let route = label.route == ExchangeLabel.none ? nil : metrics.routes(of: label.vendor)[label.route]
            let reason = label.failure == ExchangeLabel.none ? nil : vendor?.failures[label.failure]
            let (id, status) = (vendor?.id ?? "", "\(label.status)")
            text.sample(name, count, ["vendor": id, "route": route ?? "", "status": status, "reason": reason ?? ""])
        }
    }

    private func writeDurations(_ counts: ExchangeCounts, to text: inout MetricsText) {
        let name = "understudy_request_duration_seconds"
        text.family(
            name, "histogram",
            "Time from a request's arrival to its answer, including waits, but no delays of faults on the wire.")
        let vendors = metrics.vendors.indices.map { metrics.routes(of: $0).isEmpty ? nil : metrics.vendors[$0].id }
        for case (let vendor?, let durations) in zip(vendors + [""], counts.durations) {
            for (bound, count) in durations.cumulative {
                text.sample("\(name)_bucket", count, ["vendor": vendor, "le": bound])
            }
            text.sample("\(name)_sum", Double(durations.nanoseconds) / 1e9, ["vendor": vendor])
            text.sample("\(name)_count", durations.count, ["vendor": vendor])
        }
    }

    private func writeState(_ total: StateKeeper.Counts, to text: inout MetricsText) {
        let name = "understudy_state"
        text.counter("\(name)_sandboxes_read_total", "Sandboxes read from the store of --state.", total.read)
        text.counter("\(name)_changes_written_total", "Changes of sandboxes written to the store.", total.written)
        text.counter("\(name)_bytes_written_total", "The bytes of their records.", total.bytes)
        text.counter(
            "\(name)_write_failures_total", "Changes that could not be written, each attempt counted.", total.failed)
        guard let replica else { return }
        text.counter(
            "\(name)_taken_over_total", "Sandboxes taken from another replica, or from one that was gone.",
            total.takenOver)
        text.counter(
            "\(name)_handed_over_total", "Sandboxes handed over to a replica that asked for them.", total.handedOver)
        text.counter(
            "understudy_lease_lapses_total", "How often others could have counted this replica as gone.", total.lapses)
        text.gauge("understudy_replica_info", "Always 1; the label is the replica's name.", 1, ["replica": replica])
    }
}

/// Text in the exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: String, _ about: String) {
        text += "# HELP \(name) \(Self.escaped(about))\n# TYPE \(name) \(kind)\n"
    }

    mutating func sample(_ name: String, _ value: some Numeric, _ labels: KeyValuePairs<String, String> = [:]) {
        let members = labels.map { "\($0)=\"\(Self.escaped($1).replacing("\"", with: "\\\""))\"" }
        text += name + (members.isEmpty ? "" : "{\(members.joined(separator: ","))}") + " \(value)\n"
    }

    mutating func counter(_ name: String, _ about: String, _ value: Int) {
        family(name, "counter", about)
        sample(name, value)
    }

    mutating func gauge(
        _ name: String, _ about: String, _ value: some Numeric, _ labels: KeyValuePairs<String, String> = [:]
    ) {
        family(name, "gauge", about)
        sample(name, value, labels)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}

// MARK: - From the system

/// Measures time by a clock that cannot be set; faster to read than the library's, and read twice per request.
struct Stopwatch: Sendable {
    private let began = Self.nanoseconds

    var elapsedNanoseconds: Int { Self.nanoseconds - began }

    private static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// Numbers threads on first use, so that each can count in its own place.
private enum ThreadNumber {
    private static let last = Atomic(0)
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The number of the current thread, from 1; 0 where the system keeps none.
    static var current: Int {
        guard let key else { return 0 }
        if let number = pthread_getspecific(key) { return Int(bitPattern: number) }
        let number = last.add(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}
