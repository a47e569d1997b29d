import COpenSSL

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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

/// Whom a client trusts: the system's authorities, and optionally others.
package struct TLSTrust: Sendable {
    /// `nil` when OpenSSL had no memory.
    let context: TLSContext?

    package static let system = TLSTrust(context: makeContext())

    /// The system's authorities and those of a PEM text.
    package init(alsoIn certificates: [UInt8]) throws(TLSIdentityError) {
        let certificates = try TLSIdentity.certificates(of: certificates)
        let context = Self.makeContext()
        TLSErrors.run {
            guard let store = context.flatMap({ SSL_CTX_get_cert_store($0.pointer) }) else { return }
            for certificate in certificates { X509_STORE_add_cert(store, certificate.pointer) }
        }
        self.init(context: context)
    }

    private init(context: TLSContext?) { self.context = context }

    private static func makeContext() -> TLSContext? {
        TLSErrors.run {
            guard let context = TLSContext(.client) else { return nil }
            SSL_CTX_set_default_verify_paths(context.pointer)
            SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
            return context
        }
    }
}

/// The host that a client connects to, which the server's certificate must match.
struct ServerName {
    private let text: String

    /// A host name, or an address without brackets.
    init(_ host: String) {
        // A name may end with the root's dot, which neither certificates nor RFC 6066 section 3 allow.
        text = host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    var isAddress: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    /// Requests the host and accepts only its certificate; false when OpenSSL fails.
    func expect(on ssl: OpaquePointer) -> Bool {
        TLSErrors.run {
            let parameters = SSL_get0_param(ssl)
            if isAddress { return X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1 }
            // RFC 9110 section 4.3.4: a common name does not identify a server.
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            guard X509_VERIFY_PARAM_set1_host(parameters, text, 0) == 1 else { return false }
            // RFC 6066 section 3: the extension is only for names.
            return text.withCString { name in
                let name = UnsafeMutableRawPointer(mutating: name)
                return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), name) == 1
            }
        }
    }
}

/// Explains failed handshakes in plain words, for a log.
enum HandshakeProblem {
    /// Describes the last call's failure; must be called before the error queue is cleared.
    static func describe(_ ssl: OpaquePointer) -> String {
        let other = SSL_is_server(ssl) == 1 ? "the client" : "the server"
        if let number = TLSErrors.firstAlert { return "\(other) gave up: \(alert(number))" }
        switch TLSErrors.firstReason {
        case 0: return "\(other) broke off the connection"
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return "\(other) closed the connection during the handshake"
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW:
            return "no shared version: \(other) offers at most \(version(of: ssl)); expected TLS 1.2 or 1.3"
        case SSL_R_NO_SHARED_CIPHER: return "no shared cipher suite"
        case SSL_R_NO_APPLICATION_PROTOCOL: return "no shared protocol (ALPN): \(other) does not offer http/1.1"
        case SSL_R_CERTIFICATE_VERIFY_FAILED: return "the certificate cannot be verified"
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            return "\(other) does not speak TLS"
        default: return TLSErrors.firstReasonText
        }
    }

    private static func alert(_ number: Int32) -> String {
        let name = SSL_alert_desc_string_long(number).map { String(cString: $0) } ?? "alert \(number)"
        switch number {
        case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
            SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA:
            return "it refused the certificate (\(name))"
        default: return name
        }
    }

    private static func version(of ssl: OpaquePointer) -> String {
        switch SSL_is_server(ssl) == 1 ? SSL_client_version(ssl) : SSL_version(ssl) {
        case SSL3_VERSION: "SSL 3.0"
        case TLS1_VERSION: "TLS 1.0"
        case TLS1_1_VERSION: "TLS 1.1"
        case TLS1_2_VERSION: "TLS 1.2"
        default: "an unknown version"
        }
    }
}

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
