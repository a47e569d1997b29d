/// Reads a Hurl file from its beginning to its end; this is the cursor, what it reads stands in the extensions.
///
/// The grammar is that of hurl.dev (`docs/grammar.html` there).
struct HurlReader {
    let file: String
    let scalars: [Unicode.Scalar]
    var position = 0
    /// The places at which lines begin.
    private let lineStarts: [Int]

    init(file: String, bytes: [UInt8]) throws(HurlProblem) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw HurlProblem(
                file: file, place: HurlPlace(line: 1, column: 1), message: "the file is not UTF-8; save it as such")
        }
        self.file = file
        let scalars = Array(text.unicodeScalars)
        self.scalars = scalars
        lineStarts = [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
    }

    /// The character that comes next, or `nil` at the end.
    var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    /// The place of the character that comes next.
    var place: HurlPlace { place(of: position) }

    func place(of position: Int) -> HurlPlace {
        // By halves, since every part of a file notes its place.
        var (line, end) = (0, lineStarts.count)
        while end - line > 1 {
            let middle = (line + end) / 2
            if lineStarts[middle] <= position { line = middle } else { end = middle }
        }
        return HurlPlace(line: line + 1, column: position - lineStarts[line] + 1)
    }

    /// Whether a word comes next.
    func begins(with word: String) -> Bool { scalars[position...].starts(with: word.unicodeScalars) }

    /// Consumes a word where it comes next.
    mutating func take(_ word: String) -> Bool {
        guard begins(with: word) else { return false }
        position += word.unicodeScalars.count
        return true
    }

    /// Consumes characters as long as a condition holds.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = peek, condition(scalar) { position += 1 }
        return text(from: start)
    }

    /// What was read since a place.
    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    mutating func skipBlanks() {
        while let scalar = peek, scalar == " " || scalar == "\t" { position += 1 }
    }

    /// Consumes one blank or more.
    mutating func expectBlank(before what: String) throws(HurlProblem) {
        guard peek == " " || peek == "\t" else { throw unexpected("expected a blank and \(what)") }
        skipBlanks()
    }

    /// Consumes blanks, a comment and the end of the line.
    mutating func endLine() throws(HurlProblem) {
        skipBlanks()
        if peek == "#" { skipComment() }
        guard takeNewline() || peek == nil else { throw unexpected("expected the end of the line") }
    }

    /// Consumes empty lines and comments.
    ///
    /// - Returns: The text of the comments that stand right above what comes next.
    mutating func skipLines() -> String {
        var remarks: [String] = []
        while true {
            skipBlanks()
            if peek == "#" {
                remarks.append(skipComment())
                _ = takeNewline()
            } else if takeNewline() {
                remarks = []
            } else {
                return remarks.joined(separator: " ")
            }
        }
    }

    private mutating func takeNewline() -> Bool { take("\n") || take("\r\n") }

    /// - Returns: The comment's text without its signs and the blanks around it.
    @discardableResult
    private mutating func skipComment() -> String {
        let line = take(while: { $0 != "\n" && $0 != "\r" })
        let words = line.drop { $0 == "#" }.split(separator: " ")
        return words.joined(separator: " ")
    }

    /// A problem with what comes next.
    func unexpected(_ expected: String) -> HurlProblem { problem("found \(found); \(expected)") }

    /// A problem at a place, or at the present one.
    func problem(_ message: String, at position: Int? = nil) -> HurlProblem {
        HurlProblem(file: file, place: place(of: position ?? self.position), message: message)
    }

    /// What comes next, for people: a word of a bearable length.
    private var found: String {
        guard let next = peek else { return "the end of the file" }
        if next == "\n" || next == "\r" { return "the end of the line" }
        if next == " " || next == "\t" { return "a blank" }
        let word = scalars[position...].prefix(while: { $0.value > 0x20 })
        let text = String(String.UnicodeScalarView(word.prefix(40)))
        return "“\(text)\(word.count > 40 ? "…" : "")”"
    }
}
