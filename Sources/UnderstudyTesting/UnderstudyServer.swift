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

// MARK: - Tokens, time, settings, scenarios, faults and actions

extension UnderstudyServer {
    /// Mints a token.
    ///
    /// - Parameters:
    ///   - kind: Vendor and kind, such as `shop/login`.
    ///   - order: The token's contents: members of the kind, `claims` and `header` to set freely, and a `defect` that
    ///     makes it invalid in one named way. `GET tokens` lists them.
    public func mint(_ kind: String, _ order: JSONObject = [:]) async throws(UnderstudyRefusal) -> String {
        let minted = try await control(.post, "tokens/" + kind, .object(order))
        guard let token = minted["token"]?.string else {
            throw UnderstudyRefusal("the answer has no token: \(minted.text)")
        }
        return token
    }

    /// Freezes the clock at a time in seconds since 1970-01-01T00:00:00Z.
    public func freezeClock(at unixSeconds: Int) async throws(UnderstudyRefusal) {
        try await control(.put, "clock", ["now": JSON(unixSeconds), "freeze": true])
    }

    /// Advances the clock; tokens issued earlier age by that duration.
    public func advanceClock(by duration: Duration) async throws(UnderstudyRefusal) {
        try await control(.put, "clock", ["advance": .string(Self.text(of: duration))])
    }

    /// The duration in milliseconds, the unit of control calls; one that exceeds their limit still exceeds it.
    static func text(of duration: Duration) -> String {
        let milliseconds = (duration / .milliseconds(1)).rounded(.awayFromZero)
        return "\(Int(exactly: milliseconds) ?? (milliseconds < 0 ? .min + 1 : .max))ms"
    }

    /// Sets a vendor's switch, such as `shop.device-check` to `off`.
    public func setSwitch(_ name: String, to value: String) async throws(UnderstudyRefusal) {
        try await control(.put, "settings", ["switches": .object(JSONObject([(name, .string(value))]))])
    }

    /// Makes ids and times repeatable.
    public func setSeed(_ seed: Int) async throws(UnderstudyRefusal) {
        try await control(.put, "settings", ["seed": JSON(seed)])
    }

    /// Replaces the active scenarios; the first has precedence.
    public func activate(_ scenarios: String...) async throws(UnderstudyRefusal) {
        try await control(.put, "scenarios", ["scenarios": .array(scenarios.map(JSON.string))])
    }

    /// Replaces the armed faults, such as `["route": "addressbook.list", "call": 3, "fail": "token-expired"]` or
    /// `["vendor": "shop", "every": 2, "fault": ["delay": "2s"]]`.
    public func arm(_ faults: JSON...) async throws(UnderstudyRefusal) {
        try await control(.put, "faults", ["faults": .array(faults)])
    }

    /// Performs an action on a vendor's state that no request causes, such as `shop/remove-customer`.
    @discardableResult
    public func act(_ action: String, _ members: JSONObject = [:]) async throws(UnderstudyRefusal) -> JSON {
        try await control(.post, "state/" + action, .object(members))
    }

    /// Restores the sandbox's initial state.
    public func reset() async throws(UnderstudyRefusal) { try await control(.post, "reset") }
}

// MARK: - The journal

/// How many calls are expected.
public enum CallCount: Sendable, Hashable {
    /// That many or more.
    case atLeast(Int)
    /// That many or fewer.
    case atMost(Int)
    /// Exactly that many.
    case exactly(Int)
    /// Exactly that many that were accepted with a field that nobody reads; `unread(0)` finds misspelled names.
    case unread(Int)

    /// None.
    public static let never = CallCount.exactly(0)

    fileprivate var member: (String, JSON) {
        switch self {
        case .atLeast(let count): ("at_least", JSON(count))
        case .atMost(let count): ("at_most", JSON(count))
        case .exactly(let count): ("exactly", JSON(count))
        case .unread(let count): ("unread", JSON(count))
        }
    }
}

extension UnderstudyServer {
    /// The test's exchanges so far, oldest first, as in the journal: each with its findings and its reason.
    public func journal() async throws(UnderstudyRefusal) -> [JSON] {
        try await control(.get, "journal")["entries"]?.array ?? []
    }

    /// Expects calls. An unmet expectation becomes an issue of the running test, which lists the nearest calls and what
    /// each of them missed.
    ///
    /// - Parameters:
    ///   - count: How many calls; at least one by default.
    ///   - condition: What the calls match: `vendor`, `route`, `status`, `failure`, and `method`, `path`, `query`,
    ///     `header`, `body`, `claims` and `reason` with their expected values.
    ///     `["route": "rua.login", "body": ["username": "ada"]]` matches sign-ins of Ada.
    ///   - duration: How long to wait for the calls, at most a minute; by default not at all.
    /// - Returns: whether the expectation was met.
    @discardableResult
    public func expectCalls(
        _ count: CallCount = .atLeast(1), where condition: JSONObject = [:], within duration: Duration = .zero,
        fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) async -> Bool {
        let wait = min(max(duration, .zero), .seconds(60))
        let call = "journal/verify?wait=\(Self.text(of: wait))"
        let (status, answer) = await ask(
            .post, call, .object(JSONObject([count.member, ("where", .object(condition))])))
        if status == 200 { return true }
        issues.record(Self.complaint(answer), fileID: fileID, filePath: filePath, line: line, column: column)
        return false
    }

    /// What was expected and found, then the nearest calls and what each missed.
    private static func complaint(_ answer: JSON) -> String {
        guard let message = answer["message"]?.string else {
            return answer["error"]?["message"]?.string ?? answer.text
        }
        var lines = [message]
        for call in answer["nearest"]?.array ?? [] {
            lines.append("  \(call["id"]?.text ?? "?"): \(call["summary"]?.string ?? "")")
            for miss in call["missed"]?.array ?? [] {
                let found = miss["found"].map { $0.string ?? $0.text } ?? "nothing"
                let expected = miss["expected"].map { $0.string ?? $0.text } ?? ""
                lines.append("      \(miss["condition"]?.string ?? ""): expected \(expected), found \(found)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
