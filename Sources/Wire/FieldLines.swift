public import HTTPTypes

/// The field lines of a received message: one buffer and the places of names and values in it.
///
/// A request has some ten fields and a handler reads two or three of them, so nothing is copied until it is asked for.
public struct FieldLines: Sendable {
    /// Where one field line's name and value stand in the buffer; blanks around the value are left out.
    public struct Line: Sendable, Hashable {
        /// The bytes of the name.
        public let name: Range<Int>
        /// The bytes of the value.
        public let value: Range<Int>

        /// A line with its name and value at these places.
        public init(name: Range<Int>, value: Range<Int>) {
            self.name = name
            self.value = value
        }
    }

    private let bytes: [UInt8]
    private let lines: [Line]

    /// Field lines that lie in `bytes`, in the order in which they were received.
    public init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
    }

    /// Field lines with these names and values.
    public init(_ fields: some Sequence<(String, String)> = []) {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        for (name, value) in fields {
            let start = bytes.count
            bytes.append(contentsOf: name.utf8)
            let middle = bytes.count
            bytes.append(contentsOf: value.utf8)
            lines.append(Line(name: start..<middle, value: middle..<bytes.count))
        }
        self.init(bytes: bytes, lines: lines)
    }

    /// The bytes of the buffer, which is kept as long as the field lines are.
    public var byteCount: Int { bytes.count }

    /// The value of the field; several lines of that name are joined by `, ` as RFC 9110 section 5.3 allows.
    public subscript(name: HTTPField.Name) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of the field's value, for whoever can do without a string; several lines are joined likewise.
    public func bytes(of name: HTTPField.Name) -> ArraySlice<UInt8>? {
        guard let first = index(of: name, from: 0) else { return nil }
        guard var next = index(of: name, from: first + 1) else { return bytes[lines[first].value] }
        var joined = bytes[lines[first].value]
        while true {
            joined += ", ".utf8
            joined += bytes[lines[next].value]
            guard let further = index(of: name, from: next + 1) else { return joined }
            next = further
        }
    }

    /// The values of all lines of that name, in order.
    public func values(of name: HTTPField.Name) -> [String] { indices(of: name).map { text(lines[$0].value) } }

    /// The elements of a field whose value is a list, over all its lines. RFC 9110 section 5.6.1.
    ///
    /// Meant for lists of tokens: a comma inside a quoted string also separates.
    public func elements(of name: HTTPField.Name) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.compactMap { element in
            let isBlank = { (character: Character) in character == " " || character == "\t" }
            guard let last = element.lastIndex(where: { !isBlank($0) }) else { return nil }
            return String(element[...last].drop(while: isBlank))
        }
    }

    /// How many lines have that name.
    public func count(of name: HTTPField.Name) -> Int { indices(of: name).count }

    /// Whether two lines or more have that name.
    public func isRepeated(_ name: HTTPField.Name) -> Bool {
        index(of: name, from: 0).map { index(of: name, from: $0 + 1) != nil } ?? false
    }

    private func indices(of name: HTTPField.Name) -> [Int] {
        Array(
            sequence(state: 0) { start in
                let found = index(of: name, from: start)
                found.map { start = $0 + 1 }
                return found
            })
    }

    /// The next line of that name, from the one at `start` on.
    private func index(of name: HTTPField.Name, from start: Int) -> Int? {
        var canonicalName = name.canonicalName
        return canonicalName.withUTF8 { name in
            bytes.withUnsafeBufferPointer { bytes in
                // Most names differ in length already.
                for index in start..<lines.count where lines[index].name.count == name.count {
                    if Self.areEqual(UnsafeBufferPointer(rebasing: bytes[lines[index].name]), name) { return index }
                }
                return nil
            }
        }
    }

    /// Whether a name, of the same length, is `canonicalName` but for the case of letters.
    private static func areEqual(
        _ name: UnsafeBufferPointer<UInt8>, _ canonicalName: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var differences: UInt8 = 0
        for index in name.indices { differences |= lowercased(name[index]) ^ canonicalName[index] }
        return differences == 0
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension FieldLines: RandomAccessCollection {
    /// The position of the first line.
    public var startIndex: Int { 0 }
    /// The position behind the last line.
    public var endIndex: Int { lines.count }
    /// Name, as it was sent, and value of the line at that position.
    public subscript(position: Int) -> (name: String, value: String) {
        (text(lines[position].name), text(lines[position].value))
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    /// Field lines with these names and values.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}
