internal import COpenSSL

/// The validity period of a certificate.
public struct CertificateValidity: Sendable, Hashable {
    /// The start, in Unix seconds.
    public let notBefore: Double
    /// The end, in Unix seconds.
    public let notAfter: Double

    /// Whether a time is within the period, both ends included.
    ///
    /// Source: RFC 5280 section 4.1.2.5.
    public func contains(_ moment: Double) -> Bool { notBefore <= moment && moment <= notAfter }

    /// The period for people.
    public var dates: String { "valid from \(UnixTime.text(of: notBefore)) to \(UnixTime.text(of: notAfter))" }

    /// A finding that fails outside the period.
    public func finding(at moment: Double) -> Finding {
        Finding(
            moment < notBefore ? "certificate-not-yet-valid" : "certificate-expired",
            contains(moment) ? .passed : .failed,
            expected: .time(moment < notBefore ? notBefore : notAfter), found: .time(moment),
            source: "RFC 5280 section 4.1.2.5")
    }
}

extension CertificateValidity {
    /// The period of an OpenSSL certificate; `nil` if a date is unreadable.
    init?(certificate: OpaquePointer) {
        guard let start = Self.seconds(of: X509_get0_notBefore(certificate)),
            let end = Self.seconds(of: X509_get0_notAfter(certificate))
        else { return nil }
        self.init(notBefore: start, notAfter: end)
    }

    private static func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Double? {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
        return UnixTime.seconds(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }
}
