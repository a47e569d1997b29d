internal import CYaml
internal import JSON
import Synchronization

/// Builds a YAML document from the events of libyaml, which Yams bundles.
///
/// Yams' own nodes carry tags, styles and anchors that are not needed here; building them took a third of startup time.
final class YAMLReader {
    private let file: String
    private let bytes: UnsafeBufferPointer<UInt8>
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let warnings: FixtureWarnings?
    private var anchors: [String: YAMLNode] = [:]
    /// The lists and mappings in brackets that are open, and the quoted text read last: what a broken file forgot to end.
    private var open: [(sign: String, mark: yaml_mark_t)] = []
    private var quoted: (start: yaml_mark_t, end: yaml_mark_t)?
    /// Where the last scalar ended.
    private var end = yaml_mark_t()
    private lazy var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)

    static func root(of file: FixtureStore.File) throws(FixtureProblem) -> YAMLNode {
        try TextEncoding.check(file)
        return try file.bytes.withUnsafeBufferPointer { (bytes) throws(FixtureProblem) in
            try YAMLReader(bytes, of: file).root()
        }
    }

    /// The bytes must outlive the reader.
    private init(_ bytes: UnsafeBufferPointer<UInt8>, of file: FixtureStore.File) {
        (self.file, warnings) = (file.path, file.warnings)
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
            end = event.end_mark
            let style = event.data.scalar.style
            if [YAML_DOUBLE_QUOTED_SCALAR_STYLE, YAML_SINGLE_QUOTED_SCALAR_STYLE].contains(style) {
                quoted = (event.start_mark, end)
            }
            let bytes = UnsafeBufferPointer(start: event.data.scalar.value, count: event.data.scalar.length)
            let text = String(decoding: bytes, as: UTF8.self)
            return keep(.scalar(text, isPlain: style == YAML_PLAIN_SCALAR_STYLE), of: event)
        case YAML_SEQUENCE_START_EVENT:
            if event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE { open.append(("]", event.start_mark)) }
            return keep(.sequence(try elements()), of: event)
        case YAML_MAPPING_START_EVENT:
            if event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE { open.append(("}", event.start_mark)) }
            return keep(.mapping(try members()), of: event)
        case YAML_ALIAS_EVENT:
            guard let node = anchors[String(cString: event.data.alias.anchor)] else {
                throw problem("not YAML: found undefined alias", at: event.start_mark)
            }
            return node
        default: return nil
        }
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
            if warnings != nil { warn(of: value, named: name.text ?? "") }
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
        throw first.problem("this mapping has the same member twice: \(list.joined(separator: ", "))", in: file)
    }

    /// Whether two nodes have the same text; for a few nodes, comparing pairs is faster than hashing.
    private static func repeatsText(_ nodes: [YAMLNode]) -> Bool {
        let texts = nodes.compactMap(\.text)
        guard texts.count <= 16 else { return Set(texts).count < texts.count }
        return texts.indices.contains { index in texts[..<index].contains(texts[index]) }
    }

    /// The node of an event, stored under its anchor if it has one.
    private func keep(_ content: YAMLNode.Content, of event: yaml_event_t) -> YAMLNode {
        let node = YAMLNode(content, line: event.start_mark.line + 1, column: event.start_mark.column + 1, warnings)
        // A list or mapping is kept once it has ended.
        if let last = open.last?.mark, last.index == event.start_mark.index { open.removeLast() }
        if warnings != nil { warn(of: node) }
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
        let words = parser.pointee.problem.map { String(cString: $0) } ?? "out of memory"
        // A character that YAML forbids is refused before anything counts lines.
        if parser.pointee.error == YAML_READER_ERROR {
            let text = bytes.prefix(parser.pointee.problem_offset)
            return TextEncoding.problem(in: file, behind: text, "not YAML: \(words)")
        }
        let mark = parser.pointee.problem_mark
        if let message = indentationProblem(at: mark) { return problem(message, at: mark) }
        let beginnings = [
            "found unexpected end of stream": "the quote that begins here is not closed",
            "could not find expected ':'": "a name without a colon begins here",
        ]
        if let message = beginnings[words] { return problem("not YAML: \(message)", at: parser.pointee.context_mark) }
        if let quoted, quoted.start.line < quoted.end.line, quoted.end.line == mark.line {
            let message = "not YAML: the quote that begins here is closed only in line \(mark.line + 1)"
            return problem(message, at: quoted.start)
        }
        if let open = open.last, open.mark.line < mark.line {
            return problem("not YAML: there is no \(open.sign) for the bracket that begins here", at: open.mark)
        }
        return problem("not YAML: \(Self.meanings[words] ?? words)", at: mark)
    }

    /// What the library's words mean in a fixture.
    private static let meanings = [
        "mapping values are not allowed in this context":
            "a second colon on this line, or a deeper indentation than before; write a text with a colon in quotes",
        "found character that cannot start any token": "no text may begin with this character; write it in quotes",
        "found unknown escape character":
            "a backslash in double quotes stands before this; write two, or single quotes",
        "did not find expected key":
            "expected a member's name; the indentation differs from the lines before, or a quote stands inside a text",
        "did not find expected '-' indicator": "expected another element with -; the indentation differs",
        "did not find expected <document start>": "the document ended before this; the indentation differs",
    ]

    /// The message for a line indented with a tab, which the library calls a character that cannot start a token.
    private func indentationProblem(at mark: yaml_mark_t) -> String? {
        guard mark.line < lines.count else { return nil }
        let blanks = lines[mark.line].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard blanks.contains(UInt8(ascii: "\t")) else { return nil }
        return "a tab indents this line; YAML requires spaces"
    }
}

// MARK: - What reads otherwise than meant

extension YAMLReader {
    private static let foreignQuotes: Set<Character> = ["“", "”", "„", "‘", "’", "«", "»"]
    /// The ends of names whose values are secrets.
    private static let secretNames = ["secret", "password", "key", "token"]

    private func warn(of node: YAMLNode) {
        guard case .scalar(let text, let isPlain) = node.content else { return }
        let (bytes, blank, dollar) = (text.utf8, UInt8(ascii: " "), UInt8(ascii: "$"))
        // Nearly all texts are visible ASCII; characters cost a hundred times as much.
        let isPlainASCII = bytes.allSatisfy { blank...0x7E ~= $0 && $0 != dollar }
        if isPlainASCII, bytes.first != blank, bytes.last != blank { return }
        guard let first = text.first, let last = text.last else { return }
        func warn(_ message: String) { warnings?.add(node.problem(message, in: file)) }
        if isPlain, Self.foreignQuotes.contains(first) || Self.foreignQuotes.contains(last) {
            warn("the quotes of \(text.shown) belong to the text; only \" and ' quote")
        }
        // Blocks end with a line break.
        if !last.isNewline, [first, last].contains(where: Self.isInvisible) {
            warn("the text begins or ends with a blank or with what nobody sees")
        }
        if bytes.contains(dollar), let variable = text.firstMatch(of: /\$\{[A-Z_][A-Z0-9_]*\}/)?.output {
            warn("\(variable) stands here as it is; no variable is replaced in fixtures")
        }
    }

    private static func isInvisible(_ character: Character) -> Bool {
        character.isWhitespace || character.unicodeScalars.contains { $0.properties.generalCategory == .format }
    }

    /// Warns of a comment that cuts a secret short.
    private func warn(of value: YAMLNode, named name: String) {
        guard case .scalar(let text, isPlain: true) = value.content, !text.isEmpty, end.line < lines.count,
            Self.secretNames.contains(where: name.lowercased().hasSuffix)
        else { return }
        let rest = String(decoding: lines[end.line], as: UTF8.self).unicodeScalars.dropFirst(end.column)
        guard rest.first(where: { $0 != " " && $0 != "\t" }) == "#" else { return }
        let message = "a comment follows this \(name); write the value in quotes if the # belongs to it"
        warnings?.add(value.problem(message, in: file))
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
    /// Where remarks go; `nil` for a file that needs none.
    let warnings: FixtureWarnings?

    init(_ content: Content, line: Int, column: Int, _ warnings: FixtureWarnings?) {
        (self.content, self.line, self.column, self.warnings) = (content, line, column, warnings)
    }

    func problem(_ message: String, in file: String) -> FixtureProblem {
        FixtureProblem(file: file, line: line, column: column, message: message)
    }

    var text: String? { if case .scalar(let text, _) = content { text } else { nil } }

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
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Throws: a problem that names the position of the first byte that is not UTF-8, or the file's actual encoding.
    static func check(_ file: FixtureStore.File) throws(FixtureProblem) {
        if looksLikeUTF16(file.bytes) {
            throw FixtureProblem(file: file.path, message: "the file is UTF-16; save it as UTF-8")
        }
        guard String(validating: file.bytes, as: UTF8.self) != nil else {
            let count = wholeCharacters(file.bytes)
            throw problem(
                in: file.path, behind: file.bytes.prefix(count),
                "the file is not UTF-8: a byte \(hexadecimal(file.bytes[count])) stands here; save it as UTF-8")
        }
        // A mark at the very beginning is harmless.
        if let place = file.bytes.dropFirst(mark.count).place(of: mark) {
            throw problem(
                in: file.path, behind: file.bytes.prefix(place),
                "there is an invisible byte order mark here; remove it")
        }
    }

    static func problem(in file: String, behind text: some Collection<UInt8>, _ message: String) -> FixtureProblem {
        let line = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last
        let column = line.map { String(decoding: $0, as: UTF8.self).unicodeScalars.count } ?? 0
        return FixtureProblem(
            file: file, line: text.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1, message: message)
    }

    /// Looks for a UTF-16 mark, or for zeros beside the first characters, which are ASCII in every fixture.
    static func looksLikeUTF16(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return true }
        return bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0)
    }

    /// How many leading bytes are valid UTF-8.
    static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
