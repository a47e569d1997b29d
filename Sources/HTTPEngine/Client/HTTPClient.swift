public import HTTPTypes

/// The one small client: single requests over HTTP and HTTPS, for key URLs, health probes and contract runs.
///
/// It follows no redirect, keeps no connection, and bounds time and size of the answer. Its exchanges run on few
/// threads of its own, never on a loop of a server.
public enum HTTPClient {
    /// Sends a request and returns the complete answer, whatever its status.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: An absolute `http` or `https` URL; a fragment is not sent.
    ///   - fields: Further fields; `Host`, `Content-Length` and `Connection` are the client's own.
    ///   - body: The content.
    ///   - trust: Whose certificates are believed over `https`.
    ///   - limit: The time for everything, from looking up the name to the last byte.
    ///   - maximumBody: The largest content of an answer in bytes.
    public static func send(
        method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8] = [],
        trust: TLSTrust = .system, within limit: Duration, maximumBody: Int = 1024 * 1024
    ) async throws(ClientError) -> ClientResponse {
        let target = try ClientTarget(url)
        let exchange = ClientExchange(
            target, bytes: request(method, target, fields, body), isHead: method == .head,
            trust: trust, within: limit, maximumBody: maximumBody)
        let outcome = await withTaskCancellationHandler {
            await exchange.outcome()
        } onCancel: {
            exchange.end(.failure(.cancelled))
        }
        return try outcome.get()
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
