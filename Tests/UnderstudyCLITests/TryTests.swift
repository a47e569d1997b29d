import Expectations
import JSON
import Testing

@Suite("understudy try") struct TryTests {
    /// The curl lines of an output, as they are printed.
    private func calls(in output: String) -> [String] {
        let lines = output.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
        return lines.filter { $0.hasPrefix("curl -i ") }
    }

    /// Runs a line as a shell does.
    private func run(_ line: String) throws -> (status: String, body: String) {
        let text = try Program.run([], under: "\(line) --silent --show-error").output
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
        return (String(text.prefix { $0 != "\r" && $0 != "\r\n" }), String(parts.last ?? ""))
    }

    @Test("each vendor has a call that is accepted, one that is refused, and the command that says why")
    func allVendors() async throws {
        let server = try await RunningServer("--log", "off")
        let printed = try Program.run("try", environment: ["UNDERSTUDY_URL": server.base]).exits(0)
        let calls = calls(in: printed.output)
        expect(calls.count, is: 10)
        for (index, call) in calls.enumerated() {
            let status = try run(call).status
            expect(status.hasPrefix("HTTP/1.1 2"), is: index % 2 == 0, "\(call): \(status)")
        }
        let why = try Program.run("journal", "--refused", "--server", server.base)
        expect(why.output.split(separator: "\n").count, is: 5, why.output)
        #expect(printed.output.contains("  understudy journal --refused --last 1 --vendor comapi\n"))
    }

    @Test("a vendor alone comes with its sample accounts, in the named sandbox and by the address; no vendor is misuse")
    func vendor() async throws {
        let server = try await RunningServer("--log", "off", environment: ["UNDERSTUDY_SEED": "1"])
        let printed = try Program.run("try", "rezolve", "--server", server.base + "/", "--sandbox", "mine").exits(0)
        #expect(printed.output.contains(" entity id       entity123\n"), "\(printed.output)")
        // Neither auth key of the sample partners is shown.
        #expect(!printed.output.contains("understudy-test-key"))
        #expect(printed.output.contains(" --vendor rezolve --server \(server.base)/ --sandbox mine\n"))
        let calls = calls(in: printed.output)
        expect(calls.count, is: 2)
        let registered = try JSON.parse(try run(calls[0]).body.utf8)
        expect(registered["partner_id"], is: "317")
        expect(registered["entity_id"]?.string?.count, is: 36)
        expect(try run(calls[1]).status, is: "HTTP/1.1 403 Forbidden")
        let why = try Program.run(
            "journal", "--refused", "--last", "1", "--vendor", "rezolve", "--server", server.base, "--sandbox", "mine")
        #expect(why.output.contains("signature: "), "\(why.output)")
        try Program.run("try", "rezolv", "--server", server.base).refuses(
            "no vendor is called rezolv; did you mean “rezolve”?\n")
    }

    @Test("with a port of their own for control calls, and with a token, the calls go to the vendors")
    func separatePort() async throws {
        let server = try await RunningServer(
            "--log", "off", "--control-port", "0", "--control-token", "@/proc/sys/kernel/ostype")
        let output = server.banner()
        #expect(output.contains("Both need the control token, in UNDERSTUDY_CONTROL_TOKEN.\n"), "\(output)")
        let control = try #require(output.firstMatch(of: /Dashboard: (http:\/\/[0-9.:]+)\/_understudy\//)).1
        let printed = try Program.run(
            "try", "ims", "--server", String(control), environment: ["UNDERSTUDY_CONTROL_TOKEN": "Linux"]
        ).exits(0)
        #expect(calls(in: printed.output)[0].contains(" \(server.base)/ims/v1/me "), "\(printed.output)")
        let denied = try Program.run("try", "ims", "--server", String(control)).exits(1)
        expect(denied.complaint, is: "understudy: The control API requires its bearer token.\n")
    }
}

@Suite("understudy serve --print-config") struct PrintConfigTests {
    @Test("each option has its value and where that was set, and secrets are masked") func rows() throws {
        let folder = try TemporaryFolder([
            "understudy.yaml":
                "log: json\nport: 1\nsandboxes: 9\n\nswitches:\n  rezolve.device-check: off\nprofile: observed\n"
        ])
        let shown = try Program.run(
            [
                "serve", "--print-config", "--port=0", "--watch", "--allow-host", "a", "--allow-host", "b", "--switch",
                "ims.jwks-cooldown-seconds=1", "--control-token", "t0ken",
            ],
            environment: [
                "UNDERSTUDY_PORT": "2", "UNDERSTUDY_SANDBOXES": "8", "UNDERSTUDY_STATE": "postgres://me:secret@db/x",
            ], in: folder
        ).exits(0)
        let rows = shown.output.split(separator: "\n").map { String($0).replacing(#/ {2,}/#, with: "|") }
        for row in [
            "host|127.0.0.1, and ::1 if there is one|default", "port|0|flag", "log|json|understudy.yaml:1",
            "sandboxes|8|UNDERSTUDY_SANDBOXES", "watch|true|flag", "until-stdin-closes|false|default",
            "allow-host|a, b|flag", "control-token|***|flag", "state|postgres://me:***@db/x|UNDERSTUDY_STATE",
            "switch|ims.jwks-cooldown-seconds=1|flag", #"switch|{"rezolve.device-check":"off"}|understudy.yaml:6"#,
            "profile|observed|understudy.yaml:7", "seed|none|default", "tls-key|none|default",
        ] {
            #expect(rows.contains(row), "\(row) in \(shown.output)")
        }
        #expect(!shown.output.contains("secret") && !shown.output.contains("t0ken"))
        expect(Set(rows.map { $0.prefix { $0 != "|" } }).count, is: 28, shown.output)
    }

    @Test("a wrong option is misuse still") func misuse() throws {
        try Program.run("serve", "--print-config", "--prot", "1").exits(2)
    }
}
