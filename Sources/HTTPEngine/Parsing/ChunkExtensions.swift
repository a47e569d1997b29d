/// The grammar of chunk extensions (RFC 9112 section 7.1.1).
enum ChunkExtensions {
    /// Whether these bytes are an optional list of extensions; blanks are allowed around `;` and `=` only.
    static func areValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard take(UInt8(ascii: ";"), &rest), takeToken(&rest) else { return false }
            var value = rest
            guard take(UInt8(ascii: "="), &value) else { continue }
            guard takeToken(&value) || takeQuotedString(&value) else { return false }
            rest = value
        }
        return true
    }

    /// Consumes that byte and the blanks around it.
    private static func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        let next = rest.drop { $0.isBlank }
        guard next.first == byte else { return false }
        rest = next.dropFirst().drop { $0.isBlank }
        return true
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let tokens = ByteSet.token
        let token = rest.prefix { tokens.contains($0) }
        rest = rest[token.endIndex...]
        return !token.isEmpty
    }

    private static func takeQuotedString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for place in rest.indices.dropFirst() {
            let byte = rest[place]
            guard byte.isFieldContent else { return false }
            if !isEscaped, byte == UInt8(ascii: "\"") {
                rest = rest[(place + 1)...]
                return true
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return false
    }
}
