internal import COpenSSL

/// A small authority of one's own, for laptops and tests: it issues certificates for servers that no public one would.
public final class CertificateAuthority: Sendable {
    private let certificate: Certificate
    private let key: PrivateKey

    /// A certificate for a server, with its key: both PEM, as ``TLSIdentity`` takes them.
    public struct Issue: Sendable {
        /// The server's certificate; clients have the authority's own.
        public let certificateChain: [UInt8]
        /// The key that belongs to it.
        public let privateKey: [UInt8]
    }

    /// Makes a new authority, good for ten years.
    public convenience init() throws(CertificateAuthorityError) {
        let now = OperatingSystem.unixTime
        try self.init(validity: (now - Self.clockSkew)..<(now + 3650 * Self.day))
    }

    /// Makes a new authority, good for a time in seconds since 1970.
    init(validity: Range<Int>) throws(CertificateAuthorityError) {
        let key = try OpenSSL.run { () throws(CertificateAuthorityError) in try PrivateKey.generate() }
        var draft = try CertificateDraft(name: "Understudy local CA", key: key, validity: validity)
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try draft.add(NID_key_usage, "critical,keyCertSign")
        try draft.add(NID_subject_key_identifier, "hash")
        certificate = try draft.sign(with: key)
        self.key = key
    }

    /// Takes an authority up again from its certificate and key in PEM.
    public init(certificate: [UInt8], privateKey: [UInt8]) throws(CertificateAuthorityError) {
        do throws(TLSIdentityError) {
            self.certificate = try TLSIdentity.certificates(of: certificate)[0]
            key = try TLSIdentity.privateKey(of: privateKey)
        } catch {
            throw .unreadable(error)
        }
        guard self.certificate.belongs(to: key) else { throw .unreadable(.foreignPrivateKey) }
        guard self.certificate.isAuthority else { throw .noAuthority }
    }

    /// The certificate that clients have to trust, as PEM.
    public var certificatePEM: [UInt8] { certificate.pem }

    /// The key, as PEM; whoever has it can pose as any server to those who trust the authority.
    public var privateKeyPEM: [UInt8] { key.pem }

    /// The SHA-256 digest of the certificate, as other programs show it: pairs of digits with colons.
    public var fingerprint: String {
        certificate.fingerprint.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// When the certificate ends, in seconds since 1970; `nil` when its date is out of reach.
    public var end: Int? { certificate.end }

    /// Whether a certificate can be issued for a name.
    public static func canName(_ name: String) -> Bool { SubjectName.isValid(name) }

    /// Issues a certificate for a server, with a key of its own.
    ///
    /// - Parameters:
    ///   - names: Host names, which may begin with `*.`, and IP addresses; at least one.
    ///   - validity: From when until when, in seconds since 1970; at most 397 days, since clients refuse more.
    public func issue(
        for names: [String], validity: Range<Int>? = nil
    ) throws(CertificateAuthorityError) -> Issue {
        let names = try names.map { (name) throws(CertificateAuthorityError) in try SubjectName(name) }
        guard let first = names.first else { throw .noName }
        let now = OperatingSystem.unixTime
        let validity = validity ?? (now - Self.clockSkew)..<(now - Self.clockSkew + 397 * Self.day)
        guard validity.count <= 397 * Self.day else { throw .tooLong }
        return try OpenSSL.run { () throws(CertificateAuthorityError) in
            try issue(first, names.map(\.alternativeName).joined(separator: ","), validity)
        }
    }

    private func issue(
        _ name: SubjectName, _ alternativeNames: String, _ validity: Range<Int>
    ) throws(CertificateAuthorityError) -> Issue {
        let own = try PrivateKey.generate()
        var draft = try CertificateDraft(name: name.commonName, key: own, validity: validity, issuer: certificate)
        try draft.add(NID_basic_constraints, "critical,CA:FALSE")
        try draft.add(NID_key_usage, "critical,digitalSignature")
        try draft.add(NID_ext_key_usage, "serverAuth")
        try draft.add(NID_subject_alt_name, alternativeNames)
        try draft.add(NID_subject_key_identifier, "hash")
        try draft.add(NID_authority_key_identifier, "keyid:always")
        return Issue(certificateChain: try draft.sign(with: key).pem, privateKey: own.pem)
    }

    private static let day = 86_400
    /// Clocks differ: a certificate that begins this second is one that others find not yet valid.
    private static let clockSkew = 3_600
}
