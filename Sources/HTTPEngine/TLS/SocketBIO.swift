internal import COpenSSL

/// Connects OpenSSL to one of our sockets.
///
/// OpenSSL's own socket BIO would raise SIGPIPE when a client is gone, and end a process that embeds the engine.
enum SocketBIO {
    /// The BIO's functions, created once, never freed, and only read afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = BIO_meth_new(type, "socket") else { return nil }
        BIO_meth_set_read(method) { read($0, $1, $2) }
        BIO_meth_set_write(method) { write($0, $1, $2) }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in control(bio, command) }
        return method
    }()

    /// A BIO for a session, which it does not retain: the session must outlive it.
    static func make(for session: TLSSession) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private static func session(of bio: OpaquePointer?) -> TLSSession? {
        BIO_get_data(bio).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func read(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32 {
        BIO_clear_flags(bio, retryFlags)
        guard let session = session(of: bio) else { return -1 }
        let transfer = session.socket.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
        switch transfer {
        case .moved(let count): return Int32(count)
        case .wouldBlock:
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        case .ended:
            session.hasSocketEnded = true
            return 0
        case .broken: return -1
        }
    }

    private static func write(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
        BIO_clear_flags(bio, retryFlags)
        guard let session = session(of: bio) else { return -1 }
        switch session.socket.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))) {
        case .moved(let count): return Int32(count)
        case .wouldBlock:
            BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            return -1
        case .ended, .broken: return -1
        }
    }

    private static func control(_ bio: OpaquePointer?, _ command: Int32) -> Int {
        switch command {
        // Nothing is buffered here, so there is nothing to flush.
        case BIO_CTRL_FLUSH: 1
        case BIO_CTRL_EOF: session(of: bio)?.hasSocketEnded == true ? 1 : 0
        default: 0
        }
    }

    private static let retryFlags = BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY
}
