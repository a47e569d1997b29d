package import Emulation

enum PostgresSchema {
    private static let version = 1

    private static let tables = [
        "CREATE SCHEMA IF NOT EXISTS understudy",
        "CREATE TABLE understudy.meta (version integer NOT NULL, start text NOT NULL)",
        "CREATE TABLE understudy.servers (id text PRIMARY KEY, seen timestamptz NOT NULL)",
        // Times are in Unix seconds, by the clocks of the servers.
        """
        CREATE TABLE understudy.sandboxes (
            name text PRIMARY KEY, epoch bigint NOT NULL, owner text, created_at double precision NOT NULL,
            used_at double precision NOT NULL, expires_at double precision)
        """,
        """
        CREATE TABLE understudy.records (
            sandbox text, part text, key text, rank bigint NOT NULL, document text NOT NULL,
            PRIMARY KEY (sandbox, part, key))
        """,
        // Who wishes for a sandbox, and who owns it; nobody once it was released.
        """
        CREATE TABLE understudy.wishes (
            sandbox text, server text, owner text, at timestamptz NOT NULL, PRIMARY KEY (sandbox, server))
        """,
    ]

    /// Creates the tables if there are none.
    ///
    /// - Returns: the start of the store.
    static func make(_ connection: PostgresConnection) throws(PostgresFailure) -> String {
        while true {
            if let start = try start(connection) { return start }
            do throws(PostgresFailure) {
                try connection.transaction { (connection) throws(PostgresFailure) in
                    for table in tables { try connection.run(table) }
                    try connection.run(
                        "INSERT INTO understudy.meta (version, start) VALUES ($1, $2)",
                        ["\(version)", PostgresStore.digits()])
                }
            } catch {
                // Another server may just have created them.
                guard ["23505", "42P06", "42P07"].contains(error.state) else { throw error }
            }
        }
    }

    private static func start(_ connection: PostgresConnection) throws(PostgresFailure) -> String? {
        let rows: PostgresRows
        do throws(PostgresFailure) {
            rows = try connection.run("SELECT version, start FROM understudy.meta")
        } catch {
            // There is no such table, or no such schema.
            guard ["42P01", "3F000"].contains(error.state) else { throw error }
            return nil
        }
        let found = rows.number(0, 0)
        // An older version is migrated here, in one transaction.
        guard found == version, let start = rows.text(0, 1) else {
            throw PostgresFailure(
                description: "the schema understudy has version \(found), this release reads version \(version)")
        }
        return start
    }
}

/// Changes to what is stored. All of them may be repeated, which happens when the answer to a commit is lost.
extension PostgresStore {
    /// The approximate bytes of documents in a statement, so that its time does not grow with the change.
    private static let pieceSize = 4 << 20

    package func write(_ changes: [StoreChange]) throws(StoreProblem) -> Set<String> {
        guard !changes.isEmpty else { return [] }
        let own = try on(work) { (connection) throws(PostgresFailure) in
            let own = Set(try lock(changes.map(\.claim), connection))
            let changes = changes.filter { own.contains($0.claim.sandbox) }
            if !changes.isEmpty { try put(changes, connection) }
            return own
        }
        return Set(changes.map(\.claim.sandbox)).subtracting(own)
    }

    /// Locks those of these sandboxes that are still this server's, and returns their names.
    private func lock(_ claims: [StoreClaim], _ connection: PostgresConnection) throws(PostgresFailure) -> [String] {
        try connection.run(
            """
            SELECT s.name FROM understudy.sandboxes AS s
            JOIN unnest($1::text[], $2::bigint[]) AS c (name, epoch) ON s.name = c.name AND s.epoch = c.epoch
            WHERE s.owner = $3 ORDER BY s.name FOR UPDATE OF s
            """,
            [PostgresText.array(claims.map(\.sandbox)), PostgresText.array(claims.map { "\($0.epoch)" }), id]
        ).texts()
    }

    private func put(_ changes: [StoreChange], _ connection: PostgresConnection) throws(PostgresFailure) {
        /// Executes a statement with an array for each column of these rows, if there are any.
        func each(_ rows: some Collection<[String?]>, _ statement: String) throws(PostgresFailure) {
            guard let width = rows.first?.count else { return }
            try connection.run(statement, (0..<width).map { column in PostgresText.array(rows.map { $0[column] }) })
        }
        func name(_ change: StoreChange, _ name: StateRow.Name) -> [String?] {
            [change.claim.sandbox, name.part, name.key]
        }
        try each(
            changes.compactMap { change in
                change.times.map { times in
                    [change.claim.sandbox]
                        + [times.created, times.used, times.expires].map { $0.map { "\($0.unixSeconds)" } }
                }
            },
            """
            UPDATE understudy.sandboxes AS s
            SET created_at = c.created_at, used_at = c.used_at, expires_at = c.expires_at
            FROM unnest($1::text[], $2::double precision[], $3::double precision[], $4::double precision[])
                AS c (name, created_at, used_at, expires_at)
            WHERE s.name = c.name
            """)
        try each(
            changes.filter(\.rows.isAnew).map { [$0.claim.sandbox] },
            "DELETE FROM understudy.records WHERE sandbox = ANY ($1::text[])")
        try each(
            changes.flatMap { change in change.rows.emptied.map { [change.claim.sandbox, $0] } },
            """
            DELETE FROM understudy.records AS r USING unnest($1::text[], $2::text[]) AS c (sandbox, part)
            WHERE r.sandbox = c.sandbox AND r.part = c.part
            """)
        try each(
            changes.flatMap { change in change.rows.removed.map { name(change, $0) } },
            """
            DELETE FROM understudy.records AS r USING unnest($1::text[], $2::text[], $3::text[]) AS c (sandbox, part, key)
            WHERE r.sandbox = c.sandbox AND r.part = c.part AND r.key = c.key
            """)
        var rest = changes.flatMap { change in change.rows.written.map { (change, $0) } }[...]
        while !rest.isEmpty {
            var size = 0
            let piece = rest.prefix { row in
                defer { size += row.1.document.count + 256 }
                return size < Self.pieceSize
            }
            rest = rest.dropFirst(piece.count)
            try each(
                piece.map { name($0, $1.name) + ["\($1.rank)", String(decoding: $1.document, as: UTF8.self)] },
                """
                INSERT INTO understudy.records (sandbox, part, key, rank, document)
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
                ON CONFLICT (sandbox, part, key) DO UPDATE SET document = excluded.document
                """)
        }
    }

    package func release(_ claims: [StoreClaim]) throws(StoreProblem) {
        try on(work) { (connection) throws(PostgresFailure) in
            let own = PostgresText.array(try lock(claims, connection))
            try connection.run("UPDATE understudy.sandboxes SET owner = NULL WHERE name = ANY ($1::text[])", [own])
            try connection.run(
                """
                DELETE FROM understudy.sandboxes AS s WHERE name = ANY ($1::text[])
                AND NOT EXISTS (SELECT 1 FROM understudy.records AS r WHERE r.sandbox = s.name)
                """, [own])
            // Servers that wished for one must still learn that it was held.
            try connection.run("UPDATE understudy.wishes SET owner = NULL WHERE sandbox = ANY ($1::text[])", [own])
        }
    }

    package func delete(_ claim: StoreClaim) throws(StoreProblem) -> Bool {
        try on(work) { (connection) throws(PostgresFailure) in
            guard !(try lock([claim], connection)).isEmpty else { return false }
            let rows = try connection.run(
                "WITH gone AS (DELETE FROM understudy.records WHERE sandbox = $1 RETURNING 1) SELECT count(*) FROM gone",
                [claim.sandbox])
            try connection.run("DELETE FROM understudy.sandboxes WHERE name = $1", [claim.sandbox])
            try connection.run("UPDATE understudy.wishes SET owner = NULL WHERE sandbox = $1", [claim.sandbox])
            return rows.number(0, 0) > 0
        }
    }

    package func deleteExpired(at moment: Moment, sparing names: Set<String>) throws(StoreProblem) {
        let isOver = """
            (s.expires_at <= $1 OR NOT EXISTS (SELECT 1 FROM understudy.records AS r WHERE r.sandbox = s.name))
            AND NOT EXISTS (SELECT 1 FROM understudy.servers WHERE id = s.owner AND \(isLive))
            """
        var count: Int
        // Few enough at once that nobody waits for long.
        repeat {
            count = try on(work) { (connection) throws(PostgresFailure) in
                let time = "\(moment.unixSeconds)"
                let expired = try connection.run(
                    """
                    SELECT s.name FROM understudy.sandboxes AS s WHERE \(isOver)
                    ORDER BY s.name LIMIT 1000 FOR UPDATE OF s
                    """, [time])
                // Once more, as a separate statement: an owner may have come back while the first one waited.
                let gone = try connection.run(
                    """
                    DELETE FROM understudy.sandboxes AS s WHERE name = ANY ($2::text[]) AND \(isOver) RETURNING name
                    """, [time, PostgresText.array(expired.texts())]
                ).texts()
                try connection.run(
                    "DELETE FROM understudy.records WHERE sandbox = ANY ($1::text[])", [PostgresText.array(gone)])
                return gone.count
            }
        } while count == 1000
        // A server that comes back later creates its row again.
        try on(work) { (connection) throws(PostgresFailure) in
            try connection.run("DELETE FROM understudy.wishes WHERE at < statement_timestamp() - interval '10 seconds'")
            try connection.run(
                "DELETE FROM understudy.servers WHERE seen < statement_timestamp() - interval '1 minute'")
        }
    }
}

/// Texts in the form in which PostgreSQL takes them.
enum PostgresText {
    /// An array; `nil` is NULL.
    static func array(_ texts: [String?]) -> String {
        var bytes: [UInt8] = []
        for text in texts {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
            guard let text else {
                bytes += "NULL".utf8
                continue
            }
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        return texts.isEmpty ? "{}" : String(decoding: bytes, as: UTF8.self) + "}"
    }
}
