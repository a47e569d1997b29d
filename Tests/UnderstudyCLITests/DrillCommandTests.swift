import Expectations
import JSON
import Testing

@Suite("understudy drill and coverage") struct DrillCommandTests {
    private let folder: TemporaryFolder

    /// An app that signs in, reads with an expired token once the clock was moved, and does what its words say then.
    private static let app = """
        import json, os, sys, urllib.error, urllib.request
        base = os.environ["UNDERSTUDY_URL"]
        key = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
        def call(method, path, token=None, body=None):
            fields = {"x-rezolve-partner-apikey": key, "x-rezolve-device-id": "dev-1"}
            if token: fields["authorization"] = token
            request = urllib.request.Request(base + path, body, fields, method=method)
            try:
                with urllib.request.urlopen(request) as answer: return answer.status, answer.headers
            except urllib.error.HTTPError as error: return error.code, error.headers
        if "silent" in sys.argv: sys.exit(0)
        if "failing" in sys.argv: sys.exit("sign-in is broken")
        assert f"{base}/x" in sys.argv, sys.argv
        user = {"username": "ada@example.test", "password": "not-a-secret-1", "deviceId": "dev-1"}
        status, fields = call("POST", "/v2/credentials/login", None, json.dumps(user).encode())
        token = fields["authorization"]
        book = "/api/v1/partner/317/customer/entity123/addressbook"
        status, fields = call("GET", book, token)
        while status == 401 and "endless" in sys.argv: status, fields = call("GET", book, token)
        if status == 401 and "renews" in sys.argv:
            status, fields = call("GET", "/v2/credentials/ping", token)
            status, fields = call("GET", book, fields["authorization"])
        if "hanging" in sys.argv and status == 401:
            import subprocess
            subprocess.run(["sleep", "600"])
        """

    private static func drill(_ name: String, _ rest: String) -> String {
        """
        drill: rezolve-\(name)
        about: The token expires between two calls.
        vendor: rezolve
        client: Renews once, and repeats the refused call.
        source: RFC 6750, section 3.1
        severity: high
        \(rest)
        """
    }

    init() throws {
        folder = TemporaryFolder()
        try folder.write(Self.app, to: "app.py")
        try folder.write(
            Self.drill(
                "expires",
                """
                states:
                  first: [{ on: rua.login, advance: 31m, go: done }]
                  done: []
                expect:
                  - sequence: [{ failure: token-expired }, { route: rua.ping, status: 2xx }, { status: 2xx, token: other }]
                    otherwise: It does not renew.
                """), to: "Fixtures/rezolve/drills/expires.yaml")
        try folder.write(
            Self.drill(
                "down",
                """
                states:
                  first: [{ on: wallet.list, fault: reset }]
                expect: [{ at_most: 3, where: { route: wallet.list }, otherwise: It asks without end. }]
                """), to: "Fixtures/rezolve/drills/down.yaml")
        try folder.write(
            Self.drill(
                "reads",
                """
                reached: { route: addressbook.list }
                expect: [{ at_most: 3, where: { route: addressbook.list }, otherwise: It asks without end. }]
                """), to: "Fixtures/rezolve/drills/reads.yaml")
    }

    /// Drills the app for the behaviours named, or for those above: the program has others of its own.
    private func drill(_ options: String..., app: String) throws -> Program.Run {
        let own = ["rezolve-down", "rezolve-expires", "rezolve-reads"]
        let named = options.contains("--only") ? options : options + own.flatMap { ["--only", $0] }
        return try Program.run(["drill"] + named + ["--", "python3", "app.py", "{url}/x", app], in: folder)
    }

    @Test("a correct app holds where it meets a behaviour, and what it does not meet is not held") func held() throws {
        let run = try drill("--parallel", "3", app: "renews").succeeds()
        let lines = run.output.split(separator: "\n")
        expect(lines.count, is: 4, "\(run.output)")
        #expect(lines[0].hasPrefix("rezolve-down     not reached"), "\(run.output)")
        #expect(lines[1].hasPrefix("rezolve-expires  held         #1"), "\(run.output)")
        #expect(lines[2].hasPrefix("rezolve-reads    held         #2"), "\(run.output)")
        #expect(lines[3].hasPrefix("3 behaviours: 2 held, 0 broken, 1 not reached; "))
    }

    @Test("a broken one is shown with the calls, what is wrong, and what a correct client does; a baseline excuses it")
    func broken() throws {
        let run = try drill("--json", "--only", "rezolve-expires", "--junit", "drill.xml", app: "gives-up").exits(1)
        expect(run.complaint, is: "")
        let report = try JSON.parse(Array(run.output.utf8))
        let item = report["behaviours"]?[0]
        expect(report["broken"], is: 1)
        expect(item?["result"], is: "broken")
        expect(item?["faults"]?[0]?["otherwise"], is: "It does not renew.")
        expect(item?["entries"]?.array?.map { $0["id"] }, is: [1, 2])
        let junit = try folder.read("drill.xml")
        #expect(junit.contains(#"<testsuites name="drill" tests="1" failures="1""#), "\(junit)")
        #expect(junit.contains(#"<failure message="It does not renew.">"#), "\(junit)")
        try folder.write(run.output, to: "before.json")
        let again = try drill("--baseline", "before.json", app: "gives-up").exits(0)
        #expect(again.output.contains("broken as before  rezolve-expires (high): The token expires"), "\(again.output)")
        #expect(again.output.contains("  A correct client: Renews once, and repeats the refused call. (RFC 6750"))
        #expect(again.output.contains("1 broken, 1 not reached (0 of them new)"))
    }

    @Test("an app that calls without end, or does not end, is ended with its children") func ended() throws {
        let endless = try drill("--only", "rezolve-expires", app: "endless").exits(1)
        #expect(endless.output.contains("The command was ended: its calls fill the journal."), "\(endless.output)")
        let start = ContinuousClock.now
        let hanging = try drill("--only", "rezolve-expires", "--time-limit", "3s", app: "hanging")
        #expect(hanging.output.contains("The command was ended: it did not end within 3 s."), "\(hanging.output)")
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test("at a fixed address one run comes after the other, and finds a fresh server there")
    func fixed() async throws {
        // A port that was free a moment ago.
        let server = try await RunningServer()
        server.stop()
        let run = try drill("--listen", "127.0.0.1:\(server.port)", app: "renews").exits(0)
        #expect(run.output.contains("3 behaviours: 2 held, 0 broken, 1 not reached"), "\(run.output)")
    }

    @Test("what is missing is said before any behaviour is armed") func missing() throws {
        let condition = "without any behaviour armed the command must succeed and call a vendor, and "
        try drill(app: "silent").refuses(
            condition
                + "it called no vendor; expected calls of rezolve to the address in UNDERSTUDY_URL, or to {url} in the command, or to that of --listen.\n"
        )
        try drill(app: "failing").refuses(
            condition + "its exit code was 1.\nThe last lines of its output:\n  sign-in is broken\n")
    }

    @Test(
        "misuse is said in a sentence",
        arguments: [
            "drill": "there is no command; expected it after --, such as understudy drill -- npm test",
            "drill -- no-such-program-here":
                "the command no-such-program-here was not found; expected a program that drives the app, after --.",
            "drill --only rezolve-expire -- true": "no drill is called rezolve-expire; did you mean “rezolve-expires”?",
            "drill --vendor rezolv -- true": "no vendor is called rezolv; did you mean “rezolve”?",
            "drill --listen 8080x -- true":
                "--listen 8080x is not an address; expected HOST:PORT such as 127.0.0.1:8080.",
            "drill --parallel 0 -- true": "--parallel is 0; expected 1 to 64.",
            "drill --time-limit soon -- true": "--time-limit soon is not a duration such as 500ms or 3s.",
            "drill --baseline app.py -- true":
                "the baseline app.py is not a report; expected the JSON that understudy drill --json writes.",
        ])
    func misuse(_ line: String, _ complaint: String) throws {
        try Program.run(Program.words(line), in: folder).refuses(complaint + "\n")
    }

    @Test("coverage says what was met, and fails below a share") func coverage() async throws {
        let server = try await RunningServer()
        let nothing = try Program.run("coverage", "--server", server.base).exits(1)
        expect(nothing.complaint, is: "understudy: no call has met any vendor.\n")
        _ = try await server.get("/v2/credentials/ping")
        let run = try Program.run(
            "coverage", "--server", server.base, "--at-least", "90%", "--junit", "coverage.xml", in: folder
        ).exits(1)
        #expect(run.output.hasPrefix("1 of "), "\(run.output)")
        #expect(run.complaint.hasPrefix("understudy: rezolve: 2 of "), "\(run.complaint)")
        #expect(try folder.read("coverage.xml").contains(#"<testsuites name="coverage" tests="1" failures="1""#))
        try Program.run("coverage", "--server", server.base, "--at-least", "1").exits(0)
        try Program.run("coverage", "--server", server.base, "--at-least", "all").refuses(
            "--at-least all is not a share; expected one from 0% to 100%.\n")
    }
}
