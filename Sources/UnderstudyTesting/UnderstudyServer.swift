import Emulation
import HTTPEngine
public import HTTPTypes
public import JSON
import Synchronization
import Wire

/// A test's view of the server: the address for the app under test, and control over what happens behind it.
public final class UnderstudyServer: Sendable {
    /// The name of the test's sandbox.
    public let sandbox: String
    /// The base URL for the app under test, such as `http://127.0.0.1:49213/~test-7`; append the path.
    public let baseURL: String
    /// The port, for apps that only take a host; they select the sandbox with ``sandboxField``.
    public let port: Int

    /// The header field that selects the sandbox where the path cannot.
    public var sandboxField: (name: String, value: String) { ("X-Understudy-Sandbox", sandbox) }

    let issues = Issues()
    private let host: HostedServer
    private static let count = Atomic(0)

    init(_ host: HostedServer) {
        self.host = host
        let number = Self.count.add(1, ordering: .relaxed).newValue
        sandbox = "test-\(number)"
        port = host.port
        baseURL = "http://127.0.0.1:\(host.port)/~\(sandbox)"
    }

    func close() { _ = try? host.sandboxes.remove(sandbox) }

    /// Makes a control call to this test's sandbox, such as `GET clock`; page ControlAPI lists the calls.
    ///
    /// - Returns: the answer's content; `null` when it has none.
    /// - Throws: an ``UnderstudyRefusal`` with the server's message.
    @discardableResult
    public func control(
        _ method: HTTPRequest.Method, _ call: String, _ content: JSON? = nil
    ) async throws(UnderstudyRefusal) -> JSON {
        let (status, answer) = await ask(method, call, content)
        guard (200...299).contains(status) else {
            throw UnderstudyRefusal(answer["error"]?["message"]?.string ?? "\(method) \(call) answered \(status)")
        }
        return answer
    }

    /// Status and content of a control call, which bypasses only the socket.
    func ask(_ method: HTTPRequest.Method, _ call: String, _ content: JSON?) async -> (status: Int, content: JSON) {
        let request = Request(
            method: method, target: "/_understudy/" + call, fields: [sandboxField.name: sandbox],
            body: content?.bytes ?? [])
        let response = await host.pipeline.response(to: request)
        // An empty answer counts as `null`.
        return (response.status.code, (try? JSON.parse(response.body)) ?? .null)
    }

    /// Sends a request over a socket, as the app under test would, for tests without an app.
    ///
    /// - Parameter path: The path after ``baseURL``, with its query.
    /// - Throws: an ``UnderstudyRefusal`` when no complete answer arrives, which some faults cause.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String = ""
    ) async throws(UnderstudyRefusal) -> UnderstudyAnswer {
        do {
            let answer = try await HTTPClient.send(
                method: method, url: baseURL + path, fields: fields, body: Array(body.utf8), within: .seconds(30))
            var received = HTTPFields()
            for (name, value) in answer.fields {
                if let name = HTTPField.Name(name) { received.append(HTTPField(name: name, value: value)) }
            }
            return UnderstudyAnswer(status: answer.status, fields: received, body: answer.body)
        } catch {
            throw UnderstudyRefusal("no answer to \(method) \(path): \(error)")
        }
    }
}

/// The answer to a request.
public struct UnderstudyAnswer: Sendable {
    /// The status.
    public let status: HTTPResponse.Status
    /// The fields.
    public let fields: HTTPFields
    /// The content.
    public let body: [UInt8]

    /// The content as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The content as JSON; `null` when it is not JSON.
    public var json: JSON { (try? JSON.parse(body)) ?? .null }
}
