/// A name for which a certificate is issued, in the form in which OpenSSL takes it.
struct SubjectName {
    /// The name as an entry of the extension: `DNS:localhost`.
    let alternativeName: String
    /// The name where a certificate shows one alone.
    let commonName: String

    /// Reads a host name or an address; nothing else gets through to OpenSSL, which would take commas for further entries.
    init(_ text: String) throws(CertificateAuthorityError) {
        guard Self.isValid(text) else { throw .invalidName(text) }
        alternativeName = (ServerName(text).isAddress ? "IP:" : "DNS:") + text
        // RFC 5280 appendix A: a common name has 64 characters at most, a host name may have more.
        commonName = text.utf8.count <= 64 ? text : "Understudy"
    }

    /// Whether the text is a host name or an address.
    static func isValid(_ text: String) -> Bool {
        // A NUL would end the text where C reads it, and an address has no root's dot.
        guard !text.utf8.contains(0) else { return false }
        return ServerName(text).isAddress && text.last != "." || isHostName(text)
    }

    private static func isHostName(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253 && labels.allSatisfy(isLabel)
    }

    /// RFC 1123 section 2.1; machines are also given names with an underscore, which clients take.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { ByteSet.hostLabel.contains($0) }
    }
}

extension ByteSet {
    /// Letters, digits, hyphen and underscore.
    fileprivate static let hostLabel = ByteSet(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
}
