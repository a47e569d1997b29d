internal import COpenSSL

/// The time for which a certificate was issued.
public struct CertificateValidity: Sendable, Hashable {
    /// The first moment, in Unix seconds.
    public let notBefore: Double
    /// The last moment, in Unix seconds.
    public let notAfter: Double

    /// Whether a moment lies inside, both ends included.
    ///
    /// Source: RFC 5280 section 4.1.2.5.
    public func contains(_ moment: Double) -> Bool { notBefore <= moment && moment <= notAfter }

    /// Both ends for people.
    public var dates: String { "valid from \(UnixTime.text(of: notBefore)) to \(UnixTime.text(of: notAfter))" }

    /// A finding about a moment: a failure outside of the validity.
    public func finding(at moment: Double) -> Finding {
        Finding(
            moment < notBefore ? "certificate-not-yet-valid" : "certificate-expired",
            contains(moment) ? .passed : .failed,
            expected: .time(moment < notBefore ? notBefore : notAfter), found: .time(moment),
            source: "RFC 5280 section 4.1.2.5")
    }

    init(notBefore: Double, notAfter: Double) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// The dates of an OpenSSL certificate; `nil` when one cannot be read.
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
