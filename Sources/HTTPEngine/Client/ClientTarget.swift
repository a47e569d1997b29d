/// Where a request of the client goes.
struct ClientTarget: Sendable {
    /// Host with port as the URL has it, for `Host`.
    let authority: String
    /// The host without brackets.
    let host: String
    let port: Int
    /// The path, at least `/`, and the query.
    let pathAndQuery: String

    /// Reads an absolute URL with the scheme `http`.
    init(_ url: String) throws(ClientError) {
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let targets = ByteSet.target
        guard bytes.count > 7, bytes[..<7].equals(ignoringCase: "http://"), bytes.allSatisfy(targets.contains) else {
            throw .invalidURL(url)
        }
        let rest = bytes[7...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        guard Authority.isValid(authority) else { throw .invalidURL(url) }
        let path = String(decoding: rest[end...], as: UTF8.self)
        self.authority = String(decoding: authority, as: UTF8.self)
        pathAndQuery = path.hasPrefix("/") ? path : "/" + path
        (host, port) = Self.split(authority)
    }

    /// Host and port of a valid authority.
    private static func split(_ authority: ArraySlice<UInt8>) -> (String, Int) {
        let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
        let colon = authority.lastIndex(of: UInt8(ascii: ":")).flatMap { $0 > (bracket ?? -1) ? $0 : nil }
        let host = authority[..<(colon ?? authority.endIndex)].filter { $0 != 0x5B && $0 != 0x5D }
        let port = colon.flatMap { authority[($0 + 1)...].decimalNumber } ?? 80
        return (String(decoding: host, as: UTF8.self), port)
    }
}
