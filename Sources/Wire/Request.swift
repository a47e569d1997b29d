public import HTTPTypes
import JSON

/// A request whose head is complete and valid by RFC 9112.
public struct Request: Sendable {
    /// The client's HTTP version.
    public enum Version: String, Sendable {
        case http1_0 = "HTTP/1.0"
        case http1_1 = "HTTP/1.1"
    }

    public struct Connection: Sendable {
        /// The client's address without the port, such as `127.0.0.1` or `::1`.
        public let remoteAddress: String
        /// Whether the connection uses TLS.
        public let isSecure: Bool

        public init(remoteAddress: String, isSecure: Bool) {
            self.remoteAddress = remoteAddress
            self.isSecure = isSecure
        }

        /// The connection of a request that did not arrive on a socket, such as a test's.
        public static let inProcess = Connection(remoteAddress: "127.0.0.1", isSecure: false)
    }

    @usableFromInline
    struct Parts: Sendable {
        @usableFromInline var method: HTTPRequest.Method
        @usableFromInline var target: String
        @usableFromInline var authority: String?
        @usableFromInline var fields: FieldLines
        @usableFromInline var body: [UInt8]
        @usableFromInline var bodyExceedsLimit: Bool
        @usableFromInline var version: Version
        @usableFromInline var connection: Connection
    }

    /// A class, since a request is passed around a lot, and each copy of its parts would count seven references.
    @usableFromInline
    final class SharedParts: Sendable {
        @usableFromInline let parts: Parts

        init(_ parts: consuming Parts) { self.parts = parts }
    }

    // Inlinable, so that reading one part copies neither it nor the others.
    @usableFromInline var shared: SharedParts

    public init(
        method: HTTPRequest.Method, target: String, authority: String? = nil, fields: consuming FieldLines = [:],
        body: consuming [UInt8] = [], bodyExceedsLimit: Bool = false, version: Version = .http1_1,
        connection: Connection = .inProcess
    ) {
        shared = SharedParts(
            Parts(
                method: method, target: target, authority: authority, fields: fields, body: body,
                bodyExceedsLimit: bodyExceedsLimit, version: version, connection: connection))
    }

    @usableFromInline
    mutating func change(_ change: (inout Parts) -> Void) {
        var parts = shared.parts
        change(&parts)
        shared = SharedParts(parts)
    }

    @inlinable public var method: HTTPRequest.Method { shared.parts.method }

    /// The request target as sent, in origin form: path and query, nothing decoded.
    @inlinable public var target: String {
        get { shared.parts.target }
        set { change { $0.target = newValue } }
    }

    /// The host from `Host` or from an absolute-form target, with the port if given.
    @inlinable public var authority: String? { shared.parts.authority }

    /// The field lines of the head.
    @inlinable public var fields: FieldLines {
        get { shared.parts.fields }
        set { change { $0.fields = newValue } }
    }

    /// The content, with the transfer coding removed.
    @inlinable public var body: [UInt8] {
        get { shared.parts.body }
        set { change { $0.body = newValue } }
    }

    /// Whether the content exceeded the route's limit; ``body`` is then empty.
    @inlinable public var bodyExceedsLimit: Bool {
        get { shared.parts.bodyExceedsLimit }
        set { change { $0.bodyExceedsLimit = newValue } }
    }

    @inlinable public var version: Version { shared.parts.version }

    @inlinable public var connection: Connection { shared.parts.connection }

    /// The target before the first `?`, not decoded.
    public var path: Substring { target[..<(questionMark ?? target.endIndex)] }

    /// The target after the first `?`, not decoded; `nil` without one.
    public var query: Substring? { questionMark.map { target[target.utf8.index(after: $0)...] } }

    /// Searches the bytes: as characters, a `?` followed by a combining accent would not be found.
    ///
    /// It is read several times per request, hence the contiguous bytes instead of one index step per character.
    private var questionMark: String.Index? {
        let text = target.utf8
        let offset = text.withContiguousStorageIfAvailable { $0.firstIndex(of: UInt8(ascii: "?")) }
        guard let offset else { return text.firstIndex(of: UInt8(ascii: "?")) }
        return offset.map { text.index(text.startIndex, offsetBy: $0) }
    }

    /// Whether the target starts with that ASCII text.
    public func targetBegins(with text: StaticString) -> Bool {
        let begins = target.utf8.withContiguousStorageIfAvailable { bytes in
            text.withUTF8Buffer { bytes.count >= $0.count && zip(bytes, $0).allSatisfy { $0 == $1 } }
        }
        return begins ?? target.hasPrefix(text.description)
    }
}

extension HTTPField.Name {
    /// The kind of resource that a browser wants; no script can set it (Fetch Metadata Request Headers, section 2.1).
    fileprivate static let fetchDestination = Self("Sec-Fetch-Dest") ?? .accept
    fileprivate static let upgradeInsecureRequests = Self("Upgrade-Insecure-Requests") ?? .accept
}

extension Request {
    /// Whether a browser may show the answer in a frame of a page.
    ///
    /// Browsers say so for addresses they trust, such as loopback and HTTPS. For others they still mark navigations,
    /// which may target a frame or a window.
    public var mayBeForFrame: Bool {
        guard let destination = fields.bytes(of: .fetchDestination) else {
            return fields.bytes(of: .upgradeInsecureRequests) != nil
        }
        return ["iframe", "frame", "embed", "object", "fencedframe"].contains { destination.elementsEqual($0.utf8) }
    }
}

/// The field lines of a received message: one buffer and the ranges of names and values in it.
///
/// A request has some ten fields, of which a handler reads two or three, so strings are made on access only.
public struct FieldLines: Sendable {
    /// The ranges of one line's name and value in the buffer, without the whitespace around the value.
    public struct Line: Sendable, Hashable {
        public let name: Range<Int>
        public let value: Range<Int>

        public init(name: Range<Int>, value: Range<Int>) {
            self.name = name
            self.value = value
        }
    }

    private let bytes: [UInt8]
    private let lines: [Line]
    /// The lengths of the names, one bit each: most fields that are looked up are absent.
    private let lengths: UInt64

    /// Field lines that lie in `bytes`, in the order received.
    public init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
        lengths = lines.reduce(0) { $0 | Self.bit(of: $1.name.count) }
    }

    private static func bit(of length: Int) -> UInt64 { 1 << UInt64(length & 63) }

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

    /// The size of the buffer, which lives as long as the field lines.
    public var byteCount: Int { bytes.count }

    /// The field's value; several lines with the name are joined with `, ` (RFC 9110 section 5.3).
    public subscript(name: HTTPField.Name) -> String? { bytes(of: name).map { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of the field's value, without making a string; several lines are joined the same way.
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

    /// The values of all lines with that name, in order.
    public func values(of name: HTTPField.Name) -> [String] { indices(of: name).map { text(lines[$0].value) } }

    /// The elements of a list-valued field, over all its lines (RFC 9110 section 5.6.1).
    ///
    /// For lists of tokens: a comma inside a quoted string also separates.
    public func elements(of name: HTTPField.Name) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.compactMap { element in
            let isBlank = { (character: Character) in character == " " || character == "\t" }
            guard let last = element.lastIndex(where: { !isBlank($0) }) else { return nil }
            return String(element[...last].drop(while: isBlank))
        }
    }

    public func count(of name: HTTPField.Name) -> Int { indices(of: name).count }

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

    /// The first line with that name at or after `start`.
    private func index(of name: HTTPField.Name, from start: Int) -> Int? {
        var canonicalName = name.canonicalName
        guard lengths & Self.bit(of: canonicalName.utf8.count) != 0 else { return nil }
        return canonicalName.withUTF8 { name in
            bytes.withUnsafeBufferPointer { bytes in
                // Most names already differ in length.
                for index in start..<lines.count where lines[index].name.count == name.count {
                    if Self.areEqual(UnsafeBufferPointer(rebasing: bytes[lines[index].name]), name) { return index }
                }
                return nil
            }
        }
    }

    /// Compares a name case-insensitively with `canonicalName`, which has the same length.
    private static func areEqual(
        _ name: UnsafeBufferPointer<UInt8>, _ canonicalName: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var differences: UInt8 = 0
        for index in name.indices { differences |= name[index].lowercased ^ canonicalName[index] }
        return differences == 0
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension FieldLines: RandomAccessCollection {
    /// The position of the first line.
    public var startIndex: Int { 0 }
    /// The position after the last line.
    public var endIndex: Int { lines.count }
    /// The name, as sent, and the value of the line at that position.
    public subscript(position: Int) -> (name: String, value: String) {
        (text(lines[position].name), text(lines[position].value))
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    /// Field lines with these names and values.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Decodes every escape once; `nil` when an escape is malformed or the result is not UTF-8.
    public static func decode(_ text: Substring) -> Substring? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return bytes(text).flatMap { String(validating: $0, as: UTF8.self) }.map { $0[...] }
    }

    /// The bytes with every escape decoded once, in any character set; `nil` when an escape is malformed.
    public static func bytes(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// A query's text as names and values, in order: split at `&`, cut at the first `=`, then decoded.
    ///
    /// A part with a broken escape stays as it was sent.
    public static func items(of text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decode($0) ?? $0) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// The same for a query or form in which `+` means a space (`application/x-www-form-urlencoded`).
    public static func formItems(of text: Substring) -> [(name: String, value: String)] {
        items(of: text.replacing("+", with: " ")[...])
    }

    /// Names and values in the form that ``formItems(of:)`` reads (URL Standard section 5.2).
    package static func form(_ items: [(name: String, value: String)]) -> String {
        let encoded = { encode($0, sparing: "*-._ ").replacing(" ", with: "+") }
        return items.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// The text with everything escaped but ASCII letters, digits and these signs; by default those that are unreserved
    /// (RFC 3986 section 2.3), so that it can be one segment of a path.
    package static func encode(_ text: String, sparing signs: String = "-._~") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isLetter || byte.isDigit || signs.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Request {
    public var queryItems: [(name: String, value: String)] { query.map { PercentEncoding.items(of: $0) } ?? [] }

    /// The first value of that name in the query; `nil` when there is none.
    public func queryValue(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The names and values of a form (`application/x-www-form-urlencoded`), where `+` means a space; empty for other
    /// types and when the content is not UTF-8.
    public var formItems: [(name: String, value: String)] {
        let type = fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) else {
            return []
        }
        return PercentEncoding.formItems(of: text[...])
    }
}
