package import Emulation
import HTTPEngine
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Sandboxes in an SQLite database, for one server alone.
///
/// What is committed survives the end of the process and a power cut: SQLite has each commit on the disk before it
/// returns.
package final class SQLiteStore: StateStore {
    /// “Undy”: marks Understudy's databases.
    private static let applicationID = 0x556E_6479

    /// What brings a database of each version to the next one, from an empty database on.
    private static let steps = [
        """
        CREATE TABLE meta(start TEXT NOT NULL);
        CREATE TABLE sandboxes(
            name TEXT PRIMARY KEY, created_at REAL NOT NULL, used_at REAL NOT NULL, expires_at REAL
        ) WITHOUT ROWID;
        CREATE INDEX expiry ON sandboxes(expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE records(
            sandbox TEXT NOT NULL, part TEXT NOT NULL, key TEXT NOT NULL, rank INTEGER NOT NULL, document TEXT NOT NULL,
            PRIMARY KEY(sandbox, part, key)
        ) WITHOUT ROWID;
        """
    ]

    package let place: String
    package let start: String
    private let path: String
    private let lock: Mutex<StateLock?>
    private let writer: Mutex<SQLite>
    /// Reads what is committed, without waiting for the next commit.
    private let reader: Mutex<SQLite>
    /// Which file it is, since it may be removed while it is open.
    private let file: Mutex<UInt64?>

    /// Why the file system has no locks, so that only people can keep other servers away; `nil` when it has.
    package let lackOfLocks: Files.Failure?

    /// Opens a database, made if there is none.
    ///
    /// - Throws: a ``StoreProblem`` that says why it cannot be used; ``StateLock/Failure`` when another server uses it.
    package init(_ path: String) throws {
        place = path
        if FileSystem.isFolder(path) {
            throw StoreProblem("\(path) is a folder; expected a file, such as \(path)/understudy.db")
        }
        let lock = try StateLock("\(path).lock")
        lackOfLocks = lock.lack
        self.lock = Mutex(lock)
        do {
            if !Files.exists(path) { try Files.putFirst([], at: path, mode: 0o600) }
        } catch {
            throw StoreProblem("\(path) cannot be created: \(error)")
        }
        self.path = FileSystem.realPath(path) ?? path
        do {
            let sqlite = try SQLite(self.path)
            start = try Self.prepare(sqlite)
            writer = Mutex(sqlite)
            reader = Mutex(try SQLite(self.path, readOnly: true))
            file = Mutex(Files.number(of: self.path))
        } catch let failure as SQLite.Failure {
            throw StoreProblem("\(path) cannot be used: \(failure)")
        } catch let problem as StoreProblem {
            throw StoreProblem("\(path) \(problem)")
        }
    }

    /// Brings a database to this release's schema.
    ///
    /// - Returns: the digits of the start.
    private static func prepare(_ sqlite: SQLite) throws -> String {
        if sqlite.isReadOnly { throw StoreProblem("cannot be written; check its permissions") }
        func number(_ sql: String) throws -> Int { try sqlite.rows(sql) { $0.integer(0) }.first ?? 0 }
        let version = try number("PRAGMA user_version")
        guard try number("SELECT count(*) FROM sqlite_schema") == 0 || number("PRAGMA application_id") == applicationID
        else { throw StoreProblem("is a database of another program; name another file") }
        guard version <= steps.count else {
            throw StoreProblem(
                "was written by a newer release: its schema is \(version), and this release reads up to \(steps.count)")
        }
        try sqlite.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        if version < steps.count {
            try sqlite.transaction { (sqlite) throws(SQLite.Failure) in
                for step in steps.dropFirst(version) { try sqlite.run(step) }
                if version == 0 {
                    try sqlite.run("INSERT INTO meta(start) VALUES (?)", [.text(SandboxIdentity.drawStart(seed: nil))])
                }
                try sqlite.run("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(steps.count)")
            }
        }
        return try sqlite.rows("SELECT start FROM meta") { $0.text(0) }.first ?? ""
    }

    // MARK: - Reading

    private func read<Value: Sendable>(_ body: (SQLite) throws(SQLite.Failure) -> Value) throws(StoreProblem) -> Value {
        do {
            return try reader.withLock { (sqlite) throws(SQLite.Failure) in try body(sqlite) }
        } catch {
            throw StoreProblem("\(place) cannot be read: \(error)")
        }
    }

    package func claim(_ sandbox: String) throws(StoreProblem) -> StoreClaiming {
        let (expiries, rows) = try read { (sqlite) throws(SQLite.Failure) in
            let expiry = "SELECT expires_at FROM sandboxes WHERE name = ?"
            return (try sqlite.rows(expiry, [.text(sandbox)]) { $0.moment(0) }, try Self.rows(of: sandbox, sqlite))
        }
        let claim = StoreClaim(sandbox: sandbox, epoch: 1)
        return .claimed(claim, rows, expires: expiries.first ?? nil, wasHeld: false)
    }

    package func rows(of sandbox: String) throws(StoreProblem) -> [StateRow] {
        try read { (sqlite) throws(SQLite.Failure) in try Self.rows(of: sandbox, sqlite) }
    }

    private static func rows(of sandbox: String, _ sqlite: SQLite) throws(SQLite.Failure) -> [StateRow] {
        let sql = "SELECT part, key, rank, document FROM records WHERE sandbox = ? ORDER BY rank"
        return try sqlite.rows(sql, [.text(sandbox)]) { row in
            let name = StateRow.Name(part: row.text(0), key: row.text(1))
            return StateRow(name, rank: row.integer(2), document: row.bytes(3))
        }
    }

    package func list() throws(StoreProblem) -> [StoredSandbox] {
        try read { (sqlite) throws(SQLite.Failure) in
            try sqlite.rows("SELECT name, created_at, used_at, expires_at FROM sandboxes ORDER BY name") { row in
                StoredSandbox(
                    name: row.text(0), owner: nil,
                    times: StoreTimes(created: row.moment(1), used: row.moment(2), expires: row.moment(3)))
            }
        }
    }

    // MARK: - Writing

    private func commit<Value: Sendable>(_ body: (SQLite) throws(SQLite.Failure) -> Value) throws(StoreProblem) -> Value
    {
        do {
            return try writer.withLock { sqlite throws in
                try restoreFile(&sqlite)
                return try sqlite.transaction(body)
            }
        } catch let problem as StoreProblem {
            throw problem
        } catch {
            throw StoreProblem("\(place) cannot be written: \(error)")
        }
    }

    /// Restores a file that somebody removed, with everything it held.
    private func restoreFile(_ sqlite: inout SQLite) throws {
        let (found, known) = (Files.number(of: path), file.withLock(\.self))
        if found == known { return }
        guard found == nil else {
            throw StoreProblem("\(place) was replaced while it was in use; remove the file that is there now")
        }
        try Files.putFirst([], at: path, mode: 0o600)
        try sqlite.run("VACUUM INTO ?", [.text(path)])
        let fresh = try SQLite(path)
        _ = try Self.prepare(fresh)
        let freshReader = try SQLite(path, readOnly: true)
        reader.withLock { $0 = freshReader }
        sqlite = fresh
        file.withLock { $0 = Files.number(of: path) }
    }

    package func write(_ changes: [StoreChange]) throws(StoreProblem) -> Set<String> {
        try commit { (sqlite) throws(SQLite.Failure) in
            for change in changes { try Self.write(change, sqlite) }
        }
        return []
    }

    private static func write(_ change: StoreChange, _ sqlite: SQLite) throws(SQLite.Failure) {
        let (rows, name) = (change.rows, SQLite.Value.text(change.claim.sandbox))
        if let times = change.times {
            let facts: [SQLite.Value] = [
                name, .real(times.created.unixSeconds), .real(times.used.unixSeconds),
                times.expires.map { .real($0.unixSeconds) } ?? .null,
            ]
            let insertion = "INSERT INTO sandboxes(name, created_at, used_at, expires_at) VALUES (?1, ?2, ?3, ?4)"
            let update = "SET created_at = ?2, used_at = ?3, expires_at = ?4"
            try sqlite.run(
                rows.isEmpty
                    ? "UPDATE sandboxes \(update) WHERE name = ?1"
                    : "\(insertion) ON CONFLICT(name) DO UPDATE \(update)", facts)
        }
        if rows.isAnew { try sqlite.run("DELETE FROM records WHERE sandbox = ?", [name]) }
        for part in rows.emptied {
            try sqlite.run("DELETE FROM records WHERE sandbox = ? AND part = ?", [name, .text(part)])
        }
        for gone in rows.removed {
            try sqlite.run(
                "DELETE FROM records WHERE sandbox = ? AND part = ? AND key = ?",
                [name, .text(gone.part), .text(gone.key)])
        }
        for row in rows.written {
            try sqlite.run(
                """
                INSERT INTO records(sandbox, part, key, rank, document) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT(sandbox, part, key) DO UPDATE SET document = excluded.document
                """,
                [name, .text(row.name.part), .text(row.name.key), .integer(row.rank), .bytes(row.document)])
        }
    }

    package func release(_ claims: [StoreClaim]) throws(StoreProblem) {
        // Most have rows, and then nothing is to be written.
        let empty = try read { (sqlite) throws(SQLite.Failure) in
            var empty: [String] = []
            for claim in claims { empty += try sqlite.rows(Self.emptySandbox, [.text(claim.sandbox)]) { $0.text(0) } }
            return empty
        }
        if empty.isEmpty { return }
        try commit { (sqlite) throws(SQLite.Failure) in
            for name in empty { try sqlite.run("DELETE FROM sandboxes WHERE name = ?", [.text(name)]) }
        }
    }

    private static let emptySandbox = """
        SELECT name FROM sandboxes WHERE name = ? AND NOT EXISTS (SELECT 1 FROM records WHERE sandbox = name)
        """

    package func delete(_ claim: StoreClaim) throws(StoreProblem) -> Bool {
        try commit { (sqlite) throws(SQLite.Failure) in
            try sqlite.run("DELETE FROM sandboxes WHERE name = ?", [.text(claim.sandbox)])
            try sqlite.run("DELETE FROM records WHERE sandbox = ?", [.text(claim.sandbox)])
            return sqlite.changes > 0
        }
    }

    package func deleteExpired(at moment: Moment, sparing names: Set<String>) throws(StoreProblem) {
        let expired = try read { (sqlite) throws(SQLite.Failure) in
            let sql = "SELECT name FROM sandboxes WHERE expires_at <= ?"
            return try sqlite.rows(sql, [.real(moment.unixSeconds)]) { $0.text(0) }
        }
        for name in expired where !names.contains(name) { _ = try delete(StoreClaim(sandbox: name, epoch: 1)) }
    }

    // MARK: - Taking part

    package func join(_ member: any StoreMember) {
        // SQLite's own check reads the whole file, which nobody should have to wait for.
        OperatingSystem.startThread { [weak self, place, path] in
            // Nor should it compete with the start for the processor.
            usleep(500_000)
            let number = Files.number(of: path)
            let found: String
            do throws(SQLite.Failure) {
                let findings = try SQLite(path, readOnly: true).rows("PRAGMA quick_check(1)") { $0.text(0) }
                found = findings.first?.replacing("\n", with: " ") ?? "ok"
            } catch {
                found = "\(error)"
            }
            // Another file in its place is no damage.
            guard found != "ok", let self, number == file.withLock(\.self), number == Files.number(of: path) else {
                return
            }
            member.told(
                StoreProblem(
                    "\(place) is damaged (\(found)); what can be read is served: save it with understudy state export"
                ))
        }
    }

    package func leave() {
        reader.withLock { $0.close() }
        writer.withLock { $0.close() }
        lock.withLock { $0 = nil }
    }
}
