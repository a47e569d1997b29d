import JSON

/// Cheap checks of PEM text for startup; the key itself is read on first use.
extension [UInt8] {
    /// Whether the text has a PEM line that mentions a private key.
    ///
    /// Searches bytes: every start checks all keys, and searching characters takes a hundred times as long.
    package var holdsPrivateKey: Bool {
        let words = Array("PRIVATE KEY-----".utf8)
        var rest = self[...]
        while let start = rest.place(of: words[0]) {
            if rest[start...].prefix(words.count).elementsEqual(words) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }

    /// Whether the text's first block contains only base64 in whole groups of four, and is terminated.
    package var isBase64InPEM: Bool {
        let dashes = Array("-----".utf8)
        var (isInside, count) = (false, 0)
        for line in split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            if line.starts(with: dashes) {
                if isInside { return count > 0 && count.isMultiple(of: 4) }
                isInside = true
            } else if isInside {
                guard line.allSatisfy(Self.isBase64) else { return false }
                count += line.count
            }
        }
        return false
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
