import Foundation
import Testing
import UnderstudyClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Starting and attaching")
struct ServerTests {
    @Test("A server starts and ends")
    func lifetime() async throws {
        let server = try await Understudy.start(binary: Suite.binary)
        #expect(server.isOwn)
        #expect(server.url.port == server.ports["http"])
        #expect(try await server.health()["status"] == "ok")
        let other = try await Understudy.attach("\(server.url)/")
        #expect(!other.isOwn && other.url == server.url && other.ports.isEmpty)
        #expect(await other.stop() == nil)
        #expect(try await server.health()["version"] == other.health()["version"])
        #expect(await server.stop() == 0)
        let failure = try await error(Unreachable.self) { try await server.health() }
        #expect(failure.message.hasPrefix("no answer from Understudy at http://127.0.0.1:"))
    }

    @Test("Options reach the server, and so does its token")
    func options() async throws {
        let server = try await Understudy.start(
            "--control-token", "steer", "--control-port", "0", "--seed", "7", binary: Suite.binary)
        #expect(try await server.sandbox("seeded").clock.now == Suite.moment)
        #expect(server.pageURL.port == server.ports["control"] && server.pageURL.port != server.url.port)
        #expect(server.pageURL.path.hasPrefix("/_understudy"))
        let controlURL = "http://127.0.0.1:\(try #require(server.ports["control"]))"
        // health asks for no token, so attaching works.
        let stranger = try await Understudy.attach(server.url.absoluteString, controlURL: controlURL)
        let refusal = try await error(Refusal.self) { try await stranger.sandboxes() }
        #expect(refusal.status == 401 && refusal.call == "GET sandboxes")
        let friend = try await Understudy.attach(
            server.url.absoluteString, controlURL: controlURL, token: "steer")
        #expect(try await !friend.sandboxes().isEmpty)
        await server.stop()
    }

    @Test("The token is found wherever it is said", arguments: [true, false])
    func token(isOption: Bool) async throws {
        let variables = ["UNDERSTUDY_CONTROL_TOKEN": "steer"]
        let server =
            isOption
            ? try await Understudy.start("--control-token=steer", binary: Suite.binary)
            : try await Understudy.start(binary: Suite.binary, environment: variables)
        #expect(try await !server.sandboxes().isEmpty)
        let stranger = try await Understudy.attach(server.url.absoluteString)
        await #expect(throws: Refusal.self) { try await stranger.sandboxes() }
        await server.stop()
    }

    @Test("A start that fails says why")
    func failedStart() async throws {
        let missing = try await error(StartFailed.self) { try await Understudy.start(binary: "/nowhere/understudy") }
        #expect(missing.message.contains("there is no program /nowhere/understudy"))
        let wrong = try await error(StartFailed.self) {
            try await Understudy.start("--seed", "soon", binary: Suite.binary)
        }
        #expect(wrong.message.contains("ended with code 2:\n"))
        #expect(wrong.message.contains("--seed soon"))
    }

    @Test("A program that never listens is ended")
    func silentProgram() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("silent-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let silent = folder.appendingPathComponent("understudy")
        let script = folder.path + "/script"
        try Data("#!/bin/sh\necho $$ > \(folder.path)/pid\nexec sleep 60\n".utf8).write(
            to: URL(fileURLWithPath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        // Written by another process: those that other tests start may inherit a file open for writing, which cannot be run.
        try Process.run(URL(fileURLWithPath: "/bin/cp"), arguments: [script, silent.path]).waitUntilExit()
        let failure = try await error(StartFailed.self) {
            try await Understudy.start(binary: silent.path, within: .seconds(1))
        }
        #expect(failure.message.hasPrefix("understudy did not start in time"))
        let id = try String(contentsOf: folder.appendingPathComponent("pid"), encoding: .utf8)
        let process = try #require(Int32(id.trimmingCharacters(in: .whitespacesAndNewlines)))
        for _ in 0..<500 where kill(process, 0) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(process, 0) != 0)
    }

    // A test that ends its process has values of its surroundings since then.
    #if compiler(>=6.3)
        @Test("A server ends with the process that started it", arguments: [SIGTERM, SIGHUP, SIGINT, SIGKILL])
        func suddenEnd(signalNumber: Int32) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ending-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let alive = folder.path + "/alive"
            let observed = Suite.root.appendingPathComponent("Tests/Clients/observed").path
            let variables = ["ALIVE": alive, "PROGRAM": Suite.binary]
            try #require(mkfifo(alive, 0o600) == 0)
            let reader = open(alive, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            await #expect(processExitsWith: .signal(signalNumber)) {
                [observed = observed as String, variables = variables as [String: String], signalNumber] in
                signal(SIGHUP, SIG_DFL)  // nohup ignores it for all that it starts.
                let sandbox = try await Understudy.start(binary: observed, environment: variables).sandbox("kept")
                // It is there for those who keep no `Understudy`.
                _ = try await sandbox.clock.read()
                kill(getpid(), signalNumber)
                try await Task.sleep(for: .seconds(60))
            }
            var id = [UInt8](repeating: 0, count: 20)
            let count = read(reader, &id, id.count)
            let text = String(decoding: id.prefix(max(0, count)), as: UTF8.self)
            let server = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            let hasEnded = poll(&end, 1, 20_000) == 1
            if !hasEnded { kill(server, SIGKILL) }
            #expect(hasEnded)
        }
    #endif

    @Test("A redirect is not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let servers = Process()
        let (input, output) = (Pipe(), Pipe())
        servers.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        servers.arguments = ["python3", "-c", Self.redirects, "\(status)"]
        (servers.standardInput, servers.standardOutput) = (input, output)
        try servers.run()
        func text(_ data: Data) -> String {
            String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let bases = text(output.fileHandleForReading.availableData).split(separator: " ")
        let (other, target) = (String(try #require(bases.first)), try #require(bases.last))
        let failure = try await error(Unreachable.self) { try await Understudy.attach(other, token: "steer") }
        #expect(
            failure.message == "GET health at \(other) answered \(status), and not as Understudy does: a redirect to"
                + " \(target)/elsewhere, which is not followed")
        try input.fileHandleForWriting.close()
        #expect(
            text(output.fileHandleForReading.readDataToEndOfFile()) == "\(other) was asked with Bearer steer")
    }

    /// Two servers, which say where they are and then what each was asked; the first leads to the second.
    private static let redirects = """
        import http.server, sys, threading
        class Other(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                print(f"{base(self.server)} was asked with {self.headers['Authorization']}")
                self.send_response(int(sys.argv[1]))
                self.send_header("Location", f"{base(servers[1])}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *_):
                pass
        base = lambda server: f"http://127.0.0.1:{server.server_port}"
        servers = [http.server.HTTPServer(("127.0.0.1", 0), Other) for _ in range(2)]
        sys.stdout.write(f"{base(servers[0])} {base(servers[1])}\\n")
        sys.stdout.flush()
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        """

    @Test("Where nobody or somebody else answers, it says so")
    func strangers() async throws {
        let nobody = try await error(Unreachable.self) { try await Understudy.attach("http://127.0.0.1:1") }
        #expect(nobody.message.hasPrefix("no answer from Understudy at http://127.0.0.1:1: "))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [BrokenGateway.self]
        let session = URLSession(configuration: configuration)
        let gateway = try await error(Unreachable.self) {
            try await Understudy.attach("http://127.0.0.1:1", session: session)
        }
        #expect(gateway.message.hasPrefix("GET health at http://127.0.0.1:1 answered 502, and not as Understudy does"))
        // The port of the vendors is none of the control API once that has its own, and the server says so.
        let server = try await Understudy.start("--control-port", "0", binary: Suite.binary)
        let refusal = try await error(Refusal.self) { try await Understudy.attach(server.url.absoluteString) }
        #expect(refusal.code == "no-control-here")
        await server.stop()
    }

    @Test(
        "What is not a base URL is not asked",
        arguments: ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1:1/~name", ""])
    func wrongURL(url: String) async throws {
        let failure = try await error(InvalidArgument.self) { try await Understudy.attach(url) }
        #expect(failure.message.contains("not a base URL"))
    }

    @Test("A refusal has the server's words")
    func refusal() async throws {
        try await Suite.inSandbox { sandbox in
            let refusal = try await error(Refusal.self) {
                try await sandbox.control("PUT", "clock", ["now": "soon"])
            }
            #expect(refusal.status == 400 && refusal.code == "invalid" && refusal.call == "PUT clock")
            #expect(refusal.message.contains("soon") && refusal.message.contains("RFC 3339"))
            #expect(refusal.description.hasSuffix(" (PUT clock answered 400 invalid)"))
            let unknown = try await error(Refusal.self) { try await sandbox.state("nobody") }
            #expect(unknown.status == 404)
        }
    }

    @Test("Half a name is not sent", arguments: ["login", "/login", "rezolve/", ""])
    func halfName(name: String) async throws {
        try await Suite.inSandbox { sandbox in
            await #expect(throws: InvalidArgument.self) { try await sandbox.mint(name) }
            await #expect(throws: InvalidArgument.self) { try await sandbox.act(name) }
        }
    }
}

/// Answers every request as a gateway without a server behind it.
private final class BrokenGateway: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 502, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("no".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
