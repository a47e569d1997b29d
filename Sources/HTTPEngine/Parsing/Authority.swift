/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Whether these bytes are a host with an optional port.
    ///
    /// An empty host is rejected: it is invalid in `http` and `https` (RFC 9110 section 4.2.1).
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

    /// Whether these bytes are an IPv6 address; a zone is rejected, since it means nothing to another machine.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let gap = bytes.indices.first(where: { bytes[$0...].starts(with: "::".utf8) }) else {
            return groupCount(bytes, mayEndAsIPv4: true) == 8
        }
        guard let before = groupCount(bytes[..<gap], mayEndAsIPv4: false),
            let after = groupCount(bytes[(gap + 2)...], mayEndAsIPv4: true)
        else { return false }
        return before + after <= 7
    }

    /// The number of 16-bit groups; `nil` if a group is invalid.
    private static func groupCount(_ bytes: ArraySlice<UInt8>, mayEndAsIPv4: Bool) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        var groups = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var count = 0
        if mayEndAsIPv4, let last = groups.last, last.contains(UInt8(ascii: ".")) {
            guard isIPv4(last) else { return nil }
            groups.removeLast()
            count = 2
        }
        let areHexadecimal = groups.allSatisfy {
            (1...4).contains($0.count) && $0.allSatisfy { $0.hexadecimalValue != nil }
        }
        return areHexadecimal ? count + groups.count : nil
    }

    private static func isIPv4(_ bytes: ArraySlice<UInt8>) -> Bool {
        let numbers = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { number in
                number.decimalNumber.map { $0 <= 255 } ?? false
                    && (number.count == 1 || number.first != UInt8(ascii: "0"))
            }
    }

    /// Whether these bytes are empty, or a colon and a port; RFC 3986 section 3.2.3 allows a colon alone.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        guard colon == UInt8(ascii: ":") else { return false }
        let digits = bytes.dropFirst()
        return digits.isEmpty || (digits.count <= 5 && digits.decimalNumber.map { $0 <= 65535 } ?? false)
    }
}
