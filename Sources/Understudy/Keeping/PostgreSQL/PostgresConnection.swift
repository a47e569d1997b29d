import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct PostgresFailure: Error, CustomStringConvertible {
    /// One sentence without a full stop.
    let description: String
    /// PostgreSQL's SQLSTATE; empty when the database was not reached.
    var state = ""
    /// Whether there was a connection until now, so that a new one may do better.
    var isLoss = false
}

/// A connection to PostgreSQL, made on first use, and again after a loss. For one thread at a time.
///
/// Nothing waits forever: a database that has been silent for too long, because it was suspended or is unreachable, is
/// given up.
// Unchecked, since whoever shares one shares it in a Mutex, and passes it on only to what runs under the lock.
final class PostgresConnection: @unchecked Sendable {
    private let address: PostgresAddress
    /// How long the database may be silent.
    private let patience: Duration
    /// What each new connection does first; may fail.
    private let greeting: String?
    private var connection: OpaquePointer?

    init(to address: PostgresAddress, patience: Duration, greeting: String? = nil) {
        (self.address, self.patience, self.greeting) = (address, patience, greeting)
    }

    deinit { close() }

    private func close() {
        if let connection { LibPQ.finish(connection) }
        connection = nil
    }

    // MARK: - Statements

    /// Executes a statement with these values for its parameters, and returns its rows.
    @discardableResult
    func run(_ statement: String, _ values: [String?] = []) throws(PostgresFailure) -> PostgresRows {
        try exchange(try opened(), statement, values)
    }

    /// Executes statements in a transaction, and retries after a conflict or a lost connection.
    ///
    /// Each statement sees what is committed when it begins, whatever the database's default.
    func transaction<Value>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        var attempt = 0
        while true {
            do throws(PostgresFailure) {
                try run("BEGIN ISOLATION LEVEL READ COMMITTED")
                let value = try body(self)
                try run("COMMIT")
                return value
            } catch {
                attempt += 1
                // A transaction that cannot be ended this way is given up, and ends with its connection.
                if connection != nil, (try? run("ROLLBACK")) == nil { close() }
                let isInTheWay = ["40001", "40P01"].contains(error.state)
                guard isInTheWay && attempt < 10 || error.isLoss && attempt < 2 else { throw error }
            }
        }
    }

    private func exchange(
        _ connection: OpaquePointer, _ statement: String, _ values: [String?]
    ) throws(PostgresFailure) -> PostgresRows {
        // All texts in one piece, each with a zero at its end.
        var texts: [CChar] = []
        let begins = values.map { value -> Int? in
            guard let value else { return nil }
            defer { texts += value.utf8CString }
            return texts.count
        }
        let isSent = texts.withUnsafeBufferPointer { texts in
            let pointers = begins.map { begin in begin.flatMap { texts.baseAddress?.advanced(by: $0) } }
            return LibPQ.send(connection, statement, CInt(values.count), nil, pointers, nil, nil, 0) == 1
        }
        guard isSent else { throw loss() }
        var last: PostgresRows?
        while true {
            try awaitResult(connection)
            guard let result = LibPQ.result(connection) else { break }
            last = PostgresRows(result)
        }
        guard let last else { throw loss() }
        // PGRES_COMMAND_OK and PGRES_TUPLES_OK
        guard [1, 2].contains(LibPQ.resultStatus(last.result)) else { throw failure(last) }
        return last
    }

    private func awaitResult(_ connection: OpaquePointer) throws(PostgresFailure) {
        while true {
            let rest = LibPQ.flush(connection)
            guard rest >= 0 else { throw loss() }
            if rest == 0, LibPQ.isBusy(connection) == 0 { return }
            let events = events(Int(POLLIN) | (rest > 0 ? Int(POLLOUT) : 0), of: connection, within: patience)
            guard events != 0 else {
                close()
                throw PostgresFailure(description: "the database has not answered for \(patience)")
            }
            if events & ~Int16(POLLOUT) != 0, LibPQ.consumeInput(connection) == 0 { throw loss() }
        }
    }

    /// The events on the connection's socket, waiting at most that long; zero for none.
    private func events(_ kinds: Int, of connection: OpaquePointer, within time: Duration) -> Int16 {
        let end = SteadyTime.nanoseconds + time.nanoseconds
        while true {
            var entry = pollfd(fd: LibPQ.socket(connection), events: Int16(kinds), revents: 0)
            let rest = max(0, (end - SteadyTime.nanoseconds + 999_999) / 1_000_000)
            let count = poll(&entry, 1, Int32(clamping: rest))
            if count > 0 { return entry.revents }
            if count == 0 || errno != EINTR { return 0 }
        }
    }

    private func loss() -> PostgresFailure {
        let text = connection.map { Self.sentence(LibPQ.problem($0)) } ?? ""
        close()
        return PostgresFailure(description: text.isEmpty ? "the connection is lost" : text, isLoss: true)
    }

    private func failure(_ rows: PostgresRows) -> PostgresFailure {
        func field(_ code: Unicode.Scalar) -> String? {
            LibPQ.errorField(rows.result, CInt(code.value)).map { String(cString: $0) }
        }
        guard let state = field("C"), let message = field("M") else { return loss() }
        // A read-only database is no longer the primary; another connection may lead to that one.
        let isLoss = connection.map { LibPQ.status($0) != 0 } ?? true || state == "25006"
        if isLoss { close() }
        return PostgresFailure(description: message, state: state, isLoss: isLoss)
    }

    // MARK: - Notifications

    /// Waits until somebody notifies this connection, but not longer than that.
    func rest(for time: Duration) {
        guard let connection else {
            _ = poll(nil, 0, Int32(clamping: time.nanoseconds / 1_000_000))
            return
        }
        // One may have arrived with an earlier answer.
        guard !takeNotifications(connection), events(Int(POLLIN), of: connection, within: time) != 0 else { return }
        if LibPQ.consumeInput(connection) == 0 { close() } else { takeNotifications(connection) }
    }

    @discardableResult
    private func takeNotifications(_ connection: OpaquePointer) -> Bool {
        var hasAny = false
        while let notification = LibPQ.notification(connection) {
            LibPQ.freeMemory(notification)
            hasAny = true
        }
        return hasAny
    }

    // MARK: - The connection

    private func opened() throws(PostgresFailure) -> OpaquePointer {
        if let connection { return connection }
        let limit = Int(patience.inSeconds.rounded(.up))
        // What the URL says comes last and wins.
        var parameters = [
            ("fallback_application_name", "understudy"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(limit * 2000)"), ("client_encoding", "UTF8"),
        ]
        if getenv("PGCONNECT_TIMEOUT") == nil { parameters.append(("connect_timeout", "\(limit)")) }
        parameters.append(("dbname", address.url))
        let texts = parameters.flatMap { [strdup($0.0), strdup($0.1)] }
        defer { for text in texts { free(text) } }
        let pointers = texts.map { $0.map { LibPQ.Text($0) } }
        let names = stride(from: 0, to: pointers.count, by: 2).map { pointers[$0] } + [nil]
        let values = stride(from: 1, to: pointers.count, by: 2).map { pointers[$0] } + [nil]
        guard let new = LibPQ.connect(names, values, 1) else { throw PostgresFailure(description: "out of memory") }
        connection = new
        guard LibPQ.status(new) == 0 else {
            var failure = loss()
            failure.isLoss = false
            throw failure
        }
        _ = LibPQ.onNotice(new, { _, _ in }, nil)
        _ = LibPQ.setNonblocking(new, 1)
        // A server that stops in the middle of a transaction, or no longer waits, must not keep others waiting: not for
        // more than two seconds with the usual patience.
        for (setting, milliseconds) in [
            ("statement_timeout", limit * 6000), ("idle_in_transaction_session_timeout", limit * 400),
        ] {
            _ = try exchange(new, "SELECT set_config($1, $2, false)", [setting, "\(milliseconds)"])
        }
        if let greeting {
            do throws(PostgresFailure) { _ = try exchange(new, greeting, []) } catch {
                if connection == nil { throw error }
            }
        }
        return new
    }

    /// What libpq says, which may be a line for each host, with hints in lines of their own.
    private static func sentence(_ text: LibPQ.Text) -> String {
        var lines: [Substring] = []
        for line in String(cString: text).split(separator: "\n") where !line.hasPrefix("\t") {
            if !lines.contains(line) { lines.append(line) }
        }
        return lines.joined(separator: "; ").replacing("FATAL:  ", with: "")
    }
}

final class PostgresRows {
    fileprivate let result: OpaquePointer

    fileprivate init(_ result: OpaquePointer) { self.result = result }

    deinit { LibPQ.clear(result) }

    var indices: Range<Int> { 0..<Int(LibPQ.rowCount(result)) }

    // Valid as long as this object, which its methods keep alive.
    private func cell(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (CInt(row), CInt(column))
        guard LibPQ.isNull(result, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: LibPQ.value(result, row, column), count: Int(LibPQ.length(result, row, column)))
    }

    /// A cell as bytes; none for NULL.
    func bytes(_ row: Int, _ column: Int) -> [UInt8] { cell(row, column).map { Array($0) } ?? [] }

    /// A cell as text; `nil` for NULL.
    func text(_ row: Int, _ column: Int) -> String? { cell(row, column).map { String(decoding: $0, as: UTF8.self) } }

    func texts(_ column: Int = 0) -> [String] { indices.compactMap { text($0, column) } }

    /// A cell as a number; zero for NULL.
    func number(_ row: Int, _ column: Int) -> Int { text(row, column).flatMap { Int($0) } ?? 0 }

    /// A cell in Unix seconds as a moment; `nil` for NULL.
    func moment(_ row: Int, _ column: Int) -> Moment? {
        text(row, column).flatMap { Double($0) }.map { Moment(unixSeconds: $0) }
    }
}

/// PostgreSQL's client library, loaded when a store first needs it, so that nobody else pays for it.
///
/// The functions are those of `libpq-fe.h` that every libpq since PostgreSQL 9.0 has.
enum LibPQ {
    /// The names to look for: the plain ones on Linux and macOS, and Homebrew's paths.
    static let names = [
        "libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
        "/usr/local/opt/libpq/lib/libpq.5.dylib",
    ]

    /// Loads the first of these libraries that exists.
    @discardableResult
    static func load(_ names: [String] = names) throws(StoreProblem) -> UnsafeMutableRawPointer {
        if let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first { return library }
        throw StoreProblem("PostgreSQL's client library is missing: apt-get install libpq5, or brew install libpq")
    }

    /// A function of the library, which must be loaded.
    private static func function<Function>(_ name: String) -> Function {
        unsafeBitCast(dlsym(try? load(), name), to: Function.self)
    }

    typealias Text = UnsafePointer<CChar>
    typealias ToNothing = @convention(c) (OpaquePointer?) -> Void
    typealias ToNumber = @convention(c) (OpaquePointer) -> CInt
    typealias CellToNumber = @convention(c) (OpaquePointer, CInt, CInt) -> CInt
    typealias Parse = @convention(c) (Text, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> OpaquePointer?
    typealias Connect = @convention(c) (UnsafePointer<Text?>, UnsafePointer<Text?>, CInt) -> OpaquePointer?
    typealias NoticeProcessor = @convention(c) (UnsafeMutableRawPointer?, Text?) -> Void
    typealias OnNotice = @convention(c) (OpaquePointer, NoticeProcessor, UnsafeMutableRawPointer?) -> OpaquePointer?
    typealias Send =
        @convention(c) (
            OpaquePointer, Text, CInt, UnsafePointer<UInt32>?, UnsafePointer<Text?>, UnsafePointer<CInt>?,
            UnsafePointer<CInt>?, CInt
        ) -> CInt

    static let parse: Parse = function("PQconninfoParse")
    static let freeOptions: ToNothing = function("PQconninfoFree")
    static let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void = function("PQfreemem")
    static let connect: Connect = function("PQconnectdbParams")
    static let finish: ToNothing = function("PQfinish")
    static let status: ToNumber = function("PQstatus")
    static let problem: @convention(c) (OpaquePointer) -> Text = function("PQerrorMessage")
    static let onNotice: OnNotice = function("PQsetNoticeProcessor")
    static let setNonblocking: @convention(c) (OpaquePointer, CInt) -> CInt = function("PQsetnonblocking")
    static let socket: ToNumber = function("PQsocket")
    static let send: Send = function("PQsendQueryParams")
    static let flush: ToNumber = function("PQflush")
    static let consumeInput: ToNumber = function("PQconsumeInput")
    static let isBusy: ToNumber = function("PQisBusy")
    static let result: @convention(c) (OpaquePointer) -> OpaquePointer? = function("PQgetResult")
    static let notification: @convention(c) (OpaquePointer) -> UnsafeMutableRawPointer? = function("PQnotifies")
    static let resultStatus: ToNumber = function("PQresultStatus")
    static let errorField: @convention(c) (OpaquePointer, CInt) -> Text? = function("PQresultErrorField")
    static let clear: ToNothing = function("PQclear")
    static let rowCount: ToNumber = function("PQntuples")
    static let isNull: CellToNumber = function("PQgetisnull")
    static let value: @convention(c) (OpaquePointer, CInt, CInt) -> Text = function("PQgetvalue")
    static let length: CellToNumber = function("PQgetlength")
}

/// The URL of a database as its user wrote it, and as it may be shown.
package struct PostgresAddress {
    let url: String
    let place: String

    /// Reads a URL.
    ///
    /// - Throws: what is wrong with it, without quoting what may be a part of a password.
    init(_ url: String) throws(StoreProblem) {
        let (place, isUnclear) = Self.masked(url)
        (self.url, self.place) = (url, place)
        guard !isUnclear else { throw StoreProblem("\(place): a URL has %2F for / and %40 for @ in a password") }
        var message: UnsafeMutablePointer<CChar>?
        let options = LibPQ.parse(url, &message)
        defer { LibPQ.freeOptions(options) }
        guard options == nil else { return }
        let text = message.map { String(cString: $0) } ?? "out of memory"
        LibPQ.freeMemory(message)
        // libpq quotes all or part of the URL; only the name of an unknown parameter is no secret.
        let words = text.split(separator: "\n").first ?? ""
        let quote = words.firstRange(of: ": \"")?.lowerBound ?? words.endIndex
        throw StoreProblem("\(place): \(words.firstRange(of: "query parameter: ") != nil ? words : words[..<quote])")
    }

    /// The URL without passwords, and whether it is unclear where its user's password ends.
    package static func masked(_ url: String) -> (place: String, isUnclear: Bool) {
        var isUnclear = false
        let place = url.replacing(/:\/\/([^:@\/?\[]*):(.*)@/) { match in
            // libpq would take a part of it for the host, and name it.
            isUnclear = match.2.contains { $0 == "/" || $0 == "@" }
            return "://\(match.1):***@"
        }
        // Also misspelled, and with letters that are escaped.
        return (place.replacing(/([?&][^=&]*(?:pas|%)[^=&]*=)[^&]*/) { "\($0.1)***" }, isUnclear)
    }
}
