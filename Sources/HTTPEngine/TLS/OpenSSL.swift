internal import COpenSSL

/// What every use of OpenSSL here needs.
enum OpenSSL {
    /// Runs some calls of OpenSSL and empties this thread's queue of errors afterwards.
    ///
    /// A failed call leaves its errors there, some successful ones do too, and a connection on the same thread would take
    /// them for its own.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        defer { ERR_clear_error() }
        return try body()
    }

    /// The reason of the first error on this thread, which is the cause of those behind it; 0 when there is none.
    static var firstReason: Int32 { ERR_GET_REASON(ERR_peek_error()) }

    /// The alert of the other side that was the first error on this thread, by its number in RFC 8446 section 6.
    ///
    /// The reasons of the TLS part from 1000 on are such; other parts have reasons of their own.
    static var firstAlert: Int32? {
        let error = ERR_peek_error()
        let number = ERR_GET_REASON(error) - 1000
        return ERR_GET_LIB(error) == ERR_LIB_SSL && (0...255).contains(number) ? number : nil
    }

    /// OpenSSL's words for the first error on this thread.
    static var firstReasonText: String {
        ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "unknown reason"
    }
}
