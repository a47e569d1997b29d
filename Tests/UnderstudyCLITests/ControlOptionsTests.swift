import Dispatch
import Expectations
import Foundation
import JSON
import Testing

@testable import UnderstudyCLI

/// The names under which control calls are answered, and the warning for servers open to others.
@Suite("understudy serve: who may make control calls") struct ControlOptionsTests {
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
        for (host, status) in [("a.example.test", 200), ("B.example.test:1", 200), ("c.example.test", 403)] {
            expect(try health(of: server, as: host), is: status, "\(host)")
        }
    }

    @Test("the name that it listens at is its own") func ownName() async throws {
        // The resolver reads it as an address, other readers as a name.
        let server = try await RunningServer("--host", "localhost")
        expect(try health(of: server, as: "localhost"), is: 200)
        expect(try health(of: server, as: "localhost.example"), is: 403)
    }

    /// Uses curl, since our own client sends the name of the host it connects to.
    private func health(of server: RunningServer, as host: String) throws -> Int? {
        let url = server.base + "/_understudy/health"
        let script = "curl -s -o /dev/null -w '%{http_code}' -H 'Host: \(host)' \(url)"
        return try Int(Program.run([], under: script).output)
    }

    @Test(
        "what is not a host name stops the start",
        arguments: ["http://a.example", "a.example:8080", "*.example", "a b", "ä.example"])
    func wrongName(name: String) throws {
        try Program.run("serve", "--allow-host", name).refuses(
            "--allow-host \(name) is not a host name such as mocks.example.test; leave out scheme and port.\n")
    }

    private static let warning =
        "can control this server and read its journal: it listens beyond loopback without a --control-token."

    @Test(
        "who listens beyond loopback without a control token is warned, in one line",
        arguments: [
            (["--host", "0.0.0.0"], 1), (["--host", "0.0.0.0", "--log", "off"], 1), (["--host", "::"], 1),
            (["--host", "0.0.0.0", "--control-token", "@/proc/sys/kernel/ostype"], 0), (["--host", "127.0.0.1"], 0),
            (["--host", "127.0.0.2"], 0), (["--host", "localhost"], 0), (["--host", "::1"], 0),
        ])
    func warning(options: [String], count: Int) async throws {
        let end = try await stopAfterBanner(RunningServer(options)).exits(0)
        expect(end.log.split(separator: "\n").count, is: count, "\(end.log)")
        expect(end.log.components(separatedBy: Self.warning).count, is: count + 1, "\(end.log)")
    }

    private static let visible = """
        Anyone on this machine can see the control token on the command line; pass it in UNDERSTUDY_CONTROL_TOKEN, or as \
        --control-token @FILE.

        """

    @Test("a control token comes from a file or the environment, and is warned of on the command line")
    func tokenFile() async throws {
        let folder = try TemporaryFolder(["token": "t0ken\n", "two": "a\nb\n"])
        let server = try await RunningServer("--log", "off", "--control-token", "@token", in: folder)
        func clock(_ options: [String], _ environment: [String: String] = [:]) throws -> Program.Run {
            try Program.run(["clock", "--server", server.base] + options, environment: environment, in: folder)
        }
        for (options, variable) in [(["--control-token", "@token"], ""), ([], "@token"), ([], "t0ken")] {
            let variables = variable.isEmpty ? [:] : ["UNDERSTUDY_CONTROL_TOKEN": variable]
            try clock(options, variables).succeeds()
        }
        expect(try clock(["--control-token", "t0ken"]).exits(0).complaint, is: Self.visible)
        try clock(["--control-token", "@two"]).refuses(
            "--control-token: found 2 lines in two; expected the token alone.\n")
        try clock(["--control-token", "@none"]).refuses(
            "--control-token: none cannot be read: No such file or directory.\n")
        let warned = try await stopAfterBanner(RunningServer("--log", "off", "--control-token", "t0ken"))
        expect(warned.log, is: Self.visible)
    }

    @Test("a log in JSON stays one") func warningInJSON() async throws {
        let end = try await stopAfterBanner(RunningServer("--host", "0.0.0.0", "--log", "json"))
        let line = try JSON.parse(Array(end.log.split(separator: "\n").joined().utf8))
        expect(line["level"], is: "warning")
        expect(line["message"]?.string?.hasSuffix(Self.warning), is: true, "\(end.log)")
    }

    /// The warning follows the banner, so it is the last thing a person sees.
    private func stopAfterBanner(_ server: RunningServer) -> Program.Run {
        _ = server.banner()
        return server.stop()
    }
}

@Suite("understudy routes") struct RoutesCommandTests {
    private func rows(_ options: String...) throws -> JSON {
        try JSON.parse(Program.run(["routes", "--json"] + options).exits(0).output.utf8)
    }

    @Test("several lists come at once, each under its name, and one alone as it always did") func lists() throws {
        let both = try rows("--failures", "--switches")
        expect(both.object?.map(\.name), is: ["failures", "switches"])
        expect(try rows("--failures"), is: both["failures"])
        #expect(try rows() == rows("--routes"))
        let text = try Program.run("routes", "--switches", "--actions").output
        let heads = text.split(separator: "\n").filter { $0.hasPrefix("SWITCH") || $0.hasPrefix("VENDOR") }
        expect(heads.count, is: 2)
    }

    @Test("--vendor and --grep leave out what is not asked for") func filters() throws {
        let one = try #require(try rows("--vendor", "ims").array)
        #expect(!one.isEmpty && one.allSatisfy { $0["vendor"] == "ims" })
        let two = try #require(try rows("--vendor", "ims", "--vendor", "rezolve").array)
        expect(Set(two.compactMap { $0["vendor"]?.string }), is: ["ims", "rezolve"])
        let books = try #require(try rows("--grep", "AddressBook").array)
        #expect(!books.isEmpty && books.allSatisfy { $0.text.lowercased().contains("addressbook") })
        try Program.run("routes", "--grep", "nothing has this").exits(1)
        try Program.run("routes", "--vendor", "imss").refuses("no vendor is called imss; did you mean “ims”?\n")
    }

    #if os(Linux)
        @Test(
            "a full disk at standard output is an error, also of --help",
            arguments: [
                "routes", "routes --help", "token mint rezolve login", "token explain --json a.b.c", "ca --pem",
            ])
        func fullDisk(_ command: String) throws {
            let folder = TemporaryFolder()
            let run = try Program.run(
                Program.words(command), environment: ["HOME": folder.path], in: folder,
                under: #"exec "$0" "$@" >/dev/full"#
            ).exits(2)
            #expect(
                run.complaint.hasSuffix("understudy: standard output cannot be written: No space left on device.\n"),
                "\(run.complaint)")
        }
    #endif
}

@Suite("The queue of log lines") struct LineWriterTests {
    @Test("takes lines up to its limit, and drops those beyond", arguments: [(0, 0), (1, 1)])
    func limit(_ excess: Int, _ dropped: Int) {
        let nowhere = open("/dev/null", O_WRONLY)
        defer { close(nowhere) }
        let writer = LineWriter(nowhere) { "\($0) lines were dropped.\n" }
        writer.write(String(repeating: "x", count: LineWriter.mostBytes + excess - 1) + "\n")
        expect(writer.droppedLines, is: dropped)
        writer.finish(by: .now() + .seconds(60))
    }

    @Test("a notice stands where lines were dropped, even for one", arguments: [1, 2])
    func notice(_ dropped: Int) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        var output = LineOutput(descriptor: ends[1])
        expect(output.write(Array("first\n".utf8)) { "\($0) dropped" }, is: 0)
        output.tell(ofDropped: dropped) { "\($0) dropped" }
        expect(output.write(Array("last\n".utf8)) { "\($0) dropped" }, is: 0)
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = read(ends[0], &bytes, bytes.count)
        expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self), is: "first\n\(dropped) dropped\nlast\n")
    }
}

/// Fixture folders with entries that are not files: a check ends with a message and never waits.
@Suite("understudy fixtures check, of hostile folders", .timeLimit(.minutes(15))) struct HostileFixtureTests {
    private func complaint(_ folder: TemporaryFolder) throws -> String {
        try Program.run("fixtures", "check", folder.path + "/own", in: folder).exits(2).complaint
    }

    private func folder() throws -> TemporaryFolder { try TemporaryFolder(["own/rezolve/scenarios/readme.txt": ""]) }

    @Test(
        "a body_file that leads out of the folder is told with file, line, column and where it leads",
        arguments: ["/etc/hostname", "../../../outside.txt", "/dev/zero"])
    func bodyFile(_ target: String) throws {
        let folder = try folder()
        try folder.write("not for everybody", to: "outside.txt")
        try folder.link("own/rezolve/scenarios/x.txt", to: target)
        try folder.write(
            """
            scenario: linked
            about: answers with a file
            vendor: rezolve
            states:
              a:
                - on: rua.ping
                  respond: { body_file: scenarios/x.txt }
            """, to: "own/rezolve/scenarios/linked.yaml")
        let complaint = try complaint(folder)
        let reason = target == "/dev/zero" ? "is a device; expected a file" : "leads to /"
        #expect(complaint.contains("scenarios/linked.yaml:7:29: "), "\(complaint)")
        #expect(complaint.contains("scenarios/x.txt: \(reason)"), "\(complaint)")
        #expect(!complaint.contains("not for everybody"))
    }

    @Test("a pipe, a loop of links and ten thousand files end it with a sentence") func others() throws {
        let pipe = try folder()
        expect(mkfifo(pipe.path + "/own/rezolve/failures.yaml", 0o600), is: 0)
        #expect(try complaint(pipe).contains("rezolve/failures.yaml: is a named pipe; expected a file"))
        let loop = try folder()
        for name in ["a", "b", "c"] { try loop.link("own/rezolve/scenarios/" + name, to: "..") }
        #expect(try complaint(loop).contains("rezolve/scenarios/a: is a link to "))
        let many = try folder()
        for number in 1...10_000 {
            _ = FileManager.default.createFile(atPath: "\(many.path)/own/rezolve/\(number)", contents: nil)
        }
        #expect(try complaint(many).contains("own/rezolve: the fixtures hold more than 4096 files and folders"))
    }
}
