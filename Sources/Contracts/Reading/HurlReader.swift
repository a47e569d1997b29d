import HTTPTypes

/// Reads a Hurl file; this is the cursor, the extensions read the parts.
///
/// The grammar is at hurl.dev (`docs/grammar.html`).
struct HurlReader {
    let file: String
    let scalars: [Unicode.Scalar]
    var position = 0
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

    var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    var place: HurlPlace { place(of: position) }

    func place(of position: Int) -> HurlPlace {
        // Binary search: every part of a file records its place.
        var (line, end) = (0, lineStarts.count)
        while end - line > 1 {
            let middle = (line + end) / 2
            if lineStarts[middle] <= position { line = middle } else { end = middle }
        }
        return HurlPlace(line: line + 1, column: position - lineStarts[line] + 1)
    }

    func begins(with word: String) -> Bool { scalars[position...].starts(with: word.unicodeScalars) }

    /// Consumes a word if it comes next.
    mutating func take(_ word: String) -> Bool {
        guard begins(with: word) else { return false }
        position += word.unicodeScalars.count
        return true
    }

    /// Consumes characters while a condition holds.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = peek, condition(scalar) { position += 1 }
        return text(from: start)
    }

    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    mutating func skipBlanks() {
        while let scalar = peek, scalar == " " || scalar == "\t" { position += 1 }
    }

    /// Consumes at least one blank.
    mutating func expectBlank(before what: String) throws(HurlProblem) {
        guard peek == " " || peek == "\t" else { throw unexpected("expected a space and \(what)") }
        skipBlanks()
    }

    mutating func endLine() throws(HurlProblem) {
        skipBlanks()
        if peek == "#" { skipComment() }
        guard takeNewline() || peek == nil else { throw unexpected("expected the end of the line") }
    }

    /// Consumes empty lines and comments.
    ///
    /// - Returns: The text of the comments directly above what follows.
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

    /// - Returns: The comment's text without its `#` and surrounding blanks.
    @discardableResult
    private mutating func skipComment() -> String {
        let line = take(while: { $0 != "\n" && $0 != "\r" })
        let words = line.drop { $0 == "#" }.split(separator: " ")
        return words.joined(separator: " ")
    }

    /// A problem with what stands at a position, by default the current one.
    func unexpected(_ expected: String, at position: Int? = nil) -> HurlProblem {
        let position = position ?? self.position
        return problem("found \(found(at: position)); \(expected)", at: position)
    }

    /// A problem at a position, by default the current one.
    func problem(_ message: String, at position: Int? = nil) -> HurlProblem {
        HurlProblem(file: file, place: place(of: position ?? self.position), message: message)
    }

    /// What stands there, for messages; long words are cut.
    private func found(at position: Int) -> String {
        guard position < scalars.count else { return "the end of the file" }
        let next = scalars[position]
        if next == "\n" || next == "\r" { return "the end of the line" }
        if next == " " || next == "\t" { return "a blank" }
        let word = scalars[position...].prefix(while: { $0.value > 0x20 })
        let text = String(String.UnicodeScalarView(word.prefix(40)))
        return "“\(text)\(word.count > 40 ? "…" : "")”"
    }
}

extension HurlReader {
    mutating func document() throws(HurlProblem) -> [HurlEntry] {
        var entries: [HurlEntry] = []
        var remark = skipLines()
        while peek != nil {
            entries.append(try entry(remark))
            remark = skipLines()
        }
        return entries
    }

    private mutating func entry(_ remark: String) throws(HurlProblem) -> HurlEntry {
        let request = try request()
        let start = position
        _ = skipLines()
        guard begins(with: "HTTP") else {
            // Leave the comment to the next entry.
            position = start
            return HurlEntry(remark: remark, request: request, response: nil)
        }
        return HurlEntry(remark: remark, request: request, response: try response())
    }

    private mutating func request() throws(HurlProblem) -> HurlRequest {
        let place = place
        var request = HurlRequest(place: place, method: try method(), url: try url())
        try endLine()
        request.fields = try pairs()
        for field in request.fields { try checkName(field) }
        var seen: Set<String> = []
        while let section = try sectionName(of: "request", &seen) { try readRequestSection(section, into: &request) }
        request.body = try body()
        return request
    }

    private mutating func method() throws(HurlProblem) -> HTTPRequest.Method {
        let start = position
        let name = take(while: { "A"..."Z" ~= $0 })
        guard !name.isEmpty, peek == " " || peek == "\t", let method = HTTPRequest.Method(name) else {
            throw unexpected("expected a request, such as GET {{base}}/path", at: start)
        }
        return method
    }

    private mutating func url() throws(HurlProblem) -> HurlTemplate {
        skipBlanks()
        guard let first = peek, first.value > 0x20, first != "#" else {
            throw unexpected("expected a URL, such as {{base}}/path")
        }
        guard ["http://", "https://", "{{"].contains(where: begins) else {
            throw unexpected("a URL begins with http://, https:// or a variable, such as {{base}}")
        }
        let url = try template(escapes: nil) { !Self.isInURL($0) }
        if let next = peek, next.value > 0x20, next != "#" {
            throw unexpected("a URL contains letters, digits and \(Self.signsOfURLs); percent-encode everything else")
        }
        return url
    }

    private static let signsOfURLs = ":/.-?=&_%*,@~+!$'();[]"

    private static func isInURL(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || signsOfURLs.unicodeScalars.contains(scalar)
    }

    /// The client derives the framing fields itself.
    private func checkName(_ field: HurlPair) throws(HurlProblem) {
        let name = field.name.source.lowercased()
        guard ["host", "connection", "content-length", "transfer-encoding"].contains(name) else { return }
        throw HurlProblem(
            file: file, place: field.name.place,
            message: "found the field \(field.name.source); it follows from URL and content, leave it out")
    }

    private mutating func response() throws(HurlProblem) -> HurlResponse {
        let place = place
        try version()
        try expectBlank(before: "a status, or *")
        var response = HurlResponse(place: place, status: try status())
        try endLine()
        response.fields = try pairs()
        var seen: Set<String> = []
        while let section = try sectionName(of: "response", &seen) { try readResponseSection(section, into: &response) }
        response.body = try body()
        return response
    }

    private mutating func version() throws(HurlProblem) {
        let start = position
        let version = take(while: { $0.value > 0x20 && $0 != "#" })
        // The runner speaks HTTP/1.1 only, so there is nothing to compare.
        guard version == "HTTP" || version == "HTTP/1.1" else {
            throw unexpected("expected HTTP or HTTP/1.1; other versions are not supported", at: start)
        }
    }

    private mutating func status() throws(HurlProblem) -> Int? {
        let start = position
        if take("*") { return nil }
        guard let status = Int(take(while: { "0"..."9" ~= $0 })), (100...999).contains(status) else {
            throw unexpected("expected a status of three digits, or *", at: start)
        }
        return status
    }
}
