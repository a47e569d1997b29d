internal import HTTPTypes

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
        while let section = try sectionName() {
            guard seen.insert(section.name).inserted else {
                throw problem("a second [\(section.name)]; a section may occur once in a request", at: section.position)
            }
            try readRequestSection(section, into: &request)
        }
        request.body = try body()
        return request
    }

    private mutating func method() throws(HurlProblem) -> HTTPRequest.Method {
        let start = position
        let name = take(while: { "A"..."Z" ~= $0 })
        guard !name.isEmpty, peek == " " || peek == "\t", let method = HTTPRequest.Method(name) else {
            position = start
            throw unexpected("expected a request, such as GET {{base}}/path")
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
        while let section = try sectionName() {
            guard seen.insert(section.name).inserted else {
                throw problem(
                    "a second [\(section.name)]; a section may occur once in a response", at: section.position)
            }
            try readResponseSection(section, into: &response)
        }
        response.body = try body()
        return response
    }

    private mutating func version() throws(HurlProblem) {
        let start = position
        let version = take(while: { $0.value > 0x20 && $0 != "#" })
        // The runner speaks HTTP/1.1 only, so there is nothing to compare.
        guard version == "HTTP" || version == "HTTP/1.1" else {
            position = start
            throw unexpected("expected HTTP or HTTP/1.1; other versions are not supported")
        }
    }

    /// A status, or `nil` for `*`.
    private mutating func status() throws(HurlProblem) -> Int? {
        let start = position
        if take("*") { return nil }
        guard let status = Int(take(while: { "0"..."9" ~= $0 })), (100...999).contains(status) else {
            position = start
            throw unexpected("expected a status of three digits, or *")
        }
        return status
    }
}
