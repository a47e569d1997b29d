internal import Wire

extension FieldLines.Line {
    /// Parses the field line at `range`, without its line end (RFC 9112 section 5).
    ///
    /// `nil` unless it is a token, immediately followed by a colon, and a value without control characters. A folded
    /// line starts with a blank, so its name is not a token.
    init?(parsing range: Range<Int>, in bytes: [UInt8]) {
        let tokens = ByteSet.token
        let places = bytes[range].withUnsafeBufferPointer { line -> (colon: Int, value: Range<Int>)? in
            guard let colon = line.firstIndex(where: { !tokens.contains($0) }), colon > 0,
                line[colon] == UInt8(ascii: ":")
            else { return nil }
            let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...])
            guard Self.isFieldContent(value) else { return nil }
            let trimmed = value[...].trimmed
            return (colon, (colon + 1 + trimmed.startIndex)..<(colon + 1 + trimmed.endIndex))
        }
        guard let (colon, value) = places else { return nil }
        let start = range.lowerBound
        self.init(name: start..<(start + colon), value: (start + value.lowerBound)..<(start + value.upperBound))
    }

    /// Whether every byte is allowed in a field value.
    private static func isFieldContent(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        // Values are long and rarely contain control characters, and a loop without an early exit can be vectorized.
        var controls: UInt8 = 0
        for byte in value { controls |= (byte < .space ? 1 : 0) | (byte == 0x7F ? 1 : 0) }
        return controls == 0 || value.allSatisfy(\.isFieldContent)
    }

    /// The same line in a buffer that starts `distance` bytes later.
    func moved(by distance: Int) -> FieldLines.Line {
        FieldLines.Line(
            name: (name.lowerBound - distance)..<(name.upperBound - distance),
            value: (value.lowerBound - distance)..<(value.upperBound - distance))
    }
}
