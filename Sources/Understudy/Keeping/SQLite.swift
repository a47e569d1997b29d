import CSQLite
import Emulation

/// A connection to an SQLite database, for one thread at a time: whoever uses it holds the lock around it.
final class SQLite: @unchecked Sendable {
    enum Value {
        case null
        case integer(Int)
        case real(Double)
        case text(String)
        /// UTF-8.
        case bytes([UInt8])
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Destroys a text as soon as it was copied.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private var connection: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    init(_ path: String, readOnly: Bool = false) throws(Failure) {
        let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK else {
            defer { close() }
            throw failure
        }
        sqlite3_extended_result_codes(connection, 1)
        // Another connection may just be writing its checkpoint.
        sqlite3_busy_timeout(connection, 5000)
    }

    deinit { close() }

    /// Ends the connection; the last one to a database writes everything into its file.
    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(connection)
        connection = nil
    }

    var isReadOnly: Bool { sqlite3_db_readonly(connection, "main") == 1 }

    var changes: Int { Int(sqlite3_changes(connection)) }

    func run(_ sql: String) throws(Failure) {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Carries out a statement, which is prepared once.
    func run(_ sql: String, _ values: [Value]) throws(Failure) { try rows(sql, values) { _ in } }

    /// Carries out a statement, which is prepared once, and reads the rows of its result.
    @discardableResult
    func rows<Result>(_ sql: String, _ values: [Value] = [], _ read: (Row) -> Result) throws(Failure) -> [Result] {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            guard bind(value, Int32(index + 1), statement) == SQLITE_OK else { throw failure }
        }
        var results: [Result] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return results }
            guard code == SQLITE_ROW else { throw failure }
            results.append(read(Row(statement: statement)))
        }
    }

    /// Carries out statements together, or none of them.
    func transaction<Value>(_ body: (SQLite) throws(Failure) -> Value) throws(Failure) -> Value {
        try run("BEGIN IMMEDIATE")
        do throws(Failure) {
            let value = try body(self)
            try run("COMMIT")
            return value
        } catch {
            // Some failures have ended it already.
            try? run("ROLLBACK")
            throw error
        }
    }

    private func prepared(_ sql: String) throws(Failure) -> OpaquePointer? {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK else { throw failure }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: Value, _ index: Int32, _ statement: OpaquePointer?) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, Int64(number))
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let text): bind(.bytes(Array(text.utf8)), index, statement)
        case .bytes(let bytes):
            // An empty array may have no address, which would stand for null.
            (bytes.isEmpty ? [0] : bytes).withUnsafeBytes { text in
                sqlite3_bind_text64(
                    statement, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
                    Self.transient, UInt8(SQLITE_UTF8))
            }
        }
    }

    /// What was wrong with the last call.
    private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(connection))) }

    struct Row {
        fileprivate let statement: OpaquePointer?

        /// The number in that column, counted from 0.
        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

        /// The moment of the Unix seconds in that column; `nil` for none.
        func moment(_ column: Int32) -> Moment? {
            guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
            return Moment(unixSeconds: sqlite3_column_double(statement, column))
        }

        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

        func bytes(_ column: Int32) -> [UInt8] {
            let start = sqlite3_column_blob(statement, column)
            return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }
}
