import COpenSSL

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// One connection's TLS: OpenSSL on top of the socket.
///
/// Used by one thread at a time. OpenSSL queues errors per thread, so each call whose outcome matters starts with an
/// empty queue.
final class TLSSession {
    let socket: Socket
    /// Whether the socket reached its end; OpenSSL asks, to distinguish an end from a failure.
    var hasSocketEnded = false
    /// Whether the handshake is complete.
    private(set) var isEstablished = false
    /// Whether the peer has sent anything.
    private(set) var hasBegun = false
    /// Whether a client speaks HTTP without TLS; writes are then plain text, so that the client can read the reason.
    private(set) var hasFallenBack = false
    /// Whether the next read returns something that no poller reports: content, or the end of the connection.
    ///
    /// At worst it finds an incomplete record.
    private(set) var hasBufferedInput = false
    /// The events that OpenSSL itself needs; when the socket is ready for them, the next read continues.
    private(set) var needs: Interest = []
    /// Why the handshake failed, for a log.
    private(set) var handshakeProblem: String?

    private var ssl: OpaquePointer?
    private var hasSentEnd = false
    private var isDiscarding = false
    /// How reading ended, once it has.
    private var ending: Socket.Transfer?
    private var hasFailed = false

    /// The server's side; `nil` when OpenSSL has no memory.
    convenience init?(_ socket: Socket, identity: TLSIdentity) {
        self.init(socket, identity.context)
        guard let ssl else { return nil }
        SSL_set_accept_state(ssl)
    }

    /// The client's side, which trusts only a certificate for that host; `nil` when OpenSSL has no memory.
    convenience init?(_ socket: Socket, trust: TLSTrust, host: String) {
        guard let context = trust.context else { return nil }
        self.init(socket, context)
        guard let ssl, ServerName(host).expect(on: ssl) else { return nil }
        hasBegun = true
        SSL_set_connect_state(ssl)
    }

    private init?(_ socket: Socket, _ context: TLSContext) {
        self.socket = socket
        ssl = SSL_new(context.pointer)
        guard let ssl, let bio = SocketBIO.make(for: self) else {
            ERR_clear_error()
            return nil
        }
        // One BIO serves both directions.
        SSL_set_bio(ssl, bio, bio)
    }

    deinit { SSL_free(ssl) }

    /// Queries OpenSSL about the connection; `nil` once it is closed.
    func ask<Answer>(_ question: (OpaquePointer) -> Answer) -> Answer? { ssl.map(question) }

    /// Fills the buffer with available content; before that, continues the handshake.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        if let ending { return end(by: ending) }
        if !hasBegun, let other = begin() { return other }
        guard let ssl, let start = buffer.baseAddress else { return .broken }
        var filled = 0
        repeat {
            ERR_clear_error()
            let count = SSL_read(ssl, start + filled, Int32(clamping: buffer.count - filled))
            noteEstablishment(ssl)
            guard count > 0 else { return stop(outcome(of: count, ssl, isReading: true), filled) }
            needs = []
            filled += Int(count)
            hasBufferedInput = SSL_has_pending(ssl) == 1
        } while hasBufferedInput && filled < buffer.count
        return .moved(filled)
    }

    /// Encrypts and sends at most one record of the bytes.
    ///
    /// After ``Socket/Transfer/wouldBlock`` the next call must start with the same bytes: their record is in progress.
    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer {
        if hasFallenBack { return socket.write(buffer) }
        guard let ssl, !hasFailed, !hasSentEnd else { return .broken }
        guard !buffer.isEmpty else { return .moved(0) }
        ERR_clear_error()
        let count = SSL_write(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        noteEstablishment(ssl)
        return count > 0 ? .moved(Int(count)) : outcome(of: count, ssl, isReading: false)
    }

    /// Tells the peer that nothing more follows: by close_notify (RFC 8446 section 6.1), then by the end of the stream;
    /// false when the socket cannot accept that yet.
    func finishWriting() -> Bool {
        guard sendEnd() else { return false }
        socket.shutdownWriting()
        // From here on the socket is read directly, and OpenSSL's buffers are ignored.
        hasBufferedInput = false
        needs = []
        return true
    }

    /// Makes ``close()`` reset the connection.
    func discardUnsent() {
        isDiscarding = true
        socket.discardUnsent()
    }

    /// Sends close_notify if still possible, and closes the socket.
    func close() {
        guard let ssl else { return }
        if !isDiscarding { _ = sendEnd() }
        self.ssl = nil
        SSL_free(ssl)
        ERR_clear_error()
        socket.close()
    }
}

// MARK: - The client's side

extension TLSSession {
    enum Progress {
        case complete
        /// Continues when the socket is ready for ``TLSSession/needs``, or for reading if that is empty.
        case waiting
        case failed
    }

    /// Continues only the handshake, for a side that must authenticate the peer before sending.
    func shakeHands() -> Progress {
        guard let ssl, !hasFailed else { return .failed }
        ERR_clear_error()
        let code = SSL_do_handshake(ssl)
        noteEstablishment(ssl)
        if code == 1 {
            needs = []
            return .complete
        }
        if case .wouldBlock = outcome(of: code, ssl, isReading: true) { return .waiting }
        return .failed
    }

    /// Why the peer's certificate is not trusted; `nil` if it is, or if there was none.
    var distrust: String? {
        guard let ssl else { return nil }
        let code = SSL_get_verify_result(ssl)
        switch Int32(code) {
        case X509_V_OK: return nil
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return "it is for another host"
        default: return String(cString: X509_verify_cert_error_string(code))
        }
    }
}

// MARK: - Parts

extension TLSSession {
    /// Peeks at the first byte before OpenSSL takes it, so that a client that speaks HTTP by mistake gets an answer in
    /// plain text.
    ///
    /// Returns `nil` when a handshake begins.
    private func begin() -> Socket.Transfer? {
        var first: UInt8 = 0
        let transfer = socket.peek(at: &first)
        guard case .moved = transfer else { return transfer }
        hasBegun = true
        // RFC 8446 section 5.1: the first record of a connection is a handshake.
        if first == 0x16 { return nil }
        hasFallenBack = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first & ~0x20)
        handshakeProblem = hasFallenBack ? "the client speaks HTTP without TLS" : "the client does not speak TLS"
        hasFailed = true
        ending = .broken
        return .broken
    }

    private func noteEstablishment(_ ssl: OpaquePointer) {
        if !isEstablished { isEstablished = SSL_is_init_finished(ssl) == 1 }
    }

    /// Interprets a call that moved nothing.
    ///
    /// A waiting write reports that itself; only a read that must write first needs more than its caller knows.
    private func outcome(of code: Int32, _ ssl: OpaquePointer, isReading: Bool) -> Socket.Transfer {
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ:
            if isReading { needs = [] }
            return .wouldBlock
        case SSL_ERROR_WANT_WRITE:
            if isReading { needs = .writing }
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN:
            if !isEstablished { handshakeProblem = "the client closed the connection during the handshake" }
            return .ended
        default:
            if !isEstablished { handshakeProblem = HandshakeProblem.describe(ssl) }
            needs = []
            hasFailed = true
            return .broken
        }
    }

    /// Ends a read that has returned that many bytes; if any, the end is kept for the next read.
    private func stop(_ reason: Socket.Transfer, _ filled: Int) -> Socket.Transfer {
        switch reason {
        case .ended, .broken: ending = reason
        case .moved, .wouldBlock: break
        }
        guard filled > 0 else { return end(by: reason) }
        hasBufferedInput = ending != nil
        return .moved(filled)
    }

    private func end(by reason: Socket.Transfer) -> Socket.Transfer {
        hasBufferedInput = false
        return reason
    }

    /// Sends close_notify once; false when the socket cannot accept it now.
    private func sendEnd() -> Bool {
        guard let ssl, isEstablished, !hasFailed, !hasSentEnd else { return true }
        ERR_clear_error()
        let code = SSL_shutdown(ssl)
        if code < 0, SSL_get_error(ssl, code) == SSL_ERROR_WANT_WRITE { return false }
        hasSentEnd = true
        return true
    }
}

/// Connects OpenSSL to a socket of the engine.
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

extension Socket {
    /// Reads the next byte without consuming it.
    func peek(at byte: inout UInt8) -> Transfer {
        while true {
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            if errno != EINTR { return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken }
        }
    }
}
