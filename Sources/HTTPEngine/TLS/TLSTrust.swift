internal import COpenSSL

/// Whom a client trusts: the system's authorities, and optionally others.
package struct TLSTrust: Sendable {
    /// `nil` when OpenSSL had no memory.
    let context: TLSContext?

    /// The system's authorities.
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
