/// The URL of a database as its user wrote it, and as anybody may see it.
struct PostgresAddress: Sendable {
    /// The URL, which libpq reads, with all that it can say.
    let url: String
    /// The URL without passwords.
    let place: String

    /// Reads a URL.
    ///
    /// - Throws: what is wrong with it, without quoting what may be a part of a password.
    init(_ url: String) throws(StoreProblem) {
        let (place, isUnclear) = Self.masked(url)
        (self.url, self.place) = (url, place)
        guard !isUnclear else {
            throw StoreProblem("\(place): in a URL's password, / is written as %2F, @ as %40, : as %3A and % as %25")
        }
        var message: UnsafeMutablePointer<CChar>?
        let options = LibPQ.parse(url, &message)
        defer { LibPQ.freeOptions(options) }
        guard options == nil else { return }
        let text = message.map { String(cString: $0) } ?? "out of memory"
        LibPQ.freeMemory(message)
        // libpq quotes the URL or a part of it; only the name of an unknown parameter is no secret.
        let words = text.split(separator: "\n").first ?? ""
        let quote = words.firstRange(of: ": \"")?.lowerBound ?? words.endIndex
        throw StoreProblem("\(place): \(words.contains("query parameter: ") ? words : words[..<quote])")
    }

    /// The URL without passwords, and whether it is unclear where the password ends.
    ///
    /// libpq takes for a password what stands between the first colon and the first `@`, if no slash comes before.
    static func masked(_ url: String) -> (place: String, isUnclear: Bool) {
        guard let scheme = url.firstRange(of: "://") else { return (url, false) }
        let (head, rest) = (url[..<scheme.upperBound], url[scheme.upperBound...])
        let authority = rest.prefix { $0 != "/" }
        let at = authority.firstIndex(of: "@")
        let tail = at.map { rest[rest.index(after: $0)...] } ?? rest
        let path = tail.prefix { $0 != "?" }
        let user = rest.prefix { $0 != ":" }
        let hosts = path.prefix { $0 != "/" }.split(separator: ",")
        guard !path.contains("@"), at != nil || hosts.allSatisfy(hasPort) else {
            let last = rest.lastIndex(of: "@").map { rest[$0...] } ?? ""
            return ("\(head)\(user):***\(maskedQuery(last))", true)
        }
        guard let at, user.endIndex < at else { return (head + maskedQuery(rest), false) }
        return ("\(head)\(user):***@\(maskedQuery(tail))", false)
    }

    /// Whether what follows the host is the number of a port, or nothing.
    private static func hasPort(_ host: Substring) -> Bool {
        let name = host.hasPrefix("[") ? host.drop { $0 != "]" } : host
        return name.drop { $0 != ":" }.dropFirst().allSatisfy(\.isNumber)
    }

    /// The text with the values of `password`, `sslpassword` and whatever is called like them masked in its query.
    private static func maskedQuery(_ text: Substring) -> String {
        guard let begin = text.firstIndex(of: "?") else { return String(text) }
        let parameters = text[text.index(after: begin)...].split(separator: "&", omittingEmptySubsequences: false)
        return text[...begin]
            + parameters.map { parameter in
                // Names may have escapes too.
                let name = parameter.prefix { $0 != "=" }
                return name.contains("pass") || name.contains("%") ? "\(name)=***" : String(parameter)
            }.joined(separator: "&")
    }
}
