import ArgumentParser
import HTTPEngine
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Whether `serve` also listens on HTTPS, and with which certificate.
struct SecureListenerOptions: ParsableArguments {
    @Option(help: "A port for HTTPS, in addition to --port (default: none); 0 picks a free one.")
    var httpsPort: String?

    @Option(
        help: "A certificate for HTTPS with its issuers, PEM (default: one from the local CA; see understudy ca).",
        completion: .file())
    var tlsCert: String?

    @Option(help: "The private key of that certificate, PEM without a passphrase.", completion: .file())
    var tlsKey: String?

    /// A listener and what its clients must trust.
    struct Choice {
        let listener: ServerConfiguration.Listener
        /// The local CA's certificate; `nil` if the user supplies a certificate.
        let authorityPath: String?
    }

    /// The listener on that host; `nil` when not requested.
    func choice(host: String, _ sources: OptionSources) throws -> Choice? {
        let port = try sources.port("https-port", flag: httpsPort)
        let certificate = try sources.text("tls-cert", flag: tlsCert)
        let key = try sources.text("tls-key", flag: tlsKey)
        try checkCompleteness(port, certificate, key)
        guard let port else { return nil }
        if let certificate, let key {
            let identity = try identity(certificate, key)
            return Choice(listener: .init(host: host, port: port, identity: identity), authorityPath: nil)
        }
        let local = try LocalAuthority(in: LocalAuthority.folder(nil, sources))
        let identity = try local.identity(for: host)
        return Choice(listener: .init(host: host, port: port, identity: identity), authorityPath: local.certificatePath)
    }

    private func checkCompleteness(_ port: Int?, _ certificate: String?, _ key: String?) throws {
        if let certificate, key == nil {
            throw Misuse(
                "the certificate \(certificate) has no key; give it with --tls-key as well, or leave out --tls-cert.")
        }
        if let key, certificate == nil {
            throw Misuse("the key \(key) has no certificate; give it with --tls-cert as well, or leave out --tls-key.")
        }
        if let certificate, port == nil {
            throw Misuse(
                "the certificate \(certificate) needs a port; give one with --https-port, such as 8443.")
        }
    }

    private func identity(_ certificatePath: String, _ keyPath: String) throws -> TLSIdentity {
        let chain = try Files.read(certificatePath, "the certificate")
        let key = try Files.read(keyPath, "the private key")
        do {
            return try TLSIdentity(certificateChain: chain, privateKey: key)
        } catch {
            throw Misuse("\(error.isAboutPrivateKey ? keyPath : certificatePath): \(error)")
        }
    }
}

extension TLSIdentityError {
    /// Whether the key file is at fault, not the certificate file.
    fileprivate var isAboutPrivateKey: Bool {
        switch self {
        case .noPrivateKey, .encryptedPrivateKey, .foreignPrivateKey, .unreadableBlock(_, of: .privateKey): true
        case .noCertificate, .unreadableBlock, .misplacedCertificate, .brokenChain, .weakKey, .weakSignature, .unusable:
            false
        }
    }
}

extension LocalAuthority {
    /// An identity for all names and addresses by which clients reach this machine.
    fileprivate func identity(for host: String) throws -> TLSIdentity {
        let names = ["localhost", "*.localhost", "127.0.0.1", "::1", Self.machineName, host]
        // A machine's name may be unusable in a certificate, and a wildcard address names no machine.
        let usable = names.filter { CertificateAuthority.canName($0) && $0 != "0.0.0.0" && $0 != "::" }
        let distinct = usable.enumerated().filter { !usable[..<$0.offset].contains($0.element) }.map(\.element)
        let issue = try Misuse.rephrase { () throws(CertificateAuthorityError) in try authority.issue(for: distinct) }
        return try Misuse.rephrase { () throws(TLSIdentityError) in
            try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        }
    }

    /// This machine's name; Foundation would ask the resolver, which may take long.
    private static var machineName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
