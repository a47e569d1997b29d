import COpenSSL

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

    package static func canName(_ name: String) -> Bool { SubjectName.isValid(name) }

    /// Issues a certificate for a server, with a new key.
    ///
    /// - Parameters:
    ///   - names: Host names, which may start with `*.`, and IP addresses; at least one.
    ///   - validity: In seconds since 1970; at most 397 days, since clients reject more.
    package func issue(for names: [String], validity: Range<Int>? = nil) throws(CertificateAuthorityError) -> Issue {
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

/// Why an authority is unusable or cannot issue; the description is one line for the user.
package enum CertificateAuthorityError: Error, Hashable, CustomStringConvertible {
    case unreadable(TLSIdentityError)
    case noAuthority
    case noName
    case invalidName(String)
    case tooLong
    case failed(String)

    package var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .noAuthority: "the certificate is not an authority's: it would need CA:TRUE among its constraints."
        case .noName: "there is no name to issue a certificate for: give a host name or an IP address."
        case .invalidName(let name):
            "\"\(name)\" is not a name for a certificate: give a host name such as localhost or *.example.test, or an IP address."
        case .tooLong: "a server's certificate may be valid for 397 days at most."
        case .failed(let reason): "OpenSSL cannot make the certificate: \(reason)."
        }
    }
}

/// A certificate before it is signed.
struct CertificateDraft {
    private let certificate: Certificate
    private let issuer: Certificate

    /// A draft, self-issued unless an issuer is given.
    ///
    /// - Parameter validity: In seconds since 1970.
    init(
        name: String, key: PrivateKey, validity: Range<Int>, issuer: Certificate? = nil
    ) throws(CertificateAuthorityError) {
        guard let pointer = X509_new() else { throw .lastFailure }
        certificate = Certificate(owning: pointer)
        self.issuer = issuer ?? certificate
        // The last second is included (RFC 5280 section 4.1.2.5).
        guard X509_set_version(pointer, 2) == 1, Self.setSerialNumber(of: pointer),
            ASN1_TIME_set(X509_getm_notBefore(pointer), validity.lowerBound) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), validity.upperBound - 1) != nil,
            X509_set_pubkey(pointer, key.pointer) == 1, let subject = X509_get_subject_name(pointer),
            X509_NAME_add_entry_by_NID(subject, NID_commonName, Self.utf8, name, -1, -1, 0) == 1,
            X509_set_issuer_name(pointer, X509_get_subject_name(self.issuer.pointer)) == 1
        else { throw .lastFailure }
    }

    /// Adds an extension in OpenSSL's notation.
    mutating func add(_ kind: Int32, _ value: String) throws(CertificateAuthorityError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.pointer, certificate.pointer, nil, nil, 0)
        guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else { throw .lastFailure }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate.pointer, made, -1) == 1 else { throw .lastFailure }
    }

    consuming func sign(with key: PrivateKey) throws(CertificateAuthorityError) -> Certificate {
        guard X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 else { throw .lastFailure }
        return certificate
    }

    /// A random 127-bit number: RFC 5280 section 4.1.2.2 requires it to be positive, browsers want it unpredictable.
    private static func setSerialNumber(of certificate: OpaquePointer) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&bytes, Int32(bytes.count)) == 1 else { return false }
        bytes[0] = bytes[0] & 0x7F | 0x40
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    /// `MBSTRING_UTF8`, which Swift does not import.
    private static let utf8: Int32 = 0x1000
}

extension CertificateAuthorityError {
    /// The error of the call just made.
    static var lastFailure: CertificateAuthorityError { .failed(TLSErrors.firstReasonText) }
}

/// A name for a certificate, as OpenSSL takes it.
struct SubjectName {
    /// The name as an entry of the extension: `DNS:localhost`.
    let alternativeName: String
    let commonName: String

    /// Parses a host name or an address; OpenSSL must get nothing else, since it would split the text at commas.
    init(_ text: String) throws(CertificateAuthorityError) {
        guard Self.isValid(text) else { throw .invalidName(text) }
        alternativeName = (ServerName(text).isAddress ? "IP:" : "DNS:") + text
        // RFC 5280 appendix A limits a common name to 64 characters; a host name may be longer.
        commonName = text.utf8.count <= 64 ? text : "Understudy"
    }

    /// Whether the text is a host name or an address.
    static func isValid(_ text: String) -> Bool {
        // C would end the text at a NUL, and an address has no root's dot.
        guard !text.utf8.contains(0) else { return false }
        return ServerName(text).isAddress && text.last != "." || isHostName(text)
    }

    private static func isHostName(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253 && labels.allSatisfy(isLabel)
    }

    /// RFC 1123 section 2.1; names with underscores occur too, and clients accept them.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { ByteSet.hostLabel.contains($0) }
    }
}

extension ByteSet {
    fileprivate static let hostLabel = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
}
