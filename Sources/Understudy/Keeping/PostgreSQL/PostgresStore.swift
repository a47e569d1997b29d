package import Dispatch
package import Emulation
import HTTPEngine
import JSON
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A store in PostgreSQL, which several servers may share.
///
/// Each sandbox is a row that names its owner. Whoever claims, writes or releases a sandbox first locks that row, and
/// then checks the owner; so operations on a sandbox happen one after the other, by its owner alone. Whoever locks
/// several rows does so in the order of their names, so that no two wait for each other.
package final class PostgresStore: StateStore {
    package let place: String
    package let start: String
    package let replica: String?
    /// A batch locks a row for each sandbox in it, which costs the database as much as the change itself.
    package var delay: DispatchTimeInterval { .milliseconds(400) }

    let id: String
    /// How long a renewal counts for this server. The others give it half a second more, by the database's clock.
    let lease: Duration
    /// When the last renewal ends, in nanoseconds of ``SteadyTime``.
    let end = Atomic<Int64>(0)
    /// Counts the times in which others may have taken this server's sandboxes.
    let lapses = Atomic<Int>(0)
    let isLeaving = Atomic(false)
    let isServing = Atomic(false)
    let hasEnded = DispatchSemaphore(value: 0)
    let member = Mutex(Member())
    /// Sandboxes that this server may own without knowing it: the answer to a claim was lost, or came too late.
    let doubtful = Mutex<Set<String>>([])
    let pulse: Mutex<Pulse>
    let work: Mutex<PostgresConnection>
    /// Claims wait for the database's disk in parallel; those of one sandbox one after the other.
    private let lanes: [Lane]

    struct Member: Sendable {
        weak var value: (any StoreMember)?
    }

    private final class Lane: Sendable {
        let connection: Mutex<PostgresConnection>

        init(_ connection: PostgresConnection) { self.connection = Mutex(connection) }
    }

    struct Pulse {
        let connection: PostgresConnection
        var isTroubled = false
    }

    package var isAlive: Bool {
        SteadyTime.nanoseconds < end.load(ordering: .acquiring) && !isLeaving.load(ordering: .acquiring)
    }

    /// Opens the store at a URL, and shows from then on that this server is alive.
    ///
    /// - Parameters:
    ///   - lease: how long a renewal counts; the same for all servers of the store.
    ///   - patience: how long the database may be silent.
    package init(_ url: String, lease: Duration = .seconds(1), patience: Duration = .seconds(5)) throws(StoreProblem) {
        try LibPQ.load()
        let address = try PostgresAddress(url)
        let digits = Self.digits()
        (place, id, self.lease) = (address.place, "\(OperatingSystem.machineName ?? "server")-\(digits)", lease)
        replica = id
        let first = PostgresConnection(to: address, patience: patience)
        do throws(PostgresFailure) {
            start = try PostgresSchema.make(first)
        } catch {
            throw StoreProblem("\(address.place): \(error)")
        }
        work = Mutex(first)
        lanes = (0..<4).map { _ in Lane(PostgresConnection(to: address, patience: patience)) }
        // Databases that cannot notify are polled at each heartbeat.
        pulse = Mutex(
            Pulse(connection: PostgresConnection(to: address, patience: lease, greeting: "LISTEN understudy_\(digits)"))
        )
        try beginHeartbeat()
    }

    static func digits() -> String { String(UInt32.random(in: 1 << 28 ... .max), radix: 16) }

    /// Works on a connection in a transaction.
    func on<Value: Sendable>(
        _ connection: borrowing Mutex<PostgresConnection>,
        _ body: (PostgresConnection) throws(PostgresFailure) -> Value
    ) throws(StoreProblem) -> Value {
        do throws(PostgresFailure) {
            return try connection.withLock { (connection) throws(PostgresFailure) in
                try connection.transaction(body)
            }
        } catch {
            throw StoreProblem("\(place): \(error)")
        }
    }

    /// The condition for rows of servers that are alive.
    ///
    /// Counted from when the statement arrived, which is before its snapshot: in the other order, a server that renewed
    /// in between would count as gone.
    var isLive: String {
        let length = lease + .milliseconds(500)
        return "seen >= statement_timestamp() - interval '\(length.nanoseconds / 1000) microseconds'"
    }

    // MARK: - Claims

    package func claim(_ sandbox: String) throws(StoreProblem) -> StoreClaiming {
        let lapse = lapses.load(ordering: .acquiring)
        try requireLife(since: lapse)
        var isNews = false
        do throws(StoreProblem) {
            let claiming = try on(lane(of: sandbox).connection) { (connection) throws(PostgresFailure) in
                try attempt(sandbox, connection, &isNews)
            }
            if case .held(let owner) = claiming, isNews { notify(owner) }
            // The member learns of a claim before it learns of a later lapse, or never.
            try requireLife(since: lapse)
            return claiming
        } catch {
            doubtful.withLock { _ = $0.insert(sandbox) }
            throw error
        }
    }

    private func requireLife(since lapse: Int) throws(StoreProblem) {
        guard isAlive, lapse == lapses.load(ordering: .acquiring) else {
            throw StoreProblem("\(place): this server could not renew its lease in time")
        }
    }

    private func attempt(
        _ sandbox: String, _ connection: PostgresConnection, _ isNews: inout Bool
    ) throws(PostgresFailure) -> StoreClaiming {
        try connection.run(
            """
            INSERT INTO understudy.sandboxes (name, epoch, created_at, used_at) SELECT $1, 0, now, now
            FROM (SELECT extract(epoch FROM statement_timestamp()) AS now) AS clock ON CONFLICT (name) DO NOTHING
            """, [sandbox])
        let found = try connection.run(
            "SELECT epoch, expires_at, owner FROM understudy.sandboxes WHERE name = $1 FOR UPDATE", [sandbox])
        guard !found.indices.isEmpty else {
            throw PostgresFailure(description: "another server has just deleted the sandbox", state: "40001")
        }
        let owner = found.text(0, 2)
        // As a separate statement, which sees what was committed while the previous one waited for the lock.
        if let owner, owner != id,
            case let rows = try connection.run("SELECT id FROM understudy.servers WHERE id = $1 AND \(isLive)", [owner]),
            !rows.indices.isEmpty
        {
            let wish = try connection.run(
                """
                INSERT INTO understudy.wishes AS old (sandbox, server, owner, at) VALUES ($1, $2, $3, statement_timestamp())
                ON CONFLICT (sandbox, server) DO UPDATE SET owner = excluded.owner, at = excluded.at
                WHERE old.owner IS DISTINCT FROM excluded.owner OR old.at < excluded.at - interval '1 second'
                RETURNING sandbox
                """, [sandbox, id, owner])
            isNews = !wish.indices.isEmpty
            return .held(by: owner)
        }
        let epoch = found.number(0, 0) + 1
        try connection.run(
            "UPDATE understudy.sandboxes SET owner = $2, epoch = $3 WHERE name = $1", [sandbox, id, "\(epoch)"])
        let wish = try connection.run(
            "DELETE FROM understudy.wishes WHERE sandbox = $1 AND server = $2 RETURNING sandbox", [sandbox, id])
        let rows = try Self.rows(of: sandbox, connection)
        doubtful.withLock { _ = $0.remove(sandbox) }
        return .claimed(
            StoreClaim(sandbox: sandbox, epoch: epoch), rows, expires: found.moment(0, 1),
            wasHeld: !wish.indices.isEmpty || owner.map { $0 != id } ?? false)
    }

    /// Wakes another server. Where databases cannot do that, it learns of the wish at its next heartbeat.
    private func notify(_ server: String) {
        _ = try? on(lane(of: server).connection) { (connection) throws(PostgresFailure) in
            try connection.run("SELECT pg_notify($1, '')", ["understudy_" + server.suffix(8)]).indices
        }
    }

    private func lane(of name: String) -> Lane { lanes[Int(Array(name.utf8).stableHash % UInt64(lanes.count))] }

    /// Releases those of these sandboxes that this server owns without knowing it, and returns the others.
    func releaseDoubtful(of wanted: [String]) throws(StoreProblem) -> [String] {
        let suspects = doubtful.withLock { $0.intersection(wanted) }
        var known = wanted.filter { !suspects.contains($0) }
        for sandbox in suspects {
            let isReleased = try on(lane(of: sandbox).connection) { (connection) throws(PostgresFailure) -> Bool in
                // No claim of it is in progress here.
                guard doubtful.withLock({ $0.contains(sandbox) }) else { return false }
                try connection.run(
                    "UPDATE understudy.sandboxes SET owner = NULL WHERE name = $1 AND owner = $2", [sandbox, id])
                return true
            }
            if !isReleased { known.append(sandbox) }
        }
        return known
    }

    // MARK: - Reading

    package func rows(of sandbox: String) throws(StoreProblem) -> [StateRow] {
        try on(lane(of: sandbox).connection) { (connection) throws(PostgresFailure) in
            try Self.rows(of: sandbox, connection)
        }
    }

    private static func rows(
        of sandbox: String, _ connection: PostgresConnection
    ) throws(PostgresFailure) -> [StateRow] {
        let rows = try connection.run(
            "SELECT part, key, rank, document FROM understudy.records WHERE sandbox = $1 ORDER BY rank", [sandbox])
        return rows.indices.map { row in
            let name = StateRow.Name(part: rows.text(row, 0) ?? "", key: rows.text(row, 1) ?? "")
            return StateRow(name, rank: rows.number(row, 2), document: rows.bytes(row, 3))
        }
    }

    package func list() throws(StoreProblem) -> [StoredSandbox] {
        try on(lanes[0].connection) { (connection) throws(PostgresFailure) in
            let rows = try connection.run(
                """
                SELECT s.name, s.created_at, s.used_at, s.expires_at, v.id FROM understudy.sandboxes AS s
                LEFT JOIN (SELECT id FROM understudy.servers WHERE \(isLive)) AS v ON v.id = s.owner
                WHERE v.id IS NOT NULL OR EXISTS (SELECT 1 FROM understudy.records AS r WHERE r.sandbox = s.name)
                ORDER BY s.name COLLATE "C"
                """)
            return rows.indices.map { row in
                StoredSandbox(
                    name: rows.text(row, 0) ?? "", owner: rows.text(row, 4),
                    times: StoreTimes(
                        created: rows.moment(row, 1), used: rows.moment(row, 2), expires: rows.moment(row, 3)))
            }
        }
    }
}

/// How a server shows that it is alive, and learns which sandboxes others wish for.
extension PostgresStore {
    private static let interval = Duration.milliseconds(200)

    /// Shows for the first time that this server is alive, then continues on a thread of its own.
    func beginHeartbeat() throws(StoreProblem) {
        do throws(PostgresFailure) {
            try pulse.withLock { (pulse) throws(PostgresFailure) in try regain(pulse.connection) }
        } catch {
            throw StoreProblem("\(place): \(error)")
        }
        let isRunning = OperatingSystem.startThread { [weak self, hasEnded] in
            while let self, !self.isLeaving.load(ordering: .acquiring) { self.pulse.withLock { self.turn(&$0) } }
            hasEnded.signal()
        }
        guard isRunning else { throw StoreProblem("\(place): the system has no thread left") }
    }

    package func join(_ member: any StoreMember) { self.member.withLock { $0.value = member } }

    package func leave() {
        isLeaving.store(true, ordering: .releasing)
        // A database that does not answer will notice by itself that the server is gone.
        guard hasEnded.wait(timeout: .now() + (lease * 3).inSeconds) == .success else { return }
        hasEnded.signal()
        pulse.withLock { _ = try? $0.connection.run("DELETE FROM understudy.servers WHERE id = $1", [id]) }
    }

    private func turn(_ pulse: inout Pulse) {
        let begun = SteadyTime.nanoseconds
        do throws(PostgresFailure) {
            try renew(pulse.connection)
            if pulse.isTroubled { report(nil) }
            pulse.isTroubled = false
        } catch {
            if !isAlive, !pulse.isTroubled {
                pulse.isTroubled = true
                report(StoreProblem("\(place): \(error)"))
            }
        }
        let rest = Self.interval.nanoseconds - (SteadyTime.nanoseconds - begun)
        pulse.connection.rest(for: .nanoseconds(max(0, rest)))
    }

    private func report(_ problem: StoreProblem?) { member.withLock { $0.value }?.told(problem) }

    /// Renews this server's lease, and reads which sandboxes others wish for.
    private func renew(_ connection: PostgresConnection) throws(PostgresFailure) {
        let sent = SteadyTime.nanoseconds
        let rows = try connection.run(
            """
            WITH me AS (UPDATE understudy.servers SET seen = clock_timestamp() WHERE id = $1 RETURNING id)
            SELECT w.sandbox FROM me LEFT JOIN understudy.wishes AS w
            ON w.owner = me.id AND w.at > statement_timestamp() - interval '10 seconds'
            AND EXISTS (SELECT 1 FROM understudy.sandboxes AS s WHERE s.name = w.sandbox AND s.owner = me.id)
            """, [id])
        // The answer must arrive in time, not only the request: others may have looked before that arrived.
        guard isAlive, !rows.indices.isEmpty else { return try regain(connection) }
        end.store(sent + lease.nanoseconds, ordering: .releasing)
        let wanted = rows.texts()
        if !wanted.isEmpty { serve(wanted) }
    }

    /// Finds out which sandboxes are still this server's, and shows that it is alive.
    ///
    /// A server that claims one of them meanwhile has either locked its row first, and is waited for, or locks it
    /// afterwards, and sees that this server is alive.
    private func regain(_ connection: PostgresConnection) throws(PostgresFailure) {
        end.store(0, ordering: .releasing)
        lapses.add(1, ordering: .acquiringAndReleasing)
        var sent: Int64 = 0
        let own = try connection.transaction { (connection) throws(PostgresFailure) in
            let rows = try connection.run(
                "SELECT name, epoch FROM understudy.sandboxes WHERE owner = $1 ORDER BY name FOR UPDATE", [id])
            let own = Dictionary(
                rows.indices.map { (rows.text($0, 0) ?? "", rows.number($0, 1)) }, uniquingKeysWith: { $1 })
            sent = SteadyTime.nanoseconds
            try connection.run(
                """
                INSERT INTO understudy.servers (id, seen) VALUES ($1, clock_timestamp())
                ON CONFLICT (id) DO UPDATE SET seen = clock_timestamp()
                """, [id])
            return own
        }
        member.withLock { $0.value }?.regained(own)
        end.store(sent + lease.nanoseconds, ordering: .releasing)
    }

    /// Passes on to the member what others wish for, unless it is still busy with earlier wishes.
    private func serve(_ wanted: [String]) {
        guard !isServing.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let isRunning = OperatingSystem.startThread { [self] in
            // What fails now is wished for again at the next heartbeat.
            let known = (try? releaseDoubtful(of: wanted)) ?? []
            if !known.isEmpty { member.withLock { $0.value }?.wanted(known) }
            isServing.store(false, ordering: .releasing)
        }
        if !isRunning { isServing.store(false, ordering: .releasing) }
    }
}

/// A clock that nobody sets, and that runs on while the machine sleeps.
enum SteadyTime {
    #if canImport(Darwin)
        private static let clock = CLOCK_MONOTONIC
    #else
        // Linux stops CLOCK_MONOTONIC while the machine is suspended, and a lease would outlast that.
        private static let clock = CLOCK_BOOTTIME
    #endif

    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
