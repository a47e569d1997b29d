import Dispatch
import Emulation
import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
