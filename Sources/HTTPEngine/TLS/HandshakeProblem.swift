internal import COpenSSL

/// Explains failed handshakes in plain words, for a log.
enum HandshakeProblem {
    /// Describes the last call's failure; must be called before the error queue is cleared.
    static func describe(_ ssl: OpaquePointer) -> String {
        let other = SSL_is_server(ssl) == 1 ? "the client" : "the server"
        if let number = TLSErrors.firstAlert { return "\(other) gave up: \(alert(number))" }
        switch TLSErrors.firstReason {
        case 0: return "\(other) broke the connection off"
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return "\(other) closed the connection during the handshake"
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW:
            return "no shared version: \(other) offers at most \(version(of: ssl)), needed is TLS 1.2 or 1.3"
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
