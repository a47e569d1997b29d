import ArgumentParser
import Expectations
import Foundation
import Testing

@testable import UnderstudyCLI

@Suite("Wrong options and files") struct ConfigurationTests {
    @Test(
        "a wrong flag stops the start with the value and what would be right",
        arguments: [
            ["--port", "eighty"]: "--port eighty is not a port (0–65535).\n",
            ["--port", "65536"]: "--port 65536 is not a port (0–65535).\n",
            ["--https-port", "x"]: "--https-port x is not a port (0–65535).\n",
            ["--log", "xml"]: "--log xml is not a form of log (text, json, off).\n",
            ["--sandbox-ttl", "10"]: "--sandbox-ttl 10 is not a duration such as 90s, 10m or 2h.\n",
            ["--sandboxes", "0"]: "--sandboxes 0 is not a number of sandboxes (from 1).\n",
            ["--seed", "0x7"]: "--seed 0x7 is not a whole number from 0.\n",
            ["--state-limit", "0"]: "--state-limit 0 is not a number of megabytes (1–4096).\n",
            ["--state", "/tmp"]: "--state /tmp is a folder; expected a file, such as /tmp/understudy.db.\n",
            ["--state", "redis://ada:secret@localhost"]:
                "--state redis://… is no known kind of database; expected a file such as understudy.db, or postgres://user@host/database.\n",
            ["--state", "nowhere/understudy.db"]:
                "--state nowhere/understudy.db cannot be used: No such file or directory.\n",
            ["--drain", "soon"]: "--drain soon is not a duration up to 1h such as 5s.\n",
            ["--profile", "real"]: "--profile real is not a profile (documented, observed, or VENDOR=PROFILE).\n",
            ["--profile", "rezolv=observed"]:
                "no vendor is called rezolv; did you mean “rezolve”? (set by a flag).\n",
            ["--switch", "rezolve.device-chek=off"]:
                "no switch is called rezolve.device-chek; did you mean “rezolve.device-check”? (set by a flag).\n",
            ["--switch", "rezolve.device-check=maybe"]:
                "switch rezolve.device-check cannot be “maybe”; it can be enforce, off, if-present (set by a flag).\n",
            ["--switch", "rezolve"]: "--switch rezolve is not of the form VENDOR.NAME=VALUE.\n",
            ["--fixtures", "nowhere"]:
                "the fixture folder nowhere does not exist or is not a folder (named by an argument, --fixtures, UNDERSTUDY_FIXTURES or the configuration file).\n",
            ["--public-base", "http://x:99999"]:
                "--public-base http://x:99999 is not from-host, or scheme, host and port such as https://mocks.example.test:8443, without a slash at the end.\n",
            ["--state=~/understudy.db"]:
                "state ~/understudy.db begins with ~, which no shell has replaced here; write the whole path.\n",
            ["--host", "no such host"]: "\"no such host\" is not an address of this machine",
            ["--config", "mistyped.yaml"]: "mistyped.yaml: no such file; looked in .\n",
            ["--port", "0", "--https-port", "0", "--tls-cert", "cert.pem"]:
                "the certificate cert.pem has no key; give it with --tls-key as well, or leave out --tls-cert.\n",
            ["--port", "0", "--https-port", "0", "--tls-key", "key.pem"]:
                "the key key.pem has no certificate; give it with --tls-cert as well, or leave out --tls-key.\n",
            ["--port", "0", "--tls-key", "key.pem", "--tls-cert", "cert.pem"]:
                "the certificate cert.pem needs a port; give one with --https-port, such as 8443.\n",
            ["--port", "0", "--https-port", "0", "--tls-cert", "none.pem", "--tls-key", "none.pem"]:
                "the certificate none.pem cannot be read: No such file or directory",
            ["--port", "0", "--https-port", "0", "--tls-cert", "/etc/passwd", "--tls-key", "/etc/passwd"]:
                "/etc/passwd: there is no certificate in it: expected PEM",
        ] as [[String]: String])
    func flag(options: [String], complaint: String) throws { try Program.run(["serve"] + options).refuses(complaint) }

    @Test(
        "a wrong variable names where it was set, and what the file says",
        arguments: [
            "UNDERSTUDY_WATCH=yes": "is not true or false. Set in the environment.\n",
            "UNDERSTUDY_PORT=eighty":
                "is not a port (0–65535). Set in the environment; understudy.yaml says 8080.\n",
        ])
    func environment(variable: String, complaint: String) throws {
        let words = variable.split(separator: "=").map(String.init)
        let folder = try TemporaryFolder(["understudy.yaml": "port: 8080\n"])
        try Program.run("serve", environment: [words[0]: words[1]], in: folder).refuses("\(variable) \(complaint)")
    }

    @Test(
        "a file in another encoding, or with what nobody sees, is named in people's words",
        arguments: [
            [0xFF, 0xFE] + utf16("port: 1"): "understudy.yaml: the file is UTF-16; save it as UTF-8",
            utf16("port: 1"): "understudy.yaml: the file is UTF-16; save it as UTF-8",
            Array("a: 1\nport: ".utf8) + [0xE9]:
                "understudy.yaml:2:7: the file is not UTF-8: a byte 0xE9 stands here; save it as UTF-8",
            Array("port: \u{FEFF}1".utf8):
                "understudy.yaml:1:7: there is an invisible byte order mark here; remove it",
            Array("profile:\n\trezolve: observed".utf8):
                "understudy.yaml:2:1: a tab indents this line; YAML requires spaces",
        ] as [[UInt8]: String])
    func encoding(_ bytes: [UInt8], _ complaint: String) throws {
        let folder = TemporaryFolder()
        try Data(bytes).write(to: folder.url.appending(path: "understudy.yaml"))
        try Program.run("routes", in: folder).refuses(complaint + "\n")
    }

    @Test("a byte order mark at the beginning is no mistake") func mark() throws {
        let folder = try TemporaryFolder(["understudy.yaml": "\u{FEFF}profile: observed\n"])
        try Program.run("routes", in: folder).exits(0)
    }

    @Test("a variable that nobody knows is told, with the nearest that there is, and stops nothing")
    func unknownVariable() throws {
        // Those of the clients and of Compose are no options, but known.
        let known = ["UNDERSTUDY_PORT", "UNDERSTUDY_BINARY", "UNDERSTUDY_URL", "UNDERSTUDY_IMAGE", "UNDERSTUDY_KQUEUE"]
        let variables = Dictionary(uniqueKeysWithValues: (known + ["UNDERSTUDY_PROT"]).map { ($0, "1") })
        let run = try Program.run("routes", environment: variables).exits(0)
        expect(
            run.complaint,
            is:
                "understudy: UNDERSTUDY_PROT is set in the environment, and no option has that name; did you mean “UNDERSTUDY_PORT”?\n"
        )
    }

    @Test(
        "a key file that is missing is complained of where it is named",
        arguments: [["routes"], ["fixtures", "check", "Fixtures"], ["serve", "--port", "0"]])
    func missingKey(_ command: [String]) throws {
        let text = try Program.fixture("ims/accounts.yaml").replacing("keys/k1.pem", with: "keys/k0.pem")
        let folder = try TemporaryFolder(["Fixtures/ims/accounts.yaml": text])
        let line =
            try #require(
                text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("k0.pem") }) + 1
        let run = try Program.run(command, in: folder).exits(2)
        #expect(run.complaint.hasPrefix("understudy: Fixtures/ims/accounts.yaml:\(line):"), "\(run.complaint)")
        #expect(run.complaint.contains(": ims/keys/k0.pem: no such file; looked in Fixtures, "), "\(run.complaint)")
    }

    @Test(
        "a wrong configuration file names line and column",
        arguments: [
            "port: eighty\n": "understudy.yaml: port eighty is not a port (0–65535).\n",
            "host: x\nprot: 1\n": "understudy.yaml:2:1: unknown member “prot”; did you mean “port”?\n",
            "port: [1\n": "understudy.yaml:1:7: not YAML: there is no ] ",
            "profile: real\n": "understudy.yaml:1:10: “real” is not one of documented, observed\n",
            "switches:\n  rezolve.pan-check: sometimes\n":
                "understudy.yaml:2:22: switch rezolve.pan-check cannot be “sometimes”; it can be any-string, decrypt\n",
        ])
    func file(text: String, complaint: String) throws {
        try Program.run("serve", in: TemporaryFolder(["understudy.yaml": text])).refuses(complaint)
    }

    @Test(
        "every command shows help with an example",
        arguments: [
            ["serve"], ["token", "mint"], ["token", "explain"], ["token", "verify"], ["routes"], ["fixtures", "check"],
            ["ca"], ["healthcheck"],
        ])
    func help(command: [String]) throws {
        let run = try Program.run(command + ["--help"]).exits(0)
        #expect(run.output.contains("Example: understudy " + command.joined(separator: " ")), "\(run.output)")
    }
}

@Suite("understudy fixtures check") struct FixturesCheckTests {
    @Test("good fixtures are called good") func good() throws {
        let installed = try Program.fixture("rezolve/failures.yaml")
        let folder = try TemporaryFolder(["rezolve/failures.yaml": installed, "rezolve/notes.txt": ""])
        let run = try Program.run("fixtures", "check", folder.path).exits(0)
        let routes = "rezolve: 31 routes, 36 failures, good\n"
        #expect(run.output.hasPrefix("read: rezolve/failures.yaml\nnot read: rezolve/notes.txt\n" + routes))
        try folder.write(
            installed.replacing(/about: "[^"]*"/, with: "about: '${HERE}'", maxReplacements: 1),
            to: "rezolve/failures.yaml")
        let warned = try Program.run("fixtures", "check", folder.path).exits(0)
        #expect(
            warned.output.contains(": ${HERE} stands here as it is; no variable is replaced in fixtures\n" + routes),
            "\(warned.output)")
        #expect(run.output.split(separator: "\n").dropFirst(2).allSatisfy { $0.hasSuffix(" failures, good") })
    }

    @Test("what nobody reads is told with the hint that a start gives") func unread() throws {
        let folder = TemporaryFolder()
        for path in ["mine.yml", "rezolv/accounts.yaml", "ims/notes.txt", "ims/contract/own.hurl"] {
            try folder.write("GET {{base}}/a\nHTTP 404\n", to: path)
        }
        let run = try Program.run("fixtures", "check", folder.path).exits(0)
        expect(
            run.output.split(separator: "\n").prefix(4).map(String.init),
            is: [
                "read: ims/contract/own.hurl", "not read: rezolv/; did you mean “rezolve”?", "not read: ims/notes.txt",
                "not read: mine.yml; files of fixtures end in .yaml",
            ])
    }

    @Test("a folder of which nothing would be read is no set of fixtures") func nothingRead() throws {
        try Program.run("fixtures", "check", ".", in: TemporaryFolder(["rezolve/account.yaml": ""]))
            .refuses(". holds no file that would be read; expected one such as rezolve/accounts.yaml.\n")
    }

    @Test("of several folders each is judged, and one that is wrong makes the answer no") func several() throws {
        let folder = try TemporaryFolder([
            "wrong/rezolve/accounts.yaml": "partners: [\n",
            "good/rezolve/contract/a.hurl": "GET {{base}}/a\nHTTP 404\n",
        ])
        let run = try Program.run("fixtures", "check", "wrong", "good", "none", in: folder).exits(1)
        #expect(run.complaint.isEmpty, "\(run.complaint)")
        let parts = run.output.split(separator: "\n", omittingEmptySubsequences: false).split { $0.hasSuffix(":") }
        expect(parts.count, is: 3)
        expect(parts.first?.first?.hasPrefix("wrong/rezolve/accounts.yaml:1:11: not YAML: "), is: true)
        expect(parts.dropFirst().first?.first, is: "read: rezolve/contract/a.hurl")
        expect(parts.last?.first?.hasPrefix("the fixture folder none does not exist"), is: true)
        try Program.run("fixtures", "check", "good", "good", in: folder).exits(0)
    }

    @Test("all mistakes are told at once, by file and line, and a misspelt member is taken as it was meant")
    func allMistakes() throws {
        let folder = TemporaryFolder()
        func write(_ path: String, _ changes: (String, String)...) throws {
            var text = try Program.fixture(path)
            for (old, new) in changes { text = text.replacing(old, with: new, maxReplacements: 1) }
            try folder.write(text, to: path)
        }
        try write(
            "rezolve/accounts.yaml", ("partner_entity_id", "partner_entity_di"), ("api_key: \"a1", "apikey: \"a1"),
            ("id: 1001", "id: \"x\""))
        try write("rezolve/scenarios/busy-backend.yaml", ("every: 3", "evry: 3"), ("every: 5", "every: \"5\""))
        try write("okta/accounts.yaml", ("grants: [authorization_code", "grants: [authorisation_code"))
        try folder.write("routes: { mine: { method: GET, path: /ims/v1/me, respond: {} } }", to: "own/backend.yaml")
        let run = try Program.run("fixtures", "check", ".", in: folder).exits(2)
        expect(run.output, is: "")
        let lines = run.complaint.split(separator: "\n").map {
            $0.replacing(/:\d+:\d+:/, with: ":").replacing(/; expected some of .*/, with: "")
        }
        expect(
            lines.map(String.init),
            is: [
                "understudy: okta/accounts.yaml: grants has authorisation_code",
                "own/backend.yaml: found GET /ims/v1/me, to which me.get of ims answers; expected another path, or a fault with respond at that route",
                "rezolve/accounts.yaml: unknown member “apikey”; did you mean “api_key”?",
                "rezolve/accounts.yaml: unknown member “partner_entity_di”; did you mean “partner_entity_id”?",
                "rezolve/accounts.yaml: found the string “x”; expected a whole number",
                "rezolve/scenarios/busy-backend.yaml: unknown member “evry”; did you mean “every”?",
                "rezolve/scenarios/busy-backend.yaml: every is \"5\"; expected a whole number from 1",
                "What refers to an entry with a mistake may be listed only because of that.",
            ])
    }

    @Test("no more than twenty mistakes are listed") func manyMistakes() throws {
        let failures = (0..<25).map { "  nothing-\($0): {}\n" }.joined()
        let folder = try TemporaryFolder(["rezolve/failures.yaml": "failures:\n" + failures])
        let run = try Program.run("fixtures", "check", ".", in: folder).exits(2)
        let lines = run.complaint.split(separator: "\n")
        expect(lines.count, is: 22)
        #expect(lines[19].hasPrefix("rezolve/failures.yaml:21:3: unknown failure “nothing-19”"), "\(run.complaint)")
        expect(lines[20], is: "and 5 more")
    }

    @Test("a copy of older fixtures starts: missing failures are as installed, former members are remarked on")
    func olderCopy() async throws {
        let folder = TemporaryFolder()
        func write(_ path: String, _ old: some RegexComponent, _ new: String) throws {
            try folder.write(Program.fixture(path).replacing(old, with: new), to: path)
        }
        try write("rezolve/failures.yaml", /\n  rua-no-auth-key:\n(?:    .*\n)+/, "\n")
        try write(
            "bloomreach/accounts.yaml",
            /permissions:\n      customer_ids: \{ account_id: signed-only \}\n(?:      .*\n)*/,
            "signed_only_ids: [\"account_id\"]\n")
        try write("bloomreach/content/in-app-messages.yaml", /button_type: browser/, "button_action_type: browser")
        let run = try Program.run("fixtures", "check", ".", in: folder).exits(0)
        let warnings = run.output.split(separator: "\n").filter { $0.hasPrefix("warning: ") }
            .map { String($0.replacing(/:\d+:\d+:/, with: ":")) }
        expect(
            warnings.filter { !$0.contains("pixels") },
            is: [
                "warning: bloomreach/accounts.yaml: signed_only_ids is now permissions; write permissions: { customer_ids: { account_id: signed-only } }",
                "warning: bloomreach/content/in-app-messages.yaml: no app reads this member; it is button_type now",
                "warning: rezolve/failures.yaml: these failures are missing and are as installed: rua-no-auth-key",
            ])
        let stopped = try await RunningServer("--fixtures", ".", in: folder).stop().exits(0)
        #expect(stopped.log.contains("are as installed: rua-no-auth-key"), "\(stopped.log)")
    }
}

/// The text in UTF-16, low byte first.
private func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }

@Suite("Arguments of understudy serve") struct PlainArgumentsTests {
    /// Every option of `serve`, each with values of its own.
    private static func arguments() throws -> [String] {
        let help = ServeCommand.helpMessage(columns: 200)
        let flags = ["--watch", "--until-stdin-closes", "--print-config", "--version", "--help"]
        let listed = help.matches(of: /(?m)^  (--[a-z-]+)/).map { String($0.1) }
        #expect(listed.count > 25)
        return listed.filter { !["--version", "--help"].contains($0) }.flatMap { name in
            flags.contains(name) ? [name] : [name, "1\(name.dropFirst(2))", name, "2"]
        }
    }

    @Test("plain ones are read as ArgumentParser reads them") func plain() throws {
        let arguments = try Self.arguments()
        let parsed = try #require(try ServeCommand.parseAsRoot(arguments) as? ServeCommand)
        let plain = try #require(ServeCommand(plain: arguments))
        expect("\(plain)", is: "\(parsed)")
        let none = try #require(try ServeCommand.parseAsRoot([]) as? ServeCommand)
        expect("\(try #require(ServeCommand(plain: [])))", is: "\(none)")
    }

    @Test(
        "all others are left to it",
        arguments: [
            ["--port"], ["--port=0"], ["--port=0", "1"], ["port"], ["--port", "-1"], ["--port", "--watch"],
            ["--colour", "1"],
            ["--help"], ["-h"], ["--"], ["--watch", "yes"], ["--watch=true"], ["--port", "0", "--"], ["-"], [""],
        ])
    func others(_ arguments: [String]) {
        let command = ServeCommand(plain: arguments)
        expect(command.map { "\($0)" }, is: nil)
    }
}
