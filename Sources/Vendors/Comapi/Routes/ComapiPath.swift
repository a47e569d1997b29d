import Wire

/// Spellings of paths that clients of Comapi are known to send.
enum ComapiPath {
    private static let encodedQuery = "profiles?"

    /// Rewrites the path to the spelling in the route table.
    @Sendable static func rewrite(_ segments: inout [Substring]) {
        // The iOS SDK encodes the query into the path: `/profiles%3Femail=a@b.c` (observed).
        if segments.count == 3, segments[2].utf8.starts(with: encodedQuery.utf8) { segments[2] = "profiles" }
        // The mock of the JS SDK spells it `statusUpdates` (observed).
        if segments.count == 6, segments[4] == "messages", segments[5].utf8.count == 13 {
            let lowercased = segments[5].lowercased()
            if lowercased == "statusupdates" { segments[5] = "statusupdates" }
        }
    }

    /// The query after an encoded question mark in a decoded path; `nil` without one.
    static func encodedQuery(in path: Substring) -> String? {
        guard let last = path.split(separator: "/", omittingEmptySubsequences: false).last,
            let text = decoded(last), text.utf8.starts(with: encodedQuery.utf8)
        else { return nil }
        return String(text.dropFirst(encodedQuery.count))
    }
}

extension ComapiPath {
    /// A segment with its escapes decoded once; unchanged if an escape is invalid.
    static func decoded(_ segment: Substring) -> Substring? { PercentEncoding.decode(segment) }

    /// A text as a path segment, with all ambiguous characters escaped (RFC 3986 section 3.3).
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
