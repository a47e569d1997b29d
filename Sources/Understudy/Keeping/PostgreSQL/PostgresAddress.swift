/// The URL of a database as its user wrote it, and as anybody may see it.
struct PostgresAddress {
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
        guard !isUnclear else { throw StoreProblem("\(place): a URL has %2F for / and %40 for @ in a password") }
        var message: UnsafeMutablePointer<CChar>?
        let options = LibPQ.parse(url, &message)
        defer { LibPQ.freeOptions(options) }
        guard options == nil else { return }
        let text = message.map { String(cString: $0) } ?? "out of memory"
        LibPQ.freeMemory(message)
        // libpq quotes the URL or a part of it; only the name of an unknown parameter is no secret.
        let words = text.split(separator: "\n").first ?? ""
        let quote = words.firstRange(of: ": \"")?.lowerBound ?? words.endIndex
        throw StoreProblem("\(place): \(words.firstRange(of: "query parameter: ") != nil ? words : words[..<quote])")
    }

    /// The URL without passwords, and whether it is unclear where its user's password ends.
    static func masked(_ url: String) -> (place: String, isUnclear: Bool) {
        var isUnclear = false
        let place = url.replacing(/:\/\/([^:@\/?\[]*):(.*)@/) { match in
            // libpq would take a part of it for the host, and name it.
            isUnclear = match.2.contains { $0 == "/" || $0 == "@" }
            return "://\(match.1):***@"
        }
        // Also misspelled, and with letters that are escaped.
        return (place.replacing(/([?&][^=&]*(?:pas|%)[^=&]*=)[^&]*/) { "\($0.1)***" }, isUnclear)
    }
}
