internal import COpenSSL

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The host that a client means to talk to, and that the server's certificate has to be for.
struct ServerName {
    private let text: String

    /// A host name, or an address without brackets.
    init(_ host: String) {
        // A name may end with the root's dot, which neither certificates nor RFC 6066 section 3 want.
        text = host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// Whether it is an IPv4 or IPv6 address.
    var isAddress: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    /// Has a connection ask for the host and take no other's certificate; false when OpenSSL refuses.
    func expect(on ssl: OpaquePointer) -> Bool {
        OpenSSL.run {
            let parameters = SSL_get0_param(ssl)
            if isAddress { return X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1 }
            // RFC 9110 section 4.3.4: a common name is no name of a server.
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            guard X509_VERIFY_PARAM_set1_host(parameters, text, 0) == 1 else { return false }
            // RFC 6066 section 3: the extension is for names alone.
            return text.withCString { name in
                let name = UnsafeMutableRawPointer(mutating: name)
                return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), name) == 1
            }
        }
    }
}
