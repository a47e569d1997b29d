internal import COpenSSL

/// Helpers for every use of OpenSSL.
enum TLSErrors {
    /// Runs OpenSSL calls and then clears this thread's error queue.
    ///
    /// Failed calls and some successful ones leave errors there, which a connection on the same thread would take for
    /// its own.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        defer { ERR_clear_error() }
        return try body()
    }

    /// The reason of the first error on this thread, which caused the later ones; 0 when there is none.
    static var firstReason: Int32 { ERR_GET_REASON(ERR_peek_error()) }

    /// The peer's alert, if it was the first error on this thread, by its number in RFC 8446 section 6.
    ///
    /// In OpenSSL's TLS library, reasons from 1000 on are alerts; other libraries have their own.
    static var firstAlert: Int32? {
        let error = ERR_peek_error()
        let number = ERR_GET_REASON(error) - 1000
        return ERR_GET_LIB(error) == ERR_LIB_SSL && (0...255).contains(number) ? number : nil
    }

    /// OpenSSL's text for the first error on this thread.
    static var firstReasonText: String {
        ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "unknown reason"
    }
}
