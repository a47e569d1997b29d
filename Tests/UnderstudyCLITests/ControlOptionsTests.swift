import Foundation
import JSON
import Testing

/// The names under which control calls are answered, and the warning for servers open to others.
@Suite("understudy serve: who may make control calls")
struct ControlOptionsTests {
    @Test(
        "names are allowed by flag, environment and file",
        arguments: [
            (["--allow-host", "a.example.test", "--allow-host", "b.example.test"], [:], ""),
            ([], ["UNDERSTUDY_ALLOW_HOST": "a.example.test, b.example.test"], ""),
            ([], [:], "allow-host: a.example.test,b.example.test"),
        ] as [([String], [String: String], String)])
    func names(flags: [String], environment: [String: String], file: String) async throws {
        let folder = TemporaryFolder()
        if !file.isEmpty { try folder.write(file, to: "understudy.yaml") }
        let server = try await RunningServer(flags, environment: environment, in: folder)
        defer { server.process.terminate() }
        for (host, status) in [("a.example.test", 200), ("B.example.test:1", 200), ("c.example.test", 403)] {
            #expect(try health(of: server, as: host) == status, "\(host)")
        }
    }

    @Test("the name that it listens at is its own")
    func ownName() async throws {
        // The resolver reads it as an address, other readers as a name.
        let server = try await RunningServer("--host", "localhost")
        defer { server.process.terminate() }
        #expect(try health(of: server, as: "localhost") == 200)
        #expect(try health(of: server, as: "localhost.example") == 403)
    }

    /// Uses curl, since our own client sends the name of the host it connects to.
    private func health(of server: RunningServer, as host: String) throws -> Int? {
        let (curl, output) = (Process(), Pipe())
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = [
            "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)",
            server.base + "/_understudy/health",
        ]
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        curl.waitUntilExit()
        return Int(text)
    }

    @Test(
        "what is not a host name stops the start",
        arguments: ["http://a.example", "a.example:8080", "*.example", "a b", "ä.example"])
    func wrongName(name: String) throws {
        let run = try Program.run("serve", "--allow-host", name)
        #expect(run.status == 2)
        #expect(
            run.complaint
                == "understudy: --allow-host \(name) is not a host name such as mocks.example.test; leave out scheme and port.\n"
        )
    }

    private static let warning =
        "can control this server and read its journal: it listens beyond loopback without a --control-token."

    @Test(
        "who listens beyond loopback without a control token is warned, in one line",
        arguments: [
            (["--host", "0.0.0.0"], 1), (["--host", "0.0.0.0", "--log", "off"], 1), (["--host", "::"], 1),
            (["--host", "0.0.0.0", "--control-token", "steer"], 0), (["--host", "127.0.0.1"], 0),
            (["--host", "127.0.0.2"], 0), (["--host", "localhost"], 0), (["--host", "::1"], 0),
        ])
    func warning(options: [String], count: Int) async throws {
        let server = try await RunningServer(options)
        let end = try await stopAfterBanner(server)
        #expect(end.status == 0)
        #expect(end.log.split(separator: "\n").count == count, "\(end.log)")
        #expect(end.log.components(separatedBy: Self.warning).count == count + 1, "\(end.log)")
    }

    @Test("a log in JSON stays one")
    func warningInJSON() async throws {
        let server = try await RunningServer("--host", "0.0.0.0", "--log", "json")
        let end = try await stopAfterBanner(server)
        let line = try JSON.parse(Array(end.log.split(separator: "\n").joined().utf8))
        #expect(line["level"] == "warning")
        #expect(line["message"]?.string?.hasSuffix(Self.warning) == true, "\(end.log)")
    }

    /// The warning follows the banner, so it is the last thing a person sees.
    private func stopAfterBanner(_ server: RunningServer) async throws -> (status: Int32, log: String) {
        var printed = ""
        while !printed.contains("Stop with Control-C.") {
            let data = server.output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            printed += String(decoding: data, as: UTF8.self)
        }
        let end = server.stop()
        return (end.status, end.log)
    }
}
