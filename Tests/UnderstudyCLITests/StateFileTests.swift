import Expectations
import Foundation
import HTTPEngine
import HTTPTypes
import JSON
import Testing

/// `serve --import FILE --export-on-exit FILE` with real processes that end in different ways.
@Suite("State over a restart") struct StateFileTests {
    private static let options = ["--log", "off", "--import", "state.json", "--export-on-exit", "state.json"]
    private static let user = #"{"username":"qa@example.test","password":"qa-pass-1","email":"qa@example.test"}"#
    private static let login = #"{"username":"qa@example.test","password":"qa-pass-1","deviceId":"d"}"#

    private func send(
        _ method: HTTPRequest.Method, _ server: RunningServer, _ path: String, _ fields: [String: String] = [:],
        _ body: String = ""
    ) async throws -> ClientResponse {
        var lines: HTTPFields = [
            try #require(.init("x-rezolve-partner-apikey")): "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
        ]
        for (name, value) in fields { lines[try #require(HTTPField.Name(name))] = value }
        return try await HTTPClient.send(
            method: method, url: server.base + path, fields: lines, body: Array(body.utf8), within: .seconds(30))
    }

    private func publicKey(_ server: RunningServer, sandbox: String = "") async throws -> String {
        let answer = try await send(.post, server, sandbox + "/v2/credentials/login", [:], Self.login)
        expect(answer.status, is: .ok)
        let entity = try #require(try JSON.parse(answer.body)["sdkEntity"]?.string)
        let token = try #require(answer.fields[.authorization])
        let key = try await send(
            .get, server, "\(sandbox)/api/v1/partner/317/customer/\(entity)/publickey",
            ["authorization": token, "x-rezolve-device-id": "d"])
        expect(key.status, is: .ok)
        return String(decoding: key.body, as: UTF8.self)
    }

    private func end(_ server: RunningServer, by signal: Int32) -> (status: Int32, output: String) {
        kill(server.process.processIdentifier, signal)
        let text = String(decoding: server.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        server.process.waitUntilExit()
        return (server.process.terminationStatus, text)
    }

    @Test(
        "a restarted server keeps its users: each can sign in and has the public key of before",
        arguments: [SIGTERM, SIGINT])
    func restart(_ signal: Int32) async throws {
        let folder = TemporaryFolder()
        let first = try await RunningServer(Self.options, in: folder)
        for sandbox in ["", "/~team-a"] {
            expect(
                try await send(.post, first, sandbox + "/v2/credentials/register", [:], Self.user).status, is: .created)
        }
        let keys = [try await publicKey(first), try await publicKey(first, sandbox: "/~team-a")]
        #expect(keys[0] != keys[1])
        let end = end(first, by: signal)
        expect(end.status, is: 0)
        #expect(end.output.contains("There is no state.json yet; the server starts with the fixtures only."))
        #expect(end.output.hasSuffix("The state of 2 sandboxes was written to state.json.\n"))

        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/state.json")
        expect((attributes[.posixPermissions] as? NSNumber)?.intValue, is: 0o600)
        expect(try leftovers(folder), is: [])

        let second = try await RunningServer(Self.options, in: folder)
        expect(try await publicKey(second), is: keys[0])
        expect(try await publicKey(second, sandbox: "/~team-a"), is: keys[1])
        let again = self.end(second, by: signal)
        expect(again.status, is: 0)
        #expect(again.output.contains("The state of 2 sandboxes was read from state.json."))
    }

    @Test("a database outlives its server, however that ends, and goes into a file and out of it again")
    func database() async throws {
        let folder = TemporaryFolder()
        let first = try await RunningServer(["--log", "off", "--state", "u.db"], in: folder)
        for sandbox in ["", "/~team-a"] {
            expect(
                try await send(.post, first, sandbox + "/v2/credentials/register", [:], Self.user).status, is: .created)
        }
        let keys = [try await publicKey(first), try await publicKey(first, sandbox: "/~team-a")]
        let busy = try Program.run(["state", "export", "u.db", "a.json"], in: folder)
        expect(busy.status, is: 2)
        expect(
            busy.complaint,
            is:
                "understudy: --state u.db: the process \(first.process.processIdentifier) uses it. Name another file, or end that process.\n"
        )
        expect(end(first, by: SIGTERM).status, is: 0)
        let exported = try Program.run(["state", "export", "u.db", "a.json"], in: folder)
        expect(exported.status, is: 0)
        expect(exported.output, is: "The state of 2 sandboxes was written to a.json.\n")
        let imported = try Program.run(["state", "import", "v.db", "a.json"], in: folder)
        expect(imported.output, is: "The state of 2 sandboxes was written to v.db.\n")
        expect(try Program.run(["state", "export", "v.db", "b.json"], in: folder).status, is: 0)
        let documents = try ["a.json", "b.json"].map { try JSON.parse(Array(folder.read($0).utf8), maximumDepth: 200) }
        expect(documents[0]["sandboxes"], is: documents[1]["sandboxes"])
        // What the database holds goes into the file at the end, too, though nobody names it here.
        let second = try await RunningServer(
            ["--log", "off", "--state", "v.db", "--export-on-exit", "c.json"], in: folder)
        expect(try await publicKey(second, sandbox: "/~team-a"), is: keys[1])
        #expect(end(second, by: SIGTERM).output.hasSuffix("The state of 2 sandboxes was written to c.json.\n"))
        expect(try JSON.parse(Array(folder.read("c.json").utf8), maximumDepth: 200)["sandboxes"]?.array?.count, is: 2)
        let third = try await RunningServer(["--log", "off", "--state", "v.db"], in: folder)
        expect(try await publicKey(third), is: keys[0])
        expect(end(third, by: SIGTERM).status, is: 0)
    }

    @Test("what is no database or no file is said, and nothing is made") func wrongPlaces() throws {
        let folder = TemporaryFolder()
        try folder.write("{}", to: "state.json")
        for (arguments, complaint) in [
            (["export", "none.db", "a.json"], "there is no database none.db."),
            (["import", "u.db", "none.json"], "there is no file none.json."),
            (["export", "state.json", "a.json"], "--state state.json cannot be used: file is not a database."),
            (
                ["import", "http://a/b", "state.json"],
                "--state http://… is no known kind of database; expected a file such as understudy.db, or postgres://user@host/database."
            ),
        ] {
            let run = try Program.run(["state"] + arguments, in: folder)
            expect(run.status, is: 2)
            expect(run.complaint, is: "understudy: \(complaint)\n")
        }
        expect(try FileManager.default.contentsOfDirectory(atPath: folder.path), is: ["state.json"])
    }

    private func leftovers(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".partial") }
    }

    @Test("a server that is killed while it writes leaves a complete file, the old one or the new one")
    func killed() async throws {
        let folder = TemporaryFolder()
        let customers = (0..<2000).map { number in
            #"{"entity":"e\#(number)","partner":"317","partner_entity_id":"u\#(number)","created":1800000000.5}"#
        }
        let old =
            #"{"understudy_state":1,"sandboxes":[{"name":"default","state":{"rezolve":{"owners":[],"users":[],"#
            + #""key_pairs":[],"removed_customers":[],"removed_users":[],"last_user_id":1001,"customers":[\#(customers.joined(separator: ","))]}}}]}"#
        try folder.write(old, to: "state.json")
        let server = try await RunningServer(Self.options, in: folder)
        expect(try await send(.post, server, "/v2/credentials/register", [:], Self.user).status, is: .created)
        kill(server.process.processIdentifier, SIGTERM)
        let deadline = ContinuousClock.now + .seconds(30)
        while try leftovers(folder).isEmpty, server.process.isRunning, ContinuousClock.now < deadline {
            await Task.yield()
        }
        kill(server.process.processIdentifier, SIGKILL)
        server.process.waitUntilExit()
        let text = try folder.read("state.json")
        let isNew = try JSON.parse(text.utf8)["sandboxes"]?[0]?["state"]?["rezolve"]?["customers"]?.array?.count == 2001
        #expect(text == old || isNew)
        // If the server was killed in time, its port file is still there.
        try? FileManager.default.removeItem(atPath: folder.path + "/ports")
        // Whatever other files are left, the next start has the users.
        let next = try await RunningServer(Self.options, in: folder)
        let exported = try await send(.get, next, "/_understudy/state/rezolve")
        expect(try JSON.parse(exported.body)["customers"]?.array?.count, is: (isNew ? 2003 : 2002))
        expect(end(next, by: SIGTERM).status, is: 0)
    }

    @Test("a target that nothing could take the place of, and more sandboxes than there may be, stop the start")
    func unusable() throws {
        let folder = TemporaryFolder()
        let fifo = try Program.run("serve", "--port", "0", "--export-on-exit", "/dev/null", in: folder)
        expect(fifo.status, is: 2)
        #expect(fifo.complaint.contains("it is no regular file"))
        let entries = ["a", "b", "c"].map { #"{"name":"\#($0)","state":{}}"# }.joined(separator: ",")
        try folder.write(#"{"understudy_state":1,"sandboxes":[\#(entries)]}"#, to: "state.json")
        let run = try Program.run("serve", "--port", "0", "--import", "state.json", "--sandboxes", "2", in: folder)
        expect(run.status, is: 2)
        #expect(run.complaint.contains("the file has 3 sandboxes, and there may be 2; allow more with --sandboxes"))
    }

    @Test("what a killed server left of a file is removed at the next start") func leftover() throws {
        let folder = TemporaryFolder()
        try folder.write("half", to: ".state.json.1f.partial")
        let run = try Program.run(
            "serve", "--port", "0", "--export-on-exit", "state.json", "--import", "state.json", "--scenario", "none",
            in: folder)
        expect(run.status, is: 2, "it ends by the scenario, behind the look at the file")
        expect(try leftovers(folder), is: [])
    }

    @Test("a disk that takes no more leaves the old file as it was, and says so") func full() async throws {
        let folder = TemporaryFolder()
        try folder.write("the old content\n", to: "state.json")
        // A file size limit with its signal ignored: writing fails midway, as on a full disk.
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c",
            #"trap '' XFSZ; ulimit -f 1; exec "$0" serve --port 0 --port-file ports --log off --export-on-exit state.json"#,
            Program.path,
        ]
        process.environment = Program.environment
        process.currentDirectoryURL = folder.url
        let log = Pipe()
        (process.standardError, process.standardOutput) = (log, FileHandle.nullDevice)
        try process.run()
        let deadline = ContinuousClock.now + .seconds(300)
        while !FileManager.default.fileExists(atPath: folder.path + "/ports"), process.isRunning,
            ContinuousClock.now < deadline
        {
            try await Program.pause()
        }
        let base = "http://127.0.0.1:\(try folder.read("ports").split(separator: " ")[1].dropLast())"
        let answer = try await HTTPClient.send(
            method: .post, url: base + "/v2/credentials/register",
            fields: [try #require(.init("x-rezolve-partner-apikey")): "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"],
            body: Array(Self.user.utf8), within: .seconds(120))
        expect(answer.status, is: .created)
        process.terminate()
        let complaint = String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        expect(process.terminationStatus, is: 1)
        #expect(
            complaint.hasSuffix(
                "understudy: the state cannot be written to state.json: File too large. The previous content of the file is unchanged.\n"
            ), "\(complaint)")
        expect(try folder.read("state.json"), is: "the old content\n")
        expect(try leftovers(folder), is: [])
    }

    @Test(
        "a wrong file or folder stops the start",
        arguments: [
            (
                "--import none.json",
                "--import none.json: there is no such file. On a first start that is fine only if --export-on-exit names the same file."
            ),
            ("--import none.json --export-on-exit other.json", "--import none.json: there is no such file."),
            (
                "--export-on-exit nowhere/state.json",
                "the state cannot be written to nowhere/state.json: No such file or directory"
            ),
            ("--export-on-exit .", "the state cannot be written to .: Is a directory"),
            (
                "--import broken.json --export-on-exit broken.json",
                "broken.json:2:1: not JSON: the text ends inside a value."
            ),
            ("--import wrong.json", "wrong.json: sandboxes: found the number 7; expected a list"),
        ])
    func refused(_ options: String, _ complaint: String) throws {
        let folder = TemporaryFolder()
        try folder.write("{\"understudy_state\":1,\n", to: "broken.json")
        try folder.write(#"{"understudy_state":1,"sandboxes":7}"#, to: "wrong.json")
        let run = try Program.run(Program.words("serve --port 0 " + options), in: folder)
        expect(run.status, is: 2)
        #expect(run.complaint.hasPrefix("understudy: " + complaint), "\(run.complaint)")
        expect(try folder.read("broken.json"), is: "{\"understudy_state\":1,\n")
        expect(try leftovers(folder), is: [])
    }

    @Test("what cannot be read is told at the start, and stands in the file at the end as it stood there before")
    func setAside() async throws {
        let folder = TemporaryFolder()
        let state = #"{"rezolve":{"customers":7,"users":[]},"ims":{"issuers":[],"users":[],"last_user":77}}"#
        try folder.write(
            #"{"understudy_state":1,"sandboxes":[{"name":"default","state":\#(state)}]}"#, to: "state.json")
        for _ in 0..<2 {
            let server = try await RunningServer(Self.options, in: folder)
            let end = end(server, by: SIGTERM)
            expect(end.status, is: 0)
            #expect(
                end.output.contains(
                    """
                    1 part of it cannot be read and was set aside. The next export keeps them as they are, in “set_aside”.
                      sandbox default, rezolve: sandboxes[0].state.rezolve: member “owners” is missing

                    """), "\(end.output)")
            let saved = try JSON.parse(Array(try folder.read("state.json").utf8))
            expect(saved["set_aside"]?[0]?["value"], is: (try JSON.parse(Array(state.utf8)))["rezolve"])
            expect(saved["sandboxes"]?[0]?["state"]?["ims"]?["last_user"], is: 77)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/state.json")
            expect((attributes[.posixPermissions] as? NSNumber)?.intValue, is: 0o600)
        }
    }

    @Test("environment and configuration file name the files as well, and a link stays a link")
    func otherSources() async throws {
        let folder = TemporaryFolder()
        try folder.write("export-on-exit: link.json\n", to: "understudy.yaml")
        try folder.write("old", to: "data/target.json")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.json", withDestinationPath: "data/target.json")
        let first = try await RunningServer(["--log", "off"], in: folder)
        expect(try await send(.post, first, "/v2/credentials/register", [:], Self.user).status, is: .created)
        expect(end(first, by: SIGTERM).status, is: 0)
        #expect(try folder.read("data/target.json").contains("qa@example.test"))
        expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/link.json"),
            is: "data/target.json")
        let second = try await RunningServer(
            ["--log", "off"], environment: ["UNDERSTUDY_IMPORT": "data/target.json"], in: folder)
        _ = try await publicKey(second)
        expect(end(second, by: SIGTERM).status, is: 0)
    }

    @Test(
        "a link to what is not there yet stays a link, and its target is written",
        arguments: ["data/new.json", "further.json", "ABSOLUTE/data/new.json"])
    func danglingLink(_ target: String) async throws {
        let folder = TemporaryFolder()
        try folder.write("", to: "data/other")
        let manager = FileManager.default
        let first = target.replacing("ABSOLUTE", with: folder.path)
        try manager.createSymbolicLink(atPath: folder.path + "/link.json", withDestinationPath: first)
        // A link to a link; the second is relative to its own location.
        try manager.createSymbolicLink(atPath: folder.path + "/further.json", withDestinationPath: "data/new.json")
        let server = try await RunningServer(["--log", "off", "--export-on-exit", "link.json"], in: folder)
        expect(end(server, by: SIGTERM).status, is: 0)
        #expect(try folder.read("data/new.json").contains("understudy_state"))
        expect(try manager.destinationOfSymbolicLink(atPath: folder.path + "/link.json"), is: first)
        expect(try manager.destinationOfSymbolicLink(atPath: folder.path + "/further.json"), is: "data/new.json")
    }

    @Test("a link that leads nowhere, or round and round, stops the start") func brokenLink() throws {
        let folder = TemporaryFolder()
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/gone.json", withDestinationPath: "gone/state.json")
        try manager.createSymbolicLink(atPath: folder.path + "/loop.json", withDestinationPath: "loop.json")
        for (name, reason) in [("gone.json", "No such file or directory"), ("loop.json", "it is a loop of links")] {
            let run = try Program.run("serve", "--port", "0", "--export-on-exit", name, in: folder)
            expect(run.status, is: 2)
            #expect(run.complaint.contains("the state cannot be written to \(name): \(reason)"), "\(run.complaint)")
        }
        expect(try manager.destinationOfSymbolicLink(atPath: folder.path + "/gone.json"), is: "gone/state.json")
    }

    @Test("two servers never export to one file, by whatever names; reading it stays possible")
    func shared() async throws {
        let folder = TemporaryFolder()
        try folder.write("", to: "data/other")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.json", withDestinationPath: "data/state.json")
        let first = try await RunningServer(["--log", "off", "--export-on-exit", "link.json"], in: folder)
        let second = try Program.run("serve", "--port", "0", "--export-on-exit", "data/state.json", in: folder)
        expect(second.status, is: 2)
        let number = first.process.processIdentifier
        #expect(
            second.complaint.hasPrefix(
                "understudy: --export-on-exit data/state.json: the process \(number) exports to this file already"),
            "\(second.complaint)")
        expect(end(first, by: SIGTERM).status, is: 0)
        expect(try leftovers(folder), is: [])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data")
        expect(Set(names), is: ["other", "state.json"], "the lock is gone")

        // A killed server leaves its lock file, which blocks no one; a server that only reads needs no lock.
        let third = try await RunningServer(["--log", "off", "--export-on-exit", "data/state.json"], in: folder)
        let reader = try await RunningServer(["--log", "off", "--import", folder.path + "/data/state.json"])
        expect(end(reader, by: SIGTERM).status, is: 0)
        _ = end(third, by: SIGKILL)
        let fourth = try await RunningServer(["--log", "off", "--export-on-exit", "data/state.json"], in: folder)
        expect(end(fourth, by: SIGTERM).status, is: 0)
    }
}
