internal import COpenSSL

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
