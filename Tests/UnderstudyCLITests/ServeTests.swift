import Expectations
import Foundation
import HTTPEngine
import JSON
import Testing
import Understudy

@Suite("understudy serve") struct ServeTests {
    @Test(
        "it prints where it is and what to do next, logs a line a request with the reason, and stops on SIGTERM with 0")
    func lifecycle() async throws {
        let server = try await RunningServer()
        let refused = try await server.send(.post, "/api/v1/authentication/register", [:], "{}")
        expect(refused.status, is: .forbidden)
        let end = server.stop().exits(0)
        #expect(end.output.contains("Understudy \(Emulator.version) at \(server.base)"))
        #expect(end.output.contains("Dashboard: \(server.base)/_understudy/"))
        #expect(end.output.contains("Calls to try: understudy try --server \(server.base)\n"))
        #expect(end.output.contains("understudy journal --refused --server \(server.base)\n"))
        let lines = end.output.split(separator: "\n")
        #expect(
            lines.count <= 20 && lines.allSatisfy { $0.hasPrefix("Fixtures: ") || $0.count <= 100 }, "\(end.output)")
        #expect(!end.output.contains("eyJ"), "it shows no token")
        #expect(
            end.log.contains(
                #/403 rezolve register POST /api/v1/authentication/register \#1 [0-9.e-]+ms masked-api-key: api-key: found/#
            ),
            "\(end.log)")
        // Neither auth key of the sample partners is shown.
        #expect(!end.output.contains("understudy-test-key"))
    }

    @Test(
        "a scenario is active from the start, by flag, environment and file, and after a reset again",
        arguments: [
            (["--scenario", "rezolve-logged-out-elsewhere"], [:], ""),
            ([], ["UNDERSTUDY_SCENARIO": "rezolve-logged-out-elsewhere, rezolve-busy-backend"], ""),
            ([], [:], "scenario: rezolve-logged-out-elsewhere"),
        ] as [([String], [String: String], String)])
    func scenario(_ flags: [String], _ environment: [String: String], _ file: String) async throws {
        let folder = TemporaryFolder()
        if !file.isEmpty { try folder.write(file, to: "understudy.yaml") }
        let server = try await RunningServer(flags, environment: environment, in: folder)
        _ = try await server.send(.post, "/_understudy/reset")
        let answer = try await server.get("/api/v1/partner/317/customer/entity123/addressbook")
        expect(answer.status, is: .unauthorized, "without it a call without credentials gets 403")
        #expect(server.stop().output.contains("Active scenario: rezolve-logged-out-elsewhere, in logged-out"))
    }

    @Test("a scenario that is not there, or wrong, stops the start with what would be right")
    func wrongScenario() throws {
        try Program.run("serve", "--port", "0", "--scenario", "rezolve-busy-backnd")
            .refuses("no scenario is called rezolve-busy-backnd; did you mean “rezolve-busy-backend”?")
        let text =
            "scenario: mine\nabout: x\nvendor: rezolve\nstates:\n  a:\n    - on: adressbook.list\n      fail: token-expired\n"
        let folder = try TemporaryFolder(["Mine/rezolve/scenarios/mine.yaml": text])
        try Program.run("serve", "--port", "0", "--fixtures", "Mine", in: folder).refuses(
            "Mine/rezolve/scenarios/mine.yaml:6:11: rezolve has no route adressbook.list; did you mean “addressbook.list”?"
        )
    }

    @Test("a line of the log says what an intervention did, and which route a lost request meant")
    func interventions() async throws {
        let server = try await RunningServer()
        let faults = [#""respond":{"status":418}"#, #""fault":"reset""#].enumerated().map { index, effect in
            #"{"vendor":"rezolve","route":"rua.ping","call":\#(index + 1),\#(effect)}"#
        }
        _ = try await server.send(.put, "/_understudy/faults", [:], #"{"faults":[\#(faults.joined(separator: ","))]}"#)
        // One of the faults truncates the answer.
        for _ in 1...2 { _ = try? await server.get("/v2/credentials/ping") }
        _ = try await server.get("/v1/partner/317/customer/x/phonebook")
        let log = server.stop().log
        #expect(
            log.contains(
                #/418 rezolve rua.ping GET /v2/credentials/ping \#1 [0-9.e-]+ms \[armed fault at call 1: respond 418\]\n/#
            ))
        #expect(
            log.contains(#/rua.ping GET /v2/credentials/ping \#2 [0-9.e-]+ms \[armed fault at call 2: fault reset\]/#),
            "\(log)")
        #expect(log.contains("; the nearest route is rezolve phonebook.list: GET /api/v1/partner/{partner}"), "\(log)")
    }

    @Test("a refusal that a fault only delays keeps its sign and its reason, before what the fault did")
    func delayedRefusal() async throws {
        let server = try await RunningServer("--log", "off")
        let faults = [#""fault":{"delay":"1ms"}"#, #""fail":"service-unavailable""#].enumerated().map { index, effect in
            #"{"route":"rua.ping","call":\#(index + 1),\#(effect)}"#
        }
        _ = try await server.send(.put, "/_understudy/faults", [:], #"{"faults":[\#(faults.joined(separator: ","))]}"#)
        for _ in 1...2 { _ = try await server.get("/v2/credentials/ping") }
        let lines = try Program.run("journal", "--server", server.base).output.split(separator: "\n")
        expect(lines.count, is: 2)
        #expect(
            lines.first?.contains(#/ 401 x .* [\w-]+: found .*; armed fault at call 1: fault delay /#) == true,
            "\(lines)")
        #expect(
            lines.last?.contains(#/ 503 ! .*ping  +armed fault at call 2: fail service-unavailable$/#) == true,
            "\(lines)")
    }

    @Test("the clock moves back where its option says so with a hyphen") func clockBack() async throws {
        let server = try await RunningServer("--log", "off")
        _ = try Program.run("clock", "--now", "1800000000", "--freeze", "--server", server.base).exits(0)
        let moved = try Program.run("clock", "--advance", "-1h", "--server", server.base).exits(0)
        #expect(moved.output.contains("2027-01-15T07:00:00"), "\(moved)")
    }

    @Test("the log can be JSON, one object a line") func jsonLog() async throws {
        let server = try await RunningServer("--log", "json")
        _ = try await server.get("/v2/credentials/ping")
        let line = try #require(server.stop().log.split(separator: "\n").first)
        let entry = try JSON.parse(line.utf8)
        expect(entry["vendor"], is: "rezolve")
        expect(entry["route"], is: "rua.ping")
        expect(entry["status"], is: "401")
        expect(entry["failure"], is: "rua-token-missing")
    }

    @Test("a port that is taken ends the start with one line and 2") func portTaken() async throws {
        let server = try await RunningServer("--log", "off")
        let variables = ["UNDERSTUDY_PORT": "0", "UNDERSTUDY_CA_DIRECTORY": "ca"]
        for name in ["UNDERSTUDY_PORT", "UNDERSTUDY_HTTPS_PORT"] {
            try Program.run("serve", environment: variables.merging([name: server.port]) { $1 }).refuses(
                "port \(server.port) at 127.0.0.1 is already in use; choose another port, or 0 for a free one.\n")
        }
        server.stop().exits(0)
    }

    @Test("healthcheck finds a server by --server, its port file or its options, and says 0 if it is well, and else 1")
    func healthcheck() async throws {
        let server = try await RunningServer()
        let configured = try TemporaryFolder(["understudy.yaml": "port: \(server.port)\nhost: 0.0.0.0\n"])
        let written = ["UNDERSTUDY_PORT_FILE": "ports", "UNDERSTUDY_PORT": "1"]
        try Program.run("healthcheck", environment: written, in: server.folder).exits(0)
        try Program.run("healthcheck", environment: ["UNDERSTUDY_PORT_FILE": "none"], in: configured).exits(0)
        let well = try Program.run("healthcheck", "--server", server.base).exits(0)
        #expect(well.output.hasPrefix(#"{"status":"ok","version":"\#(Emulator.version)""#), "\(well.output)")
        server.stop().exits(0)
        let named = try Program.run("healthcheck", "--server", server.base).exits(1)
        for gone in [named, try Program.run("healthcheck", in: configured).exits(1)] {
            #expect(gone.complaint.hasPrefix("understudy: \(server.base)/_understudy/health: "), "\(gone.complaint)")
        }
    }

    @Test(
        "commands find a server at any address by its port file, whatever the environment says",
        arguments: [
            ("127.0.0.2", "http PORT 127.0.0.2", "http://127.0.0.2:PORT"),
            ("::1", "http PORT ::1", "http://[::1]:PORT"),
            ("::", "http PORT ::1", "http://[::1]:PORT"), ("0.0.0.0", "http PORT", "http://127.0.0.1:PORT"),
        ])
    func anyAddress(host: String, written: String, base: String) async throws {
        let server = try await RunningServer("--host", host, "--log", "off")
        expect(try server.folder.read("ports"), is: written.replacing("PORT", with: server.port) + "\n")
        let environment = ["UNDERSTUDY_PORT_FILE": "ports", "UNDERSTUDY_HOST": "0.0.0.0"]
        for command in [["healthcheck"], ["journal"], ["clock"]] {
            try Program.run(command, environment: environment, in: server.folder).exits(0)
        }
        let output = server.stop().output
        let address = base.replacing("PORT", with: server.port)
        #expect(output.contains("understudy journal --refused --server \(address)\n"), "\(output)")
        let family = ["::": "IPv6", "0.0.0.0": "IPv4"][host]
        expect(output.contains("It listens on every"), is: (family != nil))
        if let family { #expect(output.contains("It listens on every \(family) address of this machine; ")) }
    }

    @Test("a server without an address answers at both loopback addresses, and one with 127.0.0.1 at that alone")
    func bothLoopbacks() async throws {
        let server = try await RunningServer("--log", "off", "--control-port", "0")
        let lines = try server.folder.read("ports").split(separator: "\n")
        expect(lines.count, is: 2)
        for line in lines {
            let port = try #require(line.split(separator: " ").last)
            for host in ["127.0.0.1", "[::1]"] {
                let answer = try await HTTPClient.send(
                    url: "http://\(host):\(port)/v2/credentials/ping", within: .seconds(120))
                expect(answer.status, is: (line.hasPrefix("control") ? .notFound : .unauthorized), "\(host) \(line)")
            }
        }
        server.stop()
        let single = try await RunningServer("--log", "off", "--host", "127.0.0.1")
        await #expect(throws: ClientError.self) {
            try await HTTPClient.send(url: "http://[::1]:\(single.port)/", within: .seconds(120))
        }
    }

    @Test("token commands can ask a running server, in a sandbox, by its clock") func remoteTokens() async throws {
        let server = try await RunningServer("--log", "off", "--control-token", "t0ken")
        let options = ["--server", server.base, "--sandbox", "past", "--control-token", "t0ken"]
        let clock = try await server.send(
            .put, "/~past/_understudy/clock", ["authorization": "Bearer t0ken"], #"{"now":1800000000,"freeze":true}"#)
        expect(clock.status, is: .ok)
        let minted = try Program.run(["token", "mint", "rezolve", "login"] + options)
        #expect(
            minted.output.hasSuffix(
                ".zFuj3X0RjSH-JWz72sHSJVhdFtcKUwYV3Jk1jvNGnD-k44d7Q8Ww9snj1zi_JkaK9nTGpjY7AcWUttT-nIc0iQ\n"))
        try Program.run(["token", "explain"] + options, input: minted.output).exits(0)
        let refused = try Program.run("token", "mint", "rezolve", "login", "--server", server.base).exits(1)
        expect(refused.complaint, is: "understudy: The control API requires its bearer token.\n")
    }

    @Test("a log that nobody reads any more does not end the server") func closedLog() async throws {
        let server = try await RunningServer()
        try server.log.fileHandleForReading.close()
        try server.output.fileHandleForReading.close()
        for _ in 0..<3 { expect(try await server.get("/v2/credentials/ping").status, is: .unauthorized) }
    }

    @Test("a profile for all that is set by a flag beats the file's profile of one vendor")
    func profilePrecedence() async throws {
        let folder = try TemporaryFolder(["c.yaml": "profile: { rezolve: observed }\n"])
        let server = try await RunningServer(
            "--log", "off", "--config", "c.yaml", "--profile", "documented", in: folder)
        expect(try await server.json("/_understudy/settings")["switches"]?["rezolve.device-check"], is: "enforce")
    }

    @Test("switches and profiles of flags, environment and file hold from the first request on")
    func behaviour() async throws {
        let server = try await RunningServer(
            "--switch", "rezolve.error-envelope=bare", "--log", "off", environment: ["UNDERSTUDY_PROFILE": "observed"])
        let values = try await server.json("/_understudy/settings")
        expect(values["profile"], is: "observed")
        expect(values["switches"]?["rezolve.error-envelope"], is: "bare")
        expect(values["switches"]?["rezolve.device-check"], is: "off")
    }

    @Test(
        "a seed of flag, environment or file holds from the first request on: two servers give the same ids and times",
        arguments: [["--seed", "7"], []])
    func seed(_ options: [String]) async throws {
        var answers: Set<[UInt8]> = []
        for _ in 0..<2 {
            let folder = TemporaryFolder()
            if options.isEmpty { try folder.write("seed: 7\nsandbox-ttl: 2h\n", to: "understudy.yaml") }
            let server = try await RunningServer(["--log", "off"] + options, in: folder)
            let guest = try await server.send(.post, "/~a/v2/credentials/register/guest", RunningServer.apiKey)
            expect(guest.status, is: .ok)
            answers.insert(guest.body)
            let sandboxes = try await server.json("/_understudy/sandboxes")["sandboxes"]
            expect(sandboxes?[0]?["seed"], is: 7)
            expect(sandboxes?[1]?["clock"], is: "frozen")
            expect(sandboxes?[1]?["ttl_seconds"], is: (options.isEmpty ? 7200 : .null))
        }
        expect(answers.count, is: 1)
    }
}

@Suite("understudy serve --watch") struct WatchTests {
    private static let refused = "/api/v1/partner/317/customer/entity123/wallet"

    private func health(_ server: RunningServer) async throws -> JSON? {
        try await server.json("/_understudy/health")["reload"]
    }

    private func wait(_ server: RunningServer, until holds: (JSON?) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            if holds(try await health(server)) { return }
            try await Program.pause()
        }
        Issue.record("health still says \((try await health(server))?.text ?? "nothing")")
    }

    @Test("a changed file is taken over, a broken one is named in health and log, and the server goes on")
    func watch() async throws {
        let text = try Program.fixture("rezolve/failures.yaml")
        let folder = try TemporaryFolder([
            "Fixtures/rezolve/failures.yaml": text, "understudy.yaml": "watch: true\n",
        ])
        let server = try await RunningServer(in: folder)
        expect(try await health(server)?["watching"], is: true)
        try folder.write(text.replacing("Access is denied.", with: "No."), to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["count"] == 1 }
        let body = try await server.get(Self.refused).body
        expect(try JSON.parse(body)["message"], is: "No.")
        try folder.write("failures: 7\n", to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["problem"]?.string?.contains("rezolve/failures.yaml:1:11: ") == true }
        expect(try await server.get(Self.refused).body, is: body)
        try folder.write(text, to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["problem"] == .null && $0?["count"] == 2 }
        let end = server.stop().exits(0)
        #expect(end.log.contains(" notice The fixtures were reloaded: "))
        #expect(
            end.log.contains(
                " error The fixtures were not reloaded; the old ones stay active. Fixtures/rezolve/failures.yaml:1:11: found the number 7; expected a mapping"
            ), "\(end.log)")
    }

    @Test("a folder that appears later lies over the others from then on") func appears() async throws {
        let text = try Program.fixture("rezolve/failures.yaml").replacing("Access is denied.", with: "No.")
        let folder = TemporaryFolder()
        let server = try await RunningServer("--watch", in: folder)
        try folder.write(text, to: "Fixtures/rezolve/failures.yaml")
        try await wait(server) { $0?["count"] == 1 }
        expect(try await server.json(Self.refused)["message"], is: "No.")
        // A folder that has gone is reported: otherwise the layer below would silently show through.
        try FileManager.default.removeItem(atPath: folder.path + "/Fixtures")
        try await wait(server) { $0?["problem"]?.string?.contains("the folder of fixtures is gone") == true }
    }

    @Test("the folders in force are told at the start and in health, with what nobody reads")
    func layers() async throws {
        let folder = TemporaryFolder()
        for path in ["mine.yml", "rezolv/accounts.yaml", "ims/notes.txt", "ims/extra.yaml", "ims/contract/own.hurl"] {
            try folder.write("a: 1\n", to: "Fixtures/" + path)
        }
        let server = try await RunningServer(in: folder)
        let layers = try #require(try await server.json("/_understudy/health")["layers"]?.array)
        let own = folder.url.resolvingSymlinksInPath().path + "/Fixtures"
        expect(layers.count, is: 2)
        expect(layers[0]["folder"]?.string, is: own)
        expect(
            layers[0]["unread"],
            is: [
                "rezolv/; did you mean “rezolve”?", "ims/extra.yaml", "mine.yml; files of fixtures end in .yaml",
            ], "\(layers[0])")
        expect(layers[1]["unread"], is: [])
        let end = server.stop()
        #expect(end.output.contains("\nFixtures: \(own), over "), "\(end.output)")
        #expect(end.log.contains("understudy: nobody reads \(own)/rezolv/; did you mean “rezolve”?\n"), "\(end.log)")
    }
}
