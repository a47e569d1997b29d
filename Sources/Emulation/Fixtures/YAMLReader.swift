internal import CYaml
internal import JSON

/// Builds a YAML document from the events of libyaml, which Yams bundles.
///
/// Yams' own nodes carry tags, styles and anchors that are not needed here; building them took a third of startup time.
final class YAMLReader {
    private let file: String
    private let bytes: UnsafeBufferPointer<UInt8>
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private var anchors: [String: YAMLNode] = [:]

    static func root(of file: FixtureStore.File) throws(FixtureProblem) -> YAMLNode {
        try TextEncoding.check(file)
        return try file.bytes.withUnsafeBufferPointer { (bytes) throws(FixtureProblem) in
            try YAMLReader(bytes, of: file.path).root()
        }
    }

    /// The bytes must outlive the reader.
    private init(_ bytes: UnsafeBufferPointer<UInt8>, of file: String) {
        self.file = file
        self.bytes = bytes
        yaml_parser_initialize(parser)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        // An empty file has no base address.
        if let start = bytes.baseAddress { yaml_parser_set_input_string(parser, start, bytes.count) }
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    private func root() throws(FixtureProblem) -> YAMLNode {
        guard parser.pointee.read_handler != nil else { throw emptiness }
        // The stream begins, followed by a document or the end of the stream.
        _ = try node()
        _ = try node()
        guard let root = try node() else { throw emptiness }
        // The document ends, and then the stream should end.
        _ = try node()
        var event = try next()
        defer { yaml_event_delete(&event) }
        guard event.type == YAML_STREAM_END_EVENT else {
            throw problem("a second document begins here; a file has only one", at: event.start_mark)
        }
        return root
    }

    private var emptiness: FixtureProblem {
        FixtureProblem(file: file, line: 1, column: 1, message: "the file is empty")
    }

    /// Returns the next event; the caller must free its content.
    private func next() throws(FixtureProblem) -> yaml_event_t {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw brokenSyntax }
        return event
    }

    /// The next value; `nil` when something else begins or ends.
    private func node() throws(FixtureProblem) -> YAMLNode? {
        var event = try next()
        defer { yaml_event_delete(&event) }
        switch event.type {
        case YAML_SCALAR_EVENT:
            return keep(scalar(event.data.scalar.value, event.data.scalar.length, event.data.scalar.style), of: event)
        case YAML_SEQUENCE_START_EVENT: return keep(.sequence(try elements()), of: event)
        case YAML_MAPPING_START_EVENT: return keep(.mapping(try members()), of: event)
        case YAML_ALIAS_EVENT:
            guard let node = anchors[String(cString: event.data.alias.anchor)] else {
                throw problem("not YAML: found undefined alias", at: event.start_mark)
            }
            return node
        default: return nil
        }
    }

    private func scalar(
        _ start: UnsafePointer<UInt8>, _ count: Int, _ style: yaml_scalar_style_t
    ) -> YAMLNode.Content {
        let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        return .scalar(text, isPlain: style == YAML_PLAIN_SCALAR_STYLE)
    }

    private func elements() throws(FixtureProblem) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while let element = try node() { elements.append(element) }
        return elements
    }

    private func members() throws(FixtureProblem) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        while let name = try node(), let value = try node() {
            members.append(YAMLNode.Member(name: name, value: value))
        }
        try checkNames(of: members)
        return members
    }

    /// Reports the earlier of two equal names, as a starting point for comparison.
    private func checkNames(of members: [YAMLNode.Member]) throws(FixtureProblem) {
        let nodes = members.map(\.name)
        guard Self.repeatsText(nodes) else { return }
        let list = Dictionary(grouping: nodes.compactMap(\.text)) { $0 }.filter { $1.count > 1 }.keys.sorted()
        guard let first = nodes.first(where: { $0.text == list.first }) else { return }
        throw FixtureProblem(
            file: file, line: first.line, column: first.column,
            message: "this mapping has the same member twice: \(list.joined(separator: ", "))")
    }

    /// Whether two nodes have the same text; for a few nodes, comparing pairs is faster than hashing.
    private static func repeatsText(_ nodes: [YAMLNode]) -> Bool {
        let texts = nodes.compactMap(\.text)
        guard texts.count <= 16 else { return Set(texts).count < texts.count }
        return texts.indices.contains { index in texts[..<index].contains(texts[index]) }
    }

    /// The node of an event, stored under its anchor if it has one.
    private func keep(_ content: YAMLNode.Content, of event: yaml_event_t) -> YAMLNode {
        let node = YAMLNode(content, line: event.start_mark.line + 1, column: event.start_mark.column + 1)
        let anchor =
            switch event.type {
            case YAML_SCALAR_EVENT: event.data.scalar.anchor
            case YAML_SEQUENCE_START_EVENT: event.data.sequence_start.anchor
            default: event.data.mapping_start.anchor
            }
        if let anchor { anchors[String(cString: anchor)] = node }
        return node
    }

    // MARK: Problems

    private func problem(_ message: String, at mark: yaml_mark_t) -> FixtureProblem {
        FixtureProblem(file: file, line: mark.line + 1, column: mark.column + 1, message: message)
    }

    private var brokenSyntax: FixtureProblem {
        let message = "not YAML: \(parser.pointee.problem.map { String(cString: $0) } ?? "out of memory")"
        if parser.pointee.error == YAML_READER_ERROR { return signProblem(message) }
        let mark = parser.pointee.problem_mark
        return problem(indentationProblem(at: mark) ?? message, at: mark)
    }

    /// The message for a line indented with a tab, which the library calls a character that cannot start a token.
    private func indentationProblem(at mark: yaml_mark_t) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard mark.line < lines.count else { return nil }
        let blanks = lines[mark.line].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard blanks.contains(UInt8(ascii: "\t")) else { return nil }
        return "a tab indents this line; YAML requires spaces"
    }

    /// A problem with a character that YAML forbids: it is refused before anything counts lines.
    private func signProblem(_ message: String) -> FixtureProblem {
        let before = bytes.prefix(parser.pointee.problem_offset)
        let line = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last ?? before[...]
        return FixtureProblem(
            file: file, line: before.count { $0 == UInt8(ascii: "\n") } + 1,
            column: String(decoding: line, as: UTF8.self).unicodeScalars.count + 1, message: message)
    }
}

/// A value in a YAML document, and where it begins in the file.
///
/// A class, so that passing it costs only a reference count.
final class YAMLNode: Sendable {
    enum Content: Sendable {
        /// A text; a plain one, without quotes, may be something other than a string.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Member])
    }

    struct Member: Sendable {
        let name: YAMLNode
        let value: YAMLNode
    }

    let content: Content
    /// Counted from 1.
    let line: Int
    /// Counted from 1, in Unicode scalars.
    let column: Int

    init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
    }

    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// A scalar's value by the core schema of YAML 1.2; one that is not plain is a string.
    static func value(_ text: String, isPlain: Bool) -> JSON {
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null": return .null
        case "true": return true
        case "false": return false
        default:
            // A plain scalar that parses as a JSON number is a number; everything else is a string.
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
                case .number(let number)? = try? JSON.parse(text.utf8)
            else { return .string(text) }
            return .number(number)
        }
    }
}

/// The required encoding of a fixture file, and the complaint about any other.
enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let bigEndianMark: [UInt8] = [0xFE, 0xFF]
    private static let littleEndianMark: [UInt8] = [0xFF, 0xFE]

    /// - Throws: a problem that names the position of the first byte that is not UTF-8, or the file's actual encoding.
    static func check(_ file: FixtureStore.File) throws(FixtureProblem) {
        if looksLikeUTF16(file.bytes) {
            throw FixtureProblem(file: file.path, message: "the file is UTF-16; save it as UTF-8")
        }
        guard String(validating: file.bytes, as: UTF8.self) != nil else {
            let count = wholeCharacters(file.bytes)
            throw problem(
                in: file, behind: count,
                "the file is not UTF-8: a byte \(hexadecimal(file.bytes[count])) stands here; save it as UTF-8")
        }
        // A mark at the very beginning is harmless.
        if let place = file.bytes.dropFirst(mark.count).place(of: mark) {
            throw problem(in: file, behind: place, "there is an invisible byte order mark here; remove it")
        }
    }

    private static func problem(
        in file: FixtureStore.File, behind count: Int, _ message: String
    ) -> FixtureProblem {
        let text = file.bytes.prefix(count)
        let line = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last ?? []
        return FixtureProblem(
            file: file.path, line: text.count { $0 == UInt8(ascii: "\n") } + 1,
            column: String(decoding: line, as: UTF8.self).unicodeScalars.count + 1, message: message)
    }

    /// Looks for a UTF-16 mark, or for zeros beside the first characters, which are ASCII in every fixture.
    private static func looksLikeUTF16(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: bigEndianMark) || bytes.starts(with: littleEndianMark) { return true }
        return bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0)
    }

    /// How many leading bytes are valid UTF-8.
    private static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
