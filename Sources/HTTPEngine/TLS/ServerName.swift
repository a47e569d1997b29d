internal import COpenSSL

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
