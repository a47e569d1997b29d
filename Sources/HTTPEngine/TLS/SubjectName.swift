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
    fileprivate static let hostLabel = ByteSet(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
}
