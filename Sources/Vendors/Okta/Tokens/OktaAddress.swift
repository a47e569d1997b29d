import JSON
import Wire

/// An address on the web, reduced to what counts when two are compared: scheme, host, port and path.
///
/// The case of scheme and host, the scheme's own port, query and fragment do not count (RFC 3986 section 6.2, RFC 9449
/// section 4.3).
struct OktaAddress: Hashable, Sendable {
    /// Scheme, host and port as browsers write them in `Origin` (RFC 6454 section 6.2).
    let origin: ExactText
    /// Decoded, since clients escape other characters in a proof than on the wire (observed, pysdk); `/` for none.
    let path: ExactText

    /// Reads an address; `nil` unless it is an absolute one of http or https, without user information.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let port = Self.ports[scheme] else { return nil }
        let rest = text[mark.upperBound...]
        let end = rest.utf8.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)].lowercased()
        if authority.hasSuffix(port) {
            authority.removeLast(port.count)
        } else if authority.last == ":" {
            authority.removeLast()
        }
        guard !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        origin = ExactText("\(scheme)://\(authority)")
        let path = rest[(end ?? rest.endIndex)...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let text = path.isEmpty ? "/" : Substring(path)
        self.path = ExactText(PercentEncoding.decode(text) ?? text)
    }

    private static let ports = ["http": ":80", "https": ":443"]
}
