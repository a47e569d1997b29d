import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The way to one server's control API.
struct Transport: Sendable {
    /// The server, without a final slash.
    let base: String
    let token: String?
    let session: URLSession
    #if canImport(FoundationNetworking)
        private let redirects: NoRedirects
    #endif

    init(base: String, token: String?, session: URLSession) {
        (self.base, self.token) = (base, token)
        #if canImport(FoundationNetworking)
            // No delegate is lost: of these calls it was told nothing.
            redirects = session.delegate as? NoRedirects ?? NoRedirects()
            let isOurs = session.delegate === redirects
            self.session = isOurs ? session : Self.session(session.configuration, redirects)
        #else
            self.session = session
        #endif
    }

    /// Status and content of an answer.
    struct Answer: Sendable {
        let status: Int
        let isJSON: Bool
        /// Where a redirect leads.
        let target: String?
        let content: Data
    }

    func send(_ method: String, _ target: String, sandbox: String?, body: (any Encodable)?) async throws -> Answer {
        guard let url = URL(string: "\(base)/_understudy/\(target)") else {
            throw InvalidArgument(message: "\(base)/_understudy/\(target) is not a URL")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        // The server itself waits for 60 s at most.
        request.timeoutInterval = 75
        if let sandbox { request.setValue(sandbox, forHTTPHeaderField: Sandbox.field) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let body {
            request.httpBody = try JSONEncoder().encode(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return try await answer(to: request)
    }

    private func answer(to request: URLRequest) async throws -> Answer {
        do {
            #if canImport(FoundationNetworking)
                let (content, response) = try await redirects.data(for: request, in: session)
            #else
                let (content, response) = try await session.data(for: request, delegate: NoRedirects())
            #endif
            let answer = response as? HTTPURLResponse
            let status = answer?.statusCode ?? 0
            let target = (300..<400).contains(status) ? answer?.value(forHTTPHeaderField: "Location") : nil
            return Answer(
                status: status, isJSON: response.mimeType == "application/json", target: target, content: content)
        } catch {
            // A test that runs out of time is cancelled, and the server has nothing to do with it.
            try Task.checkCancellation()
            throw Unreachable(
                message: "no answer from Understudy at \(base): \(error.localizedDescription)\(proxyHint)")
        }
    }

    /// On Linux `URLSession` asks the proxy of the environment, whatever its configuration says.
    private var proxyHint: String {
        #if canImport(FoundationNetworking)
            let proxy = ProcessInfo.processInfo.environment["http_proxy"] ?? ""
            return proxy.isEmpty ? "" : "; http_proxy is set, and asked for every host that no_proxy does not name"
        #else
            return ""
        #endif
    }

    /// What an answer that was expected says; one that is no JSON is a text.
    func content<Content: Decodable>(_ call: String, _ answer: Answer) throws -> Content {
        let text = String(decoding: answer.content, as: UTF8.self)
        if !answer.isJSON, let content = text as? Content ?? JSONValue.string(text) as? Content { return content }
        do {
            return try JSONDecoder().decode(Content.self, from: answer.content)
        } catch {
            // The server may be newer or older than this client.
            throw Unreachable(
                message: "\(call) at \(base) answered \(answer.status), and not as this client knows it: \(error)")
        }
    }

    /// Why an answer was not expected.
    func refusal(_ call: String, _ answer: Answer) -> any Error {
        if let target = answer.target {
            return Unreachable(
                message: "\(call) at \(base) answered \(answer.status), and not as Understudy does: a redirect to"
                    + " \(target), which is not followed")
        }
        // Anything but our servers answers in words of its own, and those are shown as they are.
        guard let problem = try? JSONDecoder().decode(Control.Problem.self, from: answer.content) else {
            let text = String(decoding: answer.content.prefix(200), as: UTF8.self)
            return Unreachable(
                message: "\(call) at \(base) answered \(answer.status), and not as Understudy does: \(text)")
        }
        return Refusal(call: call, status: answer.status, code: problem.error.code, message: problem.error.message)
    }
}

extension Transport {
    /// A session that keeps nothing, made once each: on Linux a session is never given back.
    static func session(for url: URL) -> URLSession { isLocal(url) ? direct : usual }

    private static let usual = session { _ in }
    /// A proxy of the system does not lead back to this machine.
    private static let direct = session { $0.connectionProxyDictionary = [:] }

    private static func session(_ change: (URLSessionConfiguration) -> Void) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        change(configuration)
        return session(configuration, NoRedirects())
    }

    private static func session(_ configuration: URLSessionConfiguration, _ redirects: NoRedirects) -> URLSession {
        URLSession(configuration: configuration, delegate: redirects, delegateQueue: nil)
    }

    /// Whether the host is this machine by its very name.
    private static func isLocal(_ url: URL) -> Bool {
        let host = url.host ?? ""
        return host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host.contains("::1")
    }
}

/// Leaves a redirect as the answer: its target would get the token.
///
/// On Linux only a session's delegate is asked, and only for tasks without a completion handler.
final class NoRedirects: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        typealias Call = CheckedContinuation<(Data, URLResponse), any Error>

        private let lock = NSLock()
        /// By task; read and changed under the lock only.
        private var calls: [Int: (content: Data, call: Call)] = [:]

        func data(for request: URLRequest, in session: URLSession) async throws -> (Data, URLResponse) {
            let task = session.dataTask(with: request)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { call in
                    lock.withLock { calls[task.taskIdentifier] = (Data(), call) }
                    if Task.isCancelled { finish(task, CancellationError()) } else { task.resume() }
                }
            } onCancel: {
                task.cancel()
                finish(task, CancellationError())
            }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            lock.withLock { calls[dataTask.taskIdentifier]?.content += data }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            finish(task, error)
        }

        private func finish(_ task: URLSessionTask, _ error: (any Error)?) {
            let waiting = lock.withLock { calls.removeValue(forKey: task.taskIdentifier) }
            guard let (content, call) = waiting else { return }
            if error == nil, let response = task.response {
                call.resume(returning: (content, response))
            } else {
                call.resume(throwing: error ?? URLError(.badServerResponse))
            }
        }
    #endif
}
