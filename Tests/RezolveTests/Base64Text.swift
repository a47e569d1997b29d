/// Base64 of RFC 4648 section 4, implemented independently of the product's.
enum Base64Text {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0...group.count { text.append(alphabet[word >> (18 - 6 * digit) & 0x3F]) }
            text += String(repeating: "=", count: 3 - group.count)
        }
        return text
    }
}
