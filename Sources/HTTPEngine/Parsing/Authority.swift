/// The host and port that a request names. RFC 9110 section 7.2, RFC 3986 section 3.2.
enum Authority {
    /// Whether these bytes are a host with or without a port.
    ///
    /// An empty host is refused: it is invalid in `http` and `https` (RFC 9110 section 4.2.1).
    static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first else { return false }
        if first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isAddress(bytes[(bytes.startIndex + 1)..<end]) && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let names = ByteSet.hostName
        return end > bytes.startIndex && bytes[..<end].allSatisfy(names.contains) && isPort(bytes[end...])
    }

    /// Whether these bytes can be an IPv6 address; a zone is refused, since it means nothing to another machine.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        let addresses = ByteSet.hostAddress
        return bytes.allSatisfy(addresses.contains) && bytes.count <= 45
            && bytes.count { $0 == UInt8(ascii: ":") } >= 2
    }

    /// Whether these bytes are nothing, or a colon and a port; a colon alone is allowed by RFC 3986 section 3.2.3.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        guard colon == UInt8(ascii: ":") else { return false }
        let digits = bytes.dropFirst()
        return digits.isEmpty || (digits.count <= 5 && digits.decimalNumber.map { $0 <= 65535 } ?? false)
    }
}
