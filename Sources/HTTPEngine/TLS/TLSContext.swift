internal import COpenSSL

/// What all connections of one kind share: versions, cipher suites, keys, trust.
///
/// `@unchecked Sendable`: it is complete before a second thread sees it; afterwards connections only read it or count
/// references, and OpenSSL locks its internal state.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    enum Side {
        case server
        case client
    }

    /// A context without certificates or trust; `nil` when OpenSSL has no memory.
    init?(_ side: Side) {
        guard let pointer = SSL_CTX_new(side == .server ? TLS_server_method() : TLS_client_method()) else { return nil }
        self.pointer = pointer
        // The system's OpenSSL configuration must not change what is accepted.
        SSL_CTX_set_security_level(pointer, 2)
        _ = SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM:ECDHE+CHACHA20")
        SSL_CTX_set_options(pointer, COpenSSL_OP_NO_COMPRESSION | COpenSSL_OP_NO_RENEGOTIATION)
        let modes = [SSL_MODE_RELEASE_BUFFERS, SSL_MODE_ENABLE_PARTIAL_WRITE, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER]
        for mode in modes { _ = SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil) }
        // One system call then reads a whole request instead of the five bytes of a record header.
        _ = SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        if side == .server { prepareServer() }
    }

    deinit { SSL_CTX_free(pointer) }

    private func prepareServer() {
        // RFC 9112 section 9.8: a server may treat an end without close_notify as a close; requests have a length.
        SSL_CTX_set_options(pointer, COpenSSL_OP_IGNORE_UNEXPECTED_EOF)
        // Sessions are resumed with tickets, which clients keep; a cache would only cost memory. The ticket key lives
        // as long as the context.
        _ = SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let name = Array("understudy".utf8)
        SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
        SSL_CTX_set_alpn_select_cb(
            pointer, { _, chosen, size, offer, count, _ in chooseProtocol(chosen, size, offer, count) }, nil)
    }
}

/// Chooses `http/1.1` from the protocols a client offers, or `http/1.0` if it speaks nothing newer; without either, the
/// alert `no_application_protocol` follows (RFC 7301 section 3.2).
private func chooseProtocol(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offer: UnsafePointer<UInt8>?, _ count: UInt32
) -> Int32 {
    let offer = UnsafeBufferPointer(start: offer, count: Int(count))
    for wanted in ["http/1.1", "http/1.0"] {
        var start = 0
        while start < offer.count {
            // Each name is preceded by its length.
            let name = (start + 1)..<min(start + 1 + Int(offer[start]), offer.count)
            if offer[name].elementsEqual(wanted.utf8) {
                chosen?.pointee = UnsafeBufferPointer(rebasing: offer[name]).baseAddress
                chosenCount?.pointee = UInt8(name.count)
                return SSL_TLSEXT_ERR_OK
            }
            start = name.upperBound
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
