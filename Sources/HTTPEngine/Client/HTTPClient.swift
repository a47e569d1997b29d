package import HTTPTypes

/// A small client for single requests over HTTP and HTTPS: key URLs, health probes and contract runs.
///
/// It follows no redirect, keeps no connection, and limits time and size of the answer. All its exchanges share one
/// thread, which blocks on none of them and is no loop of a server. Only names that are neither addresses nor
/// `localhost` are looked up on separate threads, since the system's look-up blocks: a few for all names, and a look-up
/// that outlives its request keeps its thread until the system gives up.
package enum HTTPClient {
    /// Sends a request and returns the complete answer, whatever its status.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: An absolute `http` or `https` URL; a fragment is not sent.
    ///   - fields: Further fields; `Host`, `Content-Length` and `Connection` are the client's own.
    ///   - body: The content.
    ///   - trust: Whose certificates are trusted over `https`.
    ///   - limit: The time for everything, from this call to the last byte.
    ///   - maximumBody: The largest content of an answer in bytes.
    /// - Throws: ``ClientError/tooMany`` at once when a thousand requests are in progress.
    package static func send(
        method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8] = [],
        trust: TLSTrust = .system, within limit: Duration, maximumBody: Int = 1024 * 1024
    ) async throws(ClientError) -> ClientResponse {
        let exchange = try exchange(method, url, fields, body, trust, limit, maximumBody)
        return try await ClientExchanges.shared.outcome(of: exchange).get()
    }

    /// Whether a request for that URL reaches only this machine, judged by the URL itself.
    package static func staysOnThisMachine(_ url: String) -> Bool {
        // An invalid URL reaches no machine, not even this one.
        guard let addresses = try? ClientTarget(url).knownAddresses else { return false }
        return !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
    }

    /// The path and query of a URL.
    ///
    /// - Throws: ``ClientError/invalidURL(_:)``
    package static func pathAndQuery(of url: String) throws(ClientError) -> String {
        try ClientTarget(url).pathAndQuery
    }

    static func exchange(
        _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields, _ body: [UInt8], _ trust: TLSTrust,
        _ limit: Duration, _ maximumBody: Int
    ) throws(ClientError) -> ClientExchange {
        let target = try ClientTarget(url)
        return ClientExchange(
            target, bytes: request(method, target, fields, body), isHead: method == .head, trust: trust, within: limit,
            maximumBody: maximumBody)
    }

    private static func request(
        _ method: HTTPRequest.Method, _ target: ClientTarget, _ fields: HTTPFields, _ body: [UInt8]
    ) -> [UInt8] {
        var head = "\(method.rawValue) \(target.pathAndQuery) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        head += "Connection: close\r\n"
        let takesContent = method == .post || method == .put || method == .patch
        if !body.isEmpty || takesContent { head += "Content-Length: \(body.count)\r\n" }
        var bytes = Array(head.utf8)
        for field in fields where !ownNames.contains(field.name.canonicalName) {
            bytes.append(contentsOf: "\(field.name.rawName): ".utf8)
            field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: "\r\n".utf8)
        }
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes + body
    }

    private static let ownNames = ["host", "content-length", "transfer-encoding", "connection"]
}
