import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that this process started, or one that it is attached to.
public struct Understudy: Sendable {
    /// Where the vendors are.
    public let url: URL
    /// A page for people: the journal as it grows, sandboxes, clocks, tokens and all else.
    public let pageURL: URL
    /// Every operation of the control API, for the sandbox that requests without a name share.
    public let control: Control

    #if os(macOS) || os(Linux)
        let process: ServerProcess?

        /// The ports of a server that was started here, by `http`, `https` and `control`.
        public var ports: [String: Int] { process?.ports ?? [:] }

        /// Whether this process started it.
        public var isOwn: Bool { process != nil }
    #else
        /// Whether this process started it, which only macOS and Linux allow.
        public var isOwn: Bool { false }
    #endif

    /// Attaches to a running server, and asks it whether it is well.
    ///
    /// In a simulator `http://127.0.0.1:8080` is the Mac's server; a device needs the Mac's address.
    ///
    /// - Parameters:
    ///   - url: The server, such as `http://127.0.0.1:8080`.
    ///   - controlURL: For servers with a `--control-port`.
    ///   - token: That of `--control-token`; else what the environment names as `UNDERSTUDY_CONTROL_TOKEN`.
    ///   - session: What makes the control calls, such as one that trusts a certificate of yours; else one that keeps
    ///     nothing.
    public static func attach(
        _ url: String, controlURL: String? = nil, token: String? = nil, session: URLSession? = nil
    ) async throws -> Understudy {
        let server = try Understudy(url, controlURL ?? url, token ?? tokenOfEnvironment, session)
        _ = try await server.health()
        return server
    }

    /// The control token that the environment names; an empty variable counts as unset.
    static var tokenOfEnvironment: String? {
        ProcessInfo.processInfo.environment["UNDERSTUDY_CONTROL_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private init(_ url: String, _ controlURL: String, _ token: String?, _ session: URLSession?) throws {
        self.url = try Self.base(url)
        let address = try Self.base(controlURL)
        pageURL = address.appendingPathComponent("_understudy", isDirectory: true)
        let transport = Transport(
            base: address.absoluteString, token: token, session: session ?? Transport.session(for: address))
        control = Control(transport: transport, sandbox: nil)
        #if os(macOS) || os(Linux)
            process = nil
        #endif
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

    /// Whether the server is well, and what it stands in for.
    public func health() async throws -> Control.Health { try await control.health() }

    /// All sandboxes.
    public func sandboxes() async throws -> [Control.Sandbox] { try await control.sandboxesList().sandboxes }
}

#if os(macOS) || os(Linux)
    extension Understudy {
        /// Starts a server of this process's own at a free port of the loopback.
        ///
        /// It ends with ``stop()``, or when the process does.
        ///
        /// - Parameters:
        ///   - options: Those of `understudy serve`, such as `"--fixtures", "Fixtures"`.
        ///   - binary: The program; else what the environment names as `UNDERSTUDY_BINARY`, else `understudy` in `PATH`.
        ///   - environment: Variables for the program besides those of this process.
        ///   - duration: How long the start may take.
        /// - Throws: ``StartFailed`` with what the program complained of.
        public static func start(
            _ options: String..., binary: String? = nil, environment: [String: String] = [:],
            within duration: Duration = .seconds(30)
        ) async throws -> Understudy {
            let process = try await ServerProcess.start(
                binary: binary, options: options, environment: environment, within: duration)
            let token =
                controlToken(in: options) ?? environment["UNDERSTUDY_CONTROL_TOKEN"] ?? tokenOfEnvironment
            return try Understudy(process, token)
        }

        private init(_ process: ServerProcess, _ token: String?) throws {
            let port = process.ports["http"] ?? 0
            let server = try Understudy(
                "http://127.0.0.1:\(port)", "http://127.0.0.1:\(process.ports["control"] ?? port)", token, nil)
            url = server.url
            pageURL = server.pageURL
            control = server.control
            self.process = process
        }

        private static func controlToken(in options: [String]) -> String? {
            let flag = "--control-token"
            for (place, option) in options.enumerated() {
                if option == flag, place + 1 < options.count { return options[place + 1] }
                if option.hasPrefix("\(flag)=") { return String(option.dropFirst(flag.count + 1)) }
            }
            return nil
        }

        /// Ends a server that was started here; one that was attached to goes on.
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
