/// Padded base64 (RFC 4648 section 4), for PEM, for hashes in policies and for diagnosing secrets.
package enum Base64 {
    /// Encodes bytes, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}
