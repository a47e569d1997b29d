/// The tables of a store in PostgreSQL.
enum PostgresSchema {
    /// The version that this release reads and writes.
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
        // Who wishes for a sandbox, and of whom; of nobody once it was released.
        """
        CREATE TABLE understudy.wishes (
            sandbox text, server text, owner text, at timestamptz NOT NULL, PRIMARY KEY (sandbox, server))
        """,
    ]

    /// Makes the tables where there are none.
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
                // Another server may just have made them.
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
