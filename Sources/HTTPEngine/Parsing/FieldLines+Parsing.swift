internal import Wire

extension FieldLines.Line {
    /// Reads the field line that stands at `range`, without its end. RFC 9112 section 5.
    ///
    /// `nil` when it is not a token, directly followed by a colon, and a value without control characters. A line
    /// that continues the one before begins with a blank, so its name is no token.
    init?(parsing range: Range<Int>, in bytes: [UInt8]) {
        let line = bytes[range]
        let tokens = ByteSet.token
        guard let colon = line.firstIndex(where: { !tokens.contains($0) }), colon > line.startIndex,
            line[colon] == UInt8(ascii: ":"), line[(colon + 1)...].allSatisfy(\.isFieldContent)
        else { return nil }
        let value = line[(colon + 1)...].trimmed
        self.init(name: line.startIndex..<colon, value: value.startIndex..<value.endIndex)
    }

    /// The same line in a buffer that begins `distance` bytes later.
    func moved(by distance: Int) -> FieldLines.Line {
        FieldLines.Line(
            name: (name.lowerBound - distance)..<(name.upperBound - distance),
            value: (value.lowerBound - distance)..<(value.upperBound - distance))
    }
}
