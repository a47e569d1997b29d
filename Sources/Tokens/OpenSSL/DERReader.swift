/// Reads the DER (X.690) that keys and signatures need.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The content of the next value, if it has that tag and a minimally encoded length.
    mutating func content(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag, let count = length(), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func sequence() -> DERReader? { content(0x30).map(DERReader.init) }

    /// The next number, most significant byte first, if it is positive and minimally encoded.
    mutating func positiveNumber() -> [UInt8]? {
        guard let digits = content(0x02), let first = digits.first, first < 0x80 else { return nil }
        if first > 0 { return Array(digits) }
        guard let second = digits.dropFirst().first, second >= 0x80 else { return nil }
        return Array(digits.dropFirst())
    }

    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        if first < 0x80 { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count), count <= rest.count, rest.first != 0 else { return nil }
        defer { rest = rest.dropFirst(count) }
        let value = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        return value < 0x80 ? nil : value
    }
}
