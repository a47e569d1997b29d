package import Emulation

/// Changes of what is stored. All of them may be repeated, which happens when the answer to a commit is lost.
extension PostgresStore {
    /// A statement takes about as many bytes of documents, so that its time does not grow with the change.
    private static let pieceSize = 4 << 20

    package func write(_ changes: [StoreChange]) throws(StoreProblem) -> Set<String> {
        guard !changes.isEmpty else { return [] }
        let own = try on(work) { (connection) throws(PostgresFailure) in
            let own = Set(try lock(changes.map(\.claim), connection))
            let changes = changes.filter { own.contains($0.claim.sandbox) }
            if !changes.isEmpty { try put(changes, connection) }
            return own
        }
        let lost = changes.map(\.claim).filter { !own.contains($0.sandbox) }
        forget(lost)
        return Set(lost.map(\.sandbox))
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
        func column(_ value: (StoreChange) -> String?) -> String { PostgresText.array(changes.map(value)) }
        try connection.run(
            """
            UPDATE understudy.sandboxes AS s
            SET created_at = c.created_at, used_at = c.used_at, expires_at = c.expires_at
            FROM unnest($1::text[], $2::double precision[], $3::double precision[], $4::double precision[])
                AS c (name, created_at, used_at, expires_at)
            WHERE s.name = c.name
            """,
            [
                column { $0.claim.sandbox }, column { "\($0.created.unixSeconds)" },
                column { "\($0.used.unixSeconds)" }, column { $0.expires.map { "\($0.unixSeconds)" } },
            ])
        let anew = changes.filter(\.rows.isAnew).map(\.claim.sandbox)
        if !anew.isEmpty {
            try connection.run(
                "DELETE FROM understudy.records WHERE sandbox = ANY ($1::text[])", [PostgresText.array(anew)])
        }
        let emptied = changes.flatMap { change in change.rows.emptied.map { (change.claim.sandbox, $0) } }
        if !emptied.isEmpty {
            try connection.run(
                """
                DELETE FROM understudy.records AS r USING unnest($1::text[], $2::text[]) AS c (sandbox, part)
                WHERE r.sandbox = c.sandbox AND r.part = c.part
                """,
                [PostgresText.array(emptied.map(\.0)), PostgresText.array(emptied.map { PostgresText.written($0.1) })])
        }
        let removed = changes.flatMap { change in change.rows.removed.map { (change.claim.sandbox, $0) } }
        if !removed.isEmpty {
            try connection.run(
                """
                DELETE FROM understudy.records AS r USING unnest($1::text[], $2::text[], $3::text[]) AS c (sandbox, part, key)
                WHERE r.sandbox = c.sandbox AND r.part = c.part AND r.key = c.key
                """,
                [
                    PostgresText.array(removed.map(\.0)), PostgresText.array(removed.map { PostgresText.written($0.1.part) }),
                    PostgresText.array(removed.map { PostgresText.written($0.1.key) }),
                ])
        }
        try putRows(changes.flatMap { change in change.rows.written.map { (change.claim.sandbox, $0) } }, connection)
    }

    private func putRows(
        _ rows: [(sandbox: String, row: StateRow)], _ connection: PostgresConnection
    ) throws(PostgresFailure) {
        var rest = rows[...]
        while !rest.isEmpty {
            var size = 0
            let piece = rest.prefix { row in
                defer { size += row.row.document.count + 256 }
                return size < Self.pieceSize
            }
            rest = rest.dropFirst(piece.count)
            try connection.run(
                """
                INSERT INTO understudy.records (sandbox, part, key, rank, document)
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
                ON CONFLICT (sandbox, part, key) DO UPDATE SET document = excluded.document
                """,
                [
                    PostgresText.array(piece.map(\.sandbox)),
                    PostgresText.array(piece.map { PostgresText.written($0.row.name.part) }),
                    PostgresText.array(piece.map { PostgresText.written($0.row.name.key) }),
                    PostgresText.array(piece.map { "\($0.row.rank)" }), PostgresText.array(piece.map(\.row.document)),
                ])
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
            // Who wished for one still has to learn that it was held.
            try connection.run("UPDATE understudy.wishes SET owner = NULL WHERE sandbox = ANY ($1::text[])", [own])
        }
        forget(claims)
    }

    package func delete(_ claim: StoreClaim) throws(StoreProblem) -> Bool {
        let hadRows = try on(work) { (connection) throws(PostgresFailure) in
            guard !(try lock([claim], connection)).isEmpty else { return false }
            let rows = try connection.run(
                "WITH gone AS (DELETE FROM understudy.records WHERE sandbox = $1 RETURNING 1) SELECT count(*) FROM gone",
                [claim.sandbox])
            try connection.run("DELETE FROM understudy.sandboxes WHERE name = $1", [claim.sandbox])
            try connection.run("UPDATE understudy.wishes SET owner = NULL WHERE sandbox = $1", [claim.sandbox])
            return rows.number(0, 0) > 0
        }
        forget([claim])
        return hadRows
    }

    private func forget(_ claims: [StoreClaim]) {
        held.withLock { held in for claim in claims where held[claim.sandbox] == claim.epoch { held[claim.sandbox] = nil } }
    }

    package func deleteExpired(at moment: Moment, sparing names: Set<String>) throws(StoreProblem) {
        let isFree = "NOT EXISTS (SELECT 1 FROM understudy.servers WHERE id = s.owner AND \(isLive))"
        let isOver = """
            (s.expires_at <= $1 OR NOT EXISTS (SELECT 1 FROM understudy.records AS r WHERE r.sandbox = s.name))
            """
        // So many at once that nobody waits for long.
        while try on(work, { (connection) throws(PostgresFailure) in
            let expired = try connection.run(
                """
                SELECT s.name FROM understudy.sandboxes AS s WHERE \(isOver) AND \(isFree)
                ORDER BY s.name LIMIT 1000 FOR UPDATE OF s
                """, ["\(moment.unixSeconds)"]
            ).texts()
            // Again, as a statement of its own: an owner may have come back while the first one waited.
            let gone = try connection.run(
                "DELETE FROM understudy.sandboxes AS s WHERE name = ANY ($2::text[]) AND \(isOver) AND \(isFree) RETURNING name",
                ["\(moment.unixSeconds)", PostgresText.array(expired)]
            ).texts()
            try connection.run(
                "DELETE FROM understudy.records WHERE sandbox = ANY ($1::text[])", [PostgresText.array(gone)])
            return gone.count == 1000
        }) {}
        // A server that comes back after that makes its row anew.
        try on(work) { (connection) throws(PostgresFailure) in
            try connection.run("DELETE FROM understudy.wishes WHERE at < statement_timestamp() - interval '10 seconds'")
            try connection.run("DELETE FROM understudy.servers WHERE seen < statement_timestamp() - interval '1 minute'")
        }
    }
}

/// Texts in the form in which PostgreSQL takes them.
enum PostgresText {
    /// A text without the character that PostgreSQL's texts cannot hold.
    static func written(_ text: String) -> String {
        text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\\") }
            ? text.replacing("\\", with: "\\\\").replacing("\0", with: "\\0") : text
    }

    /// What ``written(_:)`` was given.
    static func read(_ text: String) -> String {
        text.utf8.contains(UInt8(ascii: "\\")) ? text.replacing(/\\(.)/) { $0.1 == "0" ? "\0" : "\\" } : text
    }

    /// An array; `nil` is NULL.
    static func array(_ texts: [String?]) -> String { array(texts.map { $0?.utf8 }) }

    /// An array of texts in UTF-8.
    static func array<Bytes: Collection>(_ elements: [Bytes?]) -> String where Bytes.Element == UInt8 {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for element in elements {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            guard let element else {
                bytes += "NULL".utf8
                continue
            }
            bytes.reserveCapacity(bytes.count + element.count + 2)
            bytes.append(UInt8(ascii: "\""))
            for byte in element {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }
}
