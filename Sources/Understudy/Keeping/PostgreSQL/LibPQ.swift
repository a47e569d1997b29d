#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// PostgreSQL's client library, loaded when a store first needs it, so that nobody else pays for it.
///
/// The functions are those of `libpq-fe.h` that every libpq since PostgreSQL 9.0 has.
enum LibPQ {
    /// Where it is looked for: by its name on Linux and on macOS, and where Homebrew keeps it.
    static let names = [
        "libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
        "/usr/local/opt/libpq/lib/libpq.5.dylib",
    ]

    /// Loads the first of these libraries that there is.
    @discardableResult
    static func load(_ names: [String] = names) throws(StoreProblem) -> UnsafeMutableRawPointer {
        if let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first { return library }
        throw StoreProblem("PostgreSQL's client library is missing: apt-get install libpq5, or brew install libpq")
    }

    /// A function of the library, which has been loaded before.
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
