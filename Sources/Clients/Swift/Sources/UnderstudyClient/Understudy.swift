import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that this process started, or one that it is attached to.
public struct Understudy: Sendable {
    /// Where the vendors are.
    public let url: URL
    /// A page for people: the journal as it grows, sandboxes, clocks, tokens and everything else.
    public let pageURL: URL
    private let server: Transport
    private let process: ServerProcess?

    /// Whether this process started it, which only macOS and Linux allow.
    public var isOwn: Bool { process != nil }

    #if os(macOS) || os(Linux)
        /// The ports of a server that was started here, by `http`, `https` and `control`.
        public var ports: [String: Int] { process?.ports ?? [:] }
    #endif

    /// Attaches to a running server, and checks its health.
    ///
    /// In a simulator `http://127.0.0.1:8080` is the Mac's server; a device needs the Mac's address.
    ///
    /// - Parameters:
    ///   - url: The server, such as `http://127.0.0.1:8080`.
    ///   - controlURL: For servers with a `--control-port`.
    ///   - token: That of `--control-token`; by default the environment's `UNDERSTUDY_CONTROL_TOKEN`; `@FILE` is the one in a
    ///     file.
    ///   - session: Makes the control calls, such as one that trusts a certificate of yours; by default one that stores
    ///     nothing.
    public static func attach(
        _ url: String, controlURL: String? = nil, token: String? = nil, session: URLSession? = nil
    ) async throws -> Understudy {
        let server = try Understudy(url, controlURL ?? url, token ?? variable("UNDERSTUDY_CONTROL_TOKEN"), session)
        // A JSON answer without one does not come from Understudy.
        _ = try await server.health().member("version", \.string)
        return server
    }

    private init(
        _ url: String, _ controlURL: String, _ token: String?, _ session: URLSession?, _ process: ServerProcess? = nil
    ) throws {
        self.process = process
        self.url = try Self.base(url)
        let address = try Self.base(controlURL)
        let token = try token.map { text in
            guard text.hasPrefix("@") else { return text }
            return try String(contentsOfFile: String(text.dropFirst()), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        pageURL = address.appendingPathComponent("_understudy", isDirectory: true)
        server = Transport(
            base: address.absoluteString, token: token, session: Transport.session(session, for: address))
    }

    /// The URL without a final slash.
    private static func base(_ text: String) throws -> URL {
        let url = URL(string: text.hasSuffix("/") ? String(text.dropLast()) : text)
        guard let url, let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host?.isEmpty == false, url.path.isEmpty, url.query == nil
        else {
            throw InvalidArgument(
                message: "“\(text)” is not a base URL of a server, such as http://127.0.0.1:8080;"
                    + " sandboxes are named later")
        }
        return url
    }

    /// Makes any call of the control API, to the sandbox that requests without a name share: `control("GET", "vendors")`.
    ///
    /// - Parameter path: The path below `/_understudy`, with its query.
    /// - Returns: the answer's content; `null` when it has none.
    /// - Throws: a ``Refusal`` with the server's message, or ``Unreachable``.
    @discardableResult
    public func control(_ method: String, _ path: String, _ content: JSONValue? = nil) async throws -> JSONValue {
        try await server.send(method, path, content)
    }

    /// Whether the server is healthy, and what it stands in for: `status`, `version`, `vendors`.
    public func health() async throws -> JSONValue { try await control("GET", "health") }

    /// All sandboxes, each with its `name` and its `ttl_seconds`.
    public func sandboxes() async throws -> [JSONValue] {
        try await control("GET", "sandboxes").member("sandboxes", \.array)
    }
}

#if os(macOS) || os(Linux)
    extension Understudy {
        /// Starts a server for this process at a free loopback port.
        ///
        /// It ends with ``stop()``, or when the process does.
        ///
        /// - Parameters:
        ///   - options: Those of `understudy serve`, such as `"--fixtures", "Fixtures"`.
        ///   - binary: The program; by default the environment's `UNDERSTUDY_BINARY`, else `understudy` in `PATH`.
        ///   - environment: Variables for the program besides those of this process.
        ///   - duration: How long the start may take.
        /// - Throws: ``StartFailed`` with what the program complained of.
        public static func start(
            _ options: String..., binary: String? = nil, environment: [String: String] = [:],
            within duration: Duration = .seconds(30)
        ) async throws -> Understudy {
            let process = try await ServerProcess(
                binary: binary, options: options, environment: environment, within: duration)
            let name = "UNDERSTUDY_CONTROL_TOKEN"
            let token = controlToken(in: options) ?? environment[name] ?? variable(name)
            let port = process.ports["http"] ?? 0
            return try Understudy(
                "http://127.0.0.1:\(port)", "http://127.0.0.1:\(process.ports["control"] ?? port)", token, nil, process)
        }

        private static func controlToken(in options: [String]) -> String? {
            let flag = "--control-token"
            let joined = options.first { $0.hasPrefix("\(flag)=") }?.dropFirst(flag.count + 1)
            return joined.map(String.init) ?? options.firstIndex(of: flag).flatMap { options.dropFirst($0 + 1).first }
        }

        /// Ends a server that was started here; one that was attached to runs on.
        ///
        /// - Returns: its exit code, or the negative number of the signal that ended it.
        @discardableResult
        public func stop() async -> Int? {
            guard let process else { return nil }
            // A task of its own, so that a test that ran out of time waits as well.
            return await Task { await process.stop() }.value
        }
    }
#endif

extension Understudy {
    /// The sandbox of that name; it is created on first use.
    ///
    /// - Parameters:
    ///   - name: 1 to 63 of `a-z`, `0-9` and `-`.
    ///   - ttl: How long it may be unused before it is removed, for tests that fail to delete it.
    public func sandbox(_ name: String, ttl: Duration? = nil) async throws -> Sandbox {
        guard (1...63).contains(name.utf8.count), name.utf8.allSatisfy(Self.inNames.contains) else {
            throw InvalidArgument(message: "“\(name)” is not a sandbox name; it has 1 to 63 of a-z, 0-9 and -")
        }
        if let ttl { try await control("PUT", "sandboxes/\(name)", ["ttl": .string(ttl.wire)]) }
        let baseURL = url.appendingPathComponent("~\(name)", isDirectory: false)
        return Sandbox(name: name, baseURL: baseURL, server: server)
    }

    /// A new sandbox whose name begins with these words, such as a test's name.
    public func sandbox(for words: String, ttl: Duration? = nil) async throws -> Sandbox {
        let parts = words.lowercased().utf8.split { !Self.inNames.contains($0) || $0 == UInt8(ascii: "-") }
        let start = parts.compactMap { String($0) }.joined(separator: "-").prefix(54)
        // Two tests may differ in punctuation only, and may run side by side.
        let end = String(UInt32.random(in: .min ... .max), radix: 16)
        return try await sandbox("\(start.isEmpty ? "test" : start)-\(end)", ttl: ttl)
    }

    private static let inNames = Set("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)

    /// Runs a test in a sandbox of its own, which is removed at its end.
    ///
    /// ```swift
    /// try await server.withSandbox { sandbox in
    ///     let token = try await sandbox.mint("rezolve/login", ["expires_in": 900])
    ///     let app = App(backend: sandbox.baseURL, token: token)
    ///     try await sandbox.clock.advance(by: .seconds(16 * 60))
    ///     try await app.readAddresses()
    ///     try await sandbox.expectCalls(.exactly(1), where: ["failure": "token-expired"])
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - words: What the sandbox's name begins with; by default the calling function's name.
    ///   - report: Takes the journal in words when the test throws; by default it goes to the standard error.
    ///   - body: The test.
    /// - Throws: what the body throws, and ``Unreachable``.
    public func withSandbox<Result>(
        _ words: String = #function,
        report: (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) },
        isolation: isolated (any Actor)? = #isolation, _ body: (Sandbox) async throws -> Result
    ) async throws -> Result {
        // Nothing of a test that crashes may stay in a server that runs on.
        let sandbox = try await sandbox(for: words, ttl: isOwn ? nil : .seconds(2 * 60 * 60))
        do {
            let result = try await body(sandbox)
            _ = await Self.end(sandbox)
            return result
        } catch {
            report(await Self.end(sandbox, isReported: true))
            throw error
        }
    }

    /// Removes the sandbox, and returns its journal in words if requested.
    private static func end(_ sandbox: Sandbox, isReported: Bool = false) async -> String {
        // A task of its own: a test that ran out of time is cancelled, and its calls would be as well.
        await Task {
            var words = ""
            do {
                if isReported { words = try await sandbox.journal.describe() }
            } catch {
                words = "The journal could not be read: \(error)"
            }
            // A server that is gone has taken its sandboxes with it; the test's own error says more.
            try? await sandbox.delete()
            return words
        }.value
    }
}

/// A variable of this process's environment; an empty one counts as unset.
func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
}

/// What a control call or a start can end with; frameworks show the ``description``.
public protocol UnderstudyError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What was found, and what would be right.
    var message: String { get }
}

extension UnderstudyError {
    public var description: String { message }
    public var errorDescription: String? { description }
}

/// The server refused a control call; ``message`` is its own.
public struct Refusal: UnderstudyError {
    /// The call, such as `PUT clock`.
    public let call: String
    /// 400: a wrong member, value or query. 401: the control token. 403: the host's name. 404: nothing has that name.
    /// 413: too long.
    public let status: Int
    /// The refusal's stable name.
    public let code: String
    public let message: String

    public var description: String { "\(message) (\(call) answered \(status) \(code))" }
}

/// The journal does not hold the calls that a test expects.
public struct UnmetExpectation: UnderstudyError {
    /// The answer of `journal/verify`: `count`, the bounds, and the `nearest` calls with what each of them `missed`.
    public let verdict: JSONValue

    /// What was expected and found, then the nearest calls and what each missed.
    public var message: String {
        let calls = (verdict["nearest"]?.array ?? []).flatMap { call in
            ["  #\(call.text("id")) \(call.text("summary"))"]
                + (call["missed"]?.array ?? []).map {
                    "      \($0.text("condition")): expected \($0.text("expected")), found \($0.text("found"))"
                }
        }
        return ([verdict.text("message")] + calls).joined(separator: "\n")
    }
}

/// No server was started: there is no program, or it ended with a complaint.
public struct StartFailed: UnderstudyError {
    public let message: String
}

/// No server answered, or what answered is not Understudy.
public struct Unreachable: UnderstudyError {
    public let message: String
}

/// An argument has a form that no server accepts; nothing was sent.
public struct InvalidArgument: UnderstudyError {
    public let message: String
}
