internal import COpenSSL

/// A small private certificate authority for laptops and tests, which issues certificates for servers that no public
/// one would.
package final class CertificateAuthority: Sendable {
    private let certificate: Certificate
    private let key: PrivateKey

    /// A server's certificate and key in PEM, as ``TLSIdentity`` takes them.
    package struct Issue: Sendable {
        /// The server's certificate; clients have the authority's.
        package let certificateChain: [UInt8]
        package let privateKey: [UInt8]
    }

    /// Creates an authority that is valid for ten years.
    package convenience init() throws(CertificateAuthorityError) {
        let now = OperatingSystem.unixTime
        try self.init(validity: (now - Self.clockSkew)..<(now + 3650 * Self.day))
    }

    /// Creates an authority with that validity, in seconds since 1970.
    init(validity: Range<Int>) throws(CertificateAuthorityError) {
        let key = try TLSErrors.run { () throws(CertificateAuthorityError) in try PrivateKey.generate() }
        var draft = try CertificateDraft(name: "Understudy local CA", key: key, validity: validity)
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try draft.add(NID_key_usage, "critical,keyCertSign")
        try draft.add(NID_subject_key_identifier, "hash")
        certificate = try draft.sign(with: key)
        self.key = key
    }

    /// Restores an authority from its certificate and key in PEM.
    package init(certificate: [UInt8], privateKey: [UInt8]) throws(CertificateAuthorityError) {
        do throws(TLSIdentityError) {
            self.certificate = try TLSIdentity.certificates(of: certificate)[0]
            key = try TLSIdentity.privateKey(of: privateKey)
        } catch {
            throw .unreadable(error)
        }
        guard self.certificate.belongs(to: key) else { throw .unreadable(.foreignPrivateKey) }
        guard self.certificate.isAuthority else { throw .noAuthority }
    }

    /// The certificate that clients must trust, in PEM.
    package var certificatePEM: [UInt8] { certificate.pem }

    /// The key in PEM; its holder can impersonate any server to those who trust the authority.
    package var privateKeyPEM: [UInt8] { key.pem }

    /// The certificate's SHA-256 digest in the usual form: pairs of digits with colons.
    package var fingerprint: String {
        certificate.fingerprint.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// When the certificate expires, in seconds since 1970; `nil` if OpenSSL cannot read the date.
    package var end: Int? { certificate.end }

    /// Whether a certificate can be issued for a name.
    package static func canName(_ name: String) -> Bool { SubjectName.isValid(name) }

    /// Issues a certificate for a server, with a new key.
    ///
    /// - Parameters:
    ///   - names: Host names, which may start with `*.`, and IP addresses; at least one.
    ///   - validity: In seconds since 1970; at most 397 days, since clients reject more.
    package func issue(
        for names: [String], validity: Range<Int>? = nil
    ) throws(CertificateAuthorityError) -> Issue {
        let names = try names.map { (name) throws(CertificateAuthorityError) in try SubjectName(name) }
        guard let first = names.first else { throw .noName }
        let now = OperatingSystem.unixTime
        let validity = validity ?? (now - Self.clockSkew)..<(now - Self.clockSkew + 397 * Self.day)
        guard validity.count <= 397 * Self.day else { throw .tooLong }
        return try TLSErrors.run { () throws(CertificateAuthorityError) in
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
    /// Clocks differ: for some, a certificate that starts this second is not valid yet.
    private static let clockSkew = 3_600
}
