internal import COpenSSL

/// Whom the client believes: the authorities that the system trusts, and others if they are given.
public struct TLSTrust: Sendable {
    /// `nil` when OpenSSL had no room for it.
    let context: TLSContext?

    /// The authorities that the system trusts.
    public static let system = TLSTrust(context: makeContext())

    /// The authorities that the system trusts, and those of a PEM text.
    public init(alsoIn certificates: [UInt8]) throws(TLSIdentityError) {
        let certificates = try TLSIdentity.certificates(of: certificates)
        let context = Self.makeContext()
        OpenSSL.run {
            guard let store = context.flatMap({ SSL_CTX_get_cert_store($0.pointer) }) else { return }
            for certificate in certificates { X509_STORE_add_cert(store, certificate.pointer) }
        }
        self.init(context: context)
    }

    private init(context: TLSContext?) { self.context = context }

    private static func makeContext() -> TLSContext? {
        OpenSSL.run {
            guard let context = TLSContext(.client) else { return nil }
            SSL_CTX_set_default_verify_paths(context.pointer)
            SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
            return context
        }
    }
}
