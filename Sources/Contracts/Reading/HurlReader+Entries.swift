import HTTPTypes
import JSON

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

    /// A section's name and the position of its bracket.
    typealias Section = (name: String, position: Int)

    /// Consumes the line `[Name]`, if it follows.
    ///
    /// A JSON array starts with the same bracket, but a single bare word in brackets is not JSON.
    ///
    /// - Parameter seen: the names so far, none of which may occur again.
    mutating func sectionName(of message: String, _ seen: inout Set<String>) throws(HurlProblem) -> Section? {
        let start = position
        _ = skipLines()
        let bracket = position
        if take("[") {
            let name = take(while: { $0.properties.isAlphabetic })
            if !name.isEmpty, !["true", "false", "null"].contains(name), take("]") {
                try endLine()
                guard seen.insert(name).inserted else {
                    throw problem("a second [\(name)]; a section may occur once in a \(message)", at: bracket)
                }
                return (name, bracket)
            }
        }
        position = start
        return nil
    }

    mutating func readRequestSection(_ section: Section, into request: inout HurlRequest) throws(HurlProblem) {
        switch section.name {
        case "Query", "QueryStringParams": request.query = try pairs()
        case "Form", "FormParams": request.form = try pairs()
        case "Cookies": request.cookies = try pairs()
        case "BasicAuth":
            let credentials = try pairs()
            guard credentials.count == 1 else {
                throw problem(
                    "found \(credentials.count) lines in [BasicAuth]; expected one, user: password",
                    at: section.position)
            }
            request.credentials = credentials[0]
        case "Options": request.options = try options()
        default:
            throw problem(
                "found [\(section.name)]; a request may have [Query], [Form], [Cookies], [BasicAuth] and [Options]",
                at: section.position)
        }
    }

    mutating func readResponseSection(_ section: Section, into response: inout HurlResponse) throws(HurlProblem) {
        switch section.name {
        case "Captures":
            while let name = try key() {
                response.captures.append(HurlCapture(name: name, query: try query()))
                try endLine()
            }
        case "Asserts":
            while let assert = try assert() { response.asserts.append(assert) }
        default:
            throw problem("found [\(section.name)]; a response may have [Captures] and [Asserts]", at: section.position)
        }
    }

    /// The lines `name: value` that follow.
    mutating func pairs() throws(HurlProblem) -> [HurlPair] {
        var pairs: [HurlPair] = []
        while let name = try key() {
            pairs.append(HurlPair(name: name, value: try lineValue()))
            try endLine()
        }
        return pairs
    }

    /// Consumes the name of a line `name: value`, the colon and the blanks after it; nothing if no such line follows.
    mutating func key() throws(HurlProblem) -> HurlTemplate? {
        let start = position
        _ = skipLines()
        guard peek != "[", peek != nil else {
            position = start
            return nil
        }
        let name = try template(escapes: "#:\\/bfnrt", isStop: { !Self.isKey($0) })
        skipBlanks()
        guard !name.isEmpty, take(":") else {
            position = start
            return nil
        }
        skipBlanks()
        return name
    }

    private static func isKey(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "_-.[]@$".unicodeScalars.contains(scalar)
    }

    private mutating func options() throws(HurlProblem) -> [HurlOption] {
        var options: [HurlOption] = []
        while true {
            let start = position
            guard let name = try key() else { return options }
            switch name.source {
            case "variable": options.append(try variableOption())
            case "skip": options.append(.skip(try boolean()))
            default:
                position = start
                _ = skipLines()
                throw unexpected("expected a supported option, “variable” or “skip”")
            }
            try endLine()
        }
    }

    private mutating func variableOption() throws(HurlProblem) -> HurlOption {
        let place = place
        let name = try variableName()
        skipBlanks()
        guard take("=") else { throw unexpected("expected “=”, as in variable: name=value") }
        skipBlanks()
        return .variable(name: name, value: try optionValue(), place)
    }

    private mutating func optionValue() throws(HurlProblem) -> HurlOptionValue {
        if peek == "\"" { return .text(try quoted()) }
        let start = position
        let value = try template(escapes: "#:\\/bfnrt", isStop: { !Self.isKey($0) })
        guard !value.isEmpty else { throw unexpected("expected a value; put a text with other characters in quotes") }
        guard case .text(let text)? = value.parts.first else { return .text(value) }
        if value.parts.count == 1, let constant = HurlConstant.of(text) { return .constant(constant) }
        guard !HurlConstant.begins(text) else {
            throw unexpected("put a text that begins with a number, true, false or null in quotes", at: start)
        }
        return .text(value)
    }

    private mutating func boolean() throws(HurlProblem) -> Bool {
        if take("true") { return true }
        if take("false") { return false }
        throw unexpected("expected true or false")
    }
}

/// Bare words that are constants: `null`, booleans and numbers.
enum HurlConstant {
    /// The value of a word; `nil` for text.
    static func of(_ word: String) -> JSON? {
        // For all practical words, JSON's constants are Hurl's.
        guard let value = try? JSON.parse(word.utf8), value.string == nil, value.array == nil, value.object == nil
        else { return nil }
        return value
    }

    /// Whether Hurl would read the start of a text as a constant and reject the rest.
    static func begins(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        return digits.first?.isDigit == true
            || ["true", "false", "null"].contains { text.utf8.starts(with: $0.utf8) }
    }
}
