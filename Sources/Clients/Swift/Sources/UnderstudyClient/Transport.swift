import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Access to the control API of one server.
struct Transport: Sendable {
    /// The server, without a final slash.
    let base: String
    let token: String?
    let session: URLSession

    /// Makes a call and returns what its answer says: JSON, a text, or `null` when it has no content.
    ///
    /// - Parameter sandbox: `nil` for the one that requests without a name share.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ content: JSONValue? = nil, to sandbox: String? = nil
    ) async throws -> JSONValue {
        guard let url = URL(string: "\(base)/_understudy/\(path)") else {
            throw InvalidArgument(message: "\(base)/_understudy/\(path) is not a URL")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        // The server itself waits for 60 s at most.
        request.timeoutInterval = 75
        if let sandbox { request.setValue(sandbox, forHTTPHeaderField: Sandbox.field) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let content {
            request.httpBody = try JSONEncoder().encode(content)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, answer) = try await answer(to: request)
        let call = "\(method) \(path)"
        let isJSON = answer.mimeType == "application/json"
        let text = String(decoding: data, as: UTF8.self)
        // Content that is labelled as JSON and is none does not come from Understudy.
        let said = isJSON ? try? JSONDecoder().decode(JSONValue.self, from: data) : .string(text)
        if let said, Self.isAccepted(answer.statusCode, path) { return data.isEmpty ? .null : said }
        if let code = said?["error"]?["code"]?.string, let message = said?["error"]?["message"]?.string {
            throw Refusal(call: call, status: answer.statusCode, code: code, message: message)
        }
        throw strange(call, answer, text)
    }

    /// A part of a path or query.
    static func part(_ value: any LosslessStringConvertible) -> String {
        let text = String(describing: value)
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    /// The characters that need no encoding anywhere in a URL (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

    private func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        do {
            #if canImport(FoundationNetworking)
                let (content, response) = try await NoRedirects.shared.data(for: request, in: session)
            #else
                let (content, response) = try await session.data(for: request, delegate: NoRedirects.shared)
            #endif
            guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return (content, answer)
        } catch {
            // A test that runs out of time is cancelled, which is not the server's fault.
            try Task.checkCancellation()
            throw Unreachable(
                message: "no answer from Understudy at \(base): \(error.localizedDescription)\(Self.proxyHint)")
        }
    }

    #if canImport(FoundationNetworking)
        /// `URLSession` asks the proxy of the environment there, whatever its configuration says.
        private static let proxyHint =
            variable("http_proxy") == nil
            ? "" : "; http_proxy is set, and used for every host that no_proxy does not name"
    #else
        private static let proxyHint = ""
    #endif

    /// Whether a status is not a refusal: two calls answer with what they found, whether good or bad.
    private static func isAccepted(_ status: Int, _ path: String) -> Bool {
        let others = ["journal/verify": 409, "health/ready": 503]
        return (200..<300).contains(status) || others[String(path.prefix { $0 != "?" })] == status
    }

    /// Servers other than Understudy answer in their own words, which are shown as they are.
    private func strange(_ call: String, _ answer: HTTPURLResponse, _ text: String) -> Unreachable {
        let isRedirect = (300..<400).contains(answer.statusCode)
        let target = isRedirect ? answer.value(forHTTPHeaderField: "Location") : nil
        let what = target.map { "a redirect to \($0), which is not followed" } ?? String(text.prefix(200))
        return Unreachable(
            message: "\(call) at \(base) answered \(answer.statusCode), and not as Understudy does: \(what)")
    }
}

extension Transport {
    /// The session to make calls with: that one, or one that stores nothing.
    static func session(_ given: URLSession?, for url: URL) -> URLSession {
        guard let given else { return isLocal(url) ? direct : usual }
        #if canImport(FoundationNetworking)
            // Its delegate misses nothing: it never heard of these calls.
            return session(given.configuration)
        #else
            return given
        #endif
    }

    // Each made once: on Linux a session is never released.
    private static let usual = session(storingNothing)
    private static let direct = {
        let configuration = storingNothing
        // A proxy of the system does not lead back to this machine.
        configuration.connectionProxyDictionary = [:]
        return session(configuration)
    }()

    private static var storingNothing: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        return configuration
    }

    private static func session(_ configuration: URLSessionConfiguration) -> URLSession {
        URLSession(configuration: configuration, delegate: NoRedirects.shared, delegateQueue: nil)
    }

    /// Whether the host's name itself means this machine.
    private static func isLocal(_ url: URL) -> Bool {
        let host = url.host ?? ""
        return host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host.contains("::1")
    }
}

/// Leaves a redirect as the answer: its target would get the token.
///
/// On Linux only a session's delegate is asked, and only for tasks without a completion handler.
final class NoRedirects: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    static let shared = NoRedirects()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        typealias Call = CheckedContinuation<(Data, URLResponse), any Error>

        private let lock = NSLock()
        /// Read and changed under the lock only.
        private var calls: [URLSessionTask: (content: Data, call: Call)] = [:]

        func data(for request: URLRequest, in session: URLSession) async throws -> (Data, URLResponse) {
            let task = session.dataTask(with: request)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { call in
                    lock.withLock { calls[task] = (Data(), call) }
                    if Task.isCancelled { finish(task, CancellationError()) } else { task.resume() }
                }
            } onCancel: {
                task.cancel()
                finish(task, CancellationError())
            }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            lock.withLock { calls[dataTask]?.content += data }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            finish(task, error)
        }

        private func finish(_ task: URLSessionTask, _ error: (any Error)?) {
            let waiting = lock.withLock { calls.removeValue(forKey: task) }
            guard let (content, call) = waiting else { return }
            if error == nil, let response = task.response {
                call.resume(returning: (content, response))
            } else {
                call.resume(throwing: error ?? URLError(.badServerResponse))
            }
        }
    #endif
}
