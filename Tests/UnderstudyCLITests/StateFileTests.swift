import Expectations
import Foundation
import HTTPEngine
import JSON
import Testing

/// `serve --import FILE --export-on-exit FILE` with real processes that end in different ways.
@Suite("State over a restart") struct StateFileTests {
    private static let options = ["--log", "off", "--import", "state.json", "--export-on-exit", "state.json"]
    private static let user = #"{"username":"qa@example.test","password":"qa-pass-1","email":"qa@example.test"}"#
    private static let login = #"{"username":"qa@example.test","password":"qa-pass-1","deviceId":"d"}"#

    private func register(_ server: RunningServer, sandbox: String = "") async throws {
        let answer = try await server.send(
            .post, sandbox + "/v2/credentials/register", RunningServer.apiKey, Self.user)
        expect(answer.status, is: .created)
    }

    private func publicKey(_ server: RunningServer, sandbox: String = "") async throws -> String {
        let answer = try await server.send(
            .post, sandbox + "/v2/credentials/login", RunningServer.apiKey, Self.login)
        expect(answer.status, is: .ok)
        let entity = try #require(try JSON.parse(answer.body)["sdkEntity"]?.string)
        let fields = ["authorization": try #require(answer.fields[.authorization]), "x-rezolve-device-id": "d"]
        let key = try await server.get(
            "\(sandbox)/api/v1/partner/317/customer/\(entity)/publickey",
            RunningServer.apiKey.merging(fields) { $1 })
        expect(key.status, is: .ok)
        return String(decoding: key.body, as: UTF8.self)
    }

    /// Makes a user in two sandboxes, and gives their public keys.
    private func registered(_ server: RunningServer) async throws -> [String] {
        for sandbox in ["", "/~team-a"] { try await register(server, sandbox: sandbox) }
        return [try await publicKey(server), try await publicKey(server, sandbox: "/~team-a")]
    }

    private func leftovers(_ folder: TemporaryFolder) throws -> [String] {
        try folder.names().filter { $0.hasSuffix(".partial") }
    }

    @Test("a restarted server keeps its users: each can sign in and has the public key of before")
    func restart() async throws {
        let folder = TemporaryFolder()
        let first = try await RunningServer(Self.options, in: folder)
        let keys = try await registered(first)
        #expect(keys[0] != keys[1])
        let end = first.stop().exits(0)
        #expect(end.output.contains("There is no state.json yet; the server starts with the fixtures only."))
        #expect(end.output.hasSuffix("The state of 2 sandboxes was written to state.json.\n"))
        expect(try folder.permissions(of: "state.json"), is: 0o600)
        expect(try leftovers(folder), is: [])
        let second = try await RunningServer(Self.options, in: folder)
        expect(try await publicKey(second), is: keys[0])
        expect(try await publicKey(second, sandbox: "/~team-a"), is: keys[1])
        #expect(second.stop().exits(0).output.contains("The state of 2 sandboxes was read from state.json."))
    }

    @Test("a database outlives its server, however that ends, and goes into a file and out of it again")
    func database() async throws {
        let folder = TemporaryFolder()
        let first = try await RunningServer(["--log", "off", "--state", "u.db"], in: folder)
        let keys = try await registered(first)
        try Program.run("state", "export", "u.db", "a.json", in: folder).refuses(
            "--state u.db: the process \(first.process.processIdentifier) uses it. Name another file, or end that process.\n"
        )
        first.stop().exits(0)
        let exported = try Program.run("state", "export", "u.db", "a.json", in: folder).exits(0)
        expect(exported.output, is: "The state of 2 sandboxes was written to a.json.\n")
        let imported = try Program.run("state", "import", "v.db", "a.json", in: folder)
        expect(imported.output, is: "The state of 2 sandboxes was written to v.db.\n")
        try Program.run("state", "export", "v.db", "b.json", in: folder).exits(0)
        let documents = try ["a.json", "b.json"].map { try JSON.parse(Array(folder.read($0).utf8), maximumDepth: 200) }
        expect(documents[0]["sandboxes"], is: documents[1]["sandboxes"])
        // What the database holds goes into the file at the end, too, though nobody names it here.
        let second = try await RunningServer(
            ["--log", "off", "--state", "v.db", "--export-on-exit", "c.json"], in: folder)
        expect(try await publicKey(second, sandbox: "/~team-a"), is: keys[1])
        #expect(second.stop().output.hasSuffix("The state of 2 sandboxes was written to c.json.\n"))
        expect(try JSON.parse(Array(folder.read("c.json").utf8), maximumDepth: 200)["sandboxes"]?.array?.count, is: 2)
        let third = try await RunningServer(["--log", "off", "--state", "v.db"], in: folder)
        expect(try await publicKey(third), is: keys[0])
        third.stop().exits(0)
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
        try await register(server)
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
        // Whatever other files are left, the next start has the users.
        let next = try await RunningServer(Self.options, in: folder)
        let exported = try await next.json("/_understudy/state/rezolve")
        expect(exported["customers"]?.array?.count, is: (isNew ? 2003 : 2002))
        next.stop().exits(0)
    }

    @Test("what a killed server left of a file is removed at the next start") func leftover() throws {
        let folder = try TemporaryFolder([".state.json.1f.partial": "half"])
        let run = try Program.run(
            "serve", "--port", "0", "--export-on-exit", "state.json", "--import", "state.json", "--scenario", "none",
            in: folder)
        expect(run.status, is: 2, "it ends by the scenario, behind the look at the file")
        expect(try leftovers(folder), is: [])
    }

    @Test("a disk that takes no more leaves the old file as it was, and says so") func full() async throws {
        let folder = try TemporaryFolder(["state.json": "the old content\n"])
        // A file size limit with its signal ignored: writing fails midway, as on a full disk.
        let server = try await RunningServer(
            ["--log", "off", "--export-on-exit", "state.json"], in: folder,
            under: #"trap '' XFSZ; ulimit -f 1; exec "$0" "$@""#)
        try await register(server)
        let end = server.stop().exits(1)
        #expect(
            end.complaint.hasSuffix(
                "understudy: the state cannot be written to state.json: File too large. The previous content of the file is unchanged.\n"
            ), "\(end.complaint)")
        expect(try folder.read("state.json"), is: "the old content\n")
        expect(try leftovers(folder), is: [])
    }

    @Test(
        "a wrong file, folder, link or database is said, and nothing is made",
        arguments: [
            "serve --import none.json":
                "--import none.json: there is no such file. On a first start that is fine only if --export-on-exit names the same file.",
            "serve --import none.json --export-on-exit other.json": "--import none.json: there is no such file.",
            "serve --export-on-exit nowhere/state.json":
                "the state cannot be written to nowhere/state.json: No such file or directory",
            "serve --export-on-exit .": "the state cannot be written to .: Is a directory",
            "serve --export-on-exit /dev/null": "the state cannot be written to /dev/null: it is no regular file",
            "serve --export-on-exit gone.json": "the state cannot be written to gone.json: No such file or directory",
            "serve --export-on-exit loop.json": "the state cannot be written to loop.json: it is a loop of links",
            "serve --import broken.json --export-on-exit broken.json":
                "broken.json:2:1: not JSON: the text ends inside a value.",
            "serve --import wrong.json": "wrong.json: sandboxes: found the number 7; expected a list",
            "serve --import three.json --sandboxes 2":
                "three.json: sandboxes: the file has 3 sandboxes, and there may be 2; allow more with --sandboxes",
            "state export none.db a.json": "there is no database none.db.\n",
            "state import u.db none.json": "there is no file none.json.\n",
            "state export wrong.json a.json": "--state wrong.json cannot be used: file is not a database.\n",
            "state import http://a/b wrong.json":
                "--state http://… is no known kind of database; expected a file such as understudy.db, or postgres://user@host/database.\n",
        ])
    func refused(_ line: String, _ complaint: String) throws {
        let entries = ["a", "b", "c"].map { #"{"name":"\#($0)","state":{}}"# }.joined(separator: ",")
        let folder = try TemporaryFolder([
            "broken.json": "{\"understudy_state\":1,\n", "wrong.json": #"{"understudy_state":1,"sandboxes":7}"#,
            "three.json": #"{"understudy_state":1,"sandboxes":[\#(entries)]}"#,
        ])
        try folder.link("gone.json", to: "gone/state.json")
        try folder.link("loop.json", to: "loop.json")
        let names = try folder.names()
        try Program.run(Program.words(line), environment: ["UNDERSTUDY_PORT": "0"], in: folder).refuses(complaint)
        expect(try folder.names(), is: names)
        expect(try folder.read("broken.json"), is: "{\"understudy_state\":1,\n")
        expect(try folder.target(of: "gone.json"), is: "gone/state.json")
    }

    @Test("what cannot be read is told at the start, and stands in the file at the end as it stood there before")
    func setAside() async throws {
        let state = #"{"rezolve":{"customers":7,"users":[]},"ims":{"issuers":[],"users":[],"last_user":77}}"#
        let folder = try TemporaryFolder([
            "state.json": #"{"understudy_state":1,"sandboxes":[{"name":"default","state":\#(state)}]}"#
        ])
        for _ in 0..<2 {
            let end = try await RunningServer(Self.options, in: folder).stop().exits(0)
            #expect(
                end.output.contains(
                    """
                    1 part of it cannot be read and was set aside. The next export keeps them as they are, in “set_aside”.
                      sandbox default, rezolve: sandboxes[0].state.rezolve: member “owners” is missing

                    """), "\(end.output)")
            let saved = try JSON.parse(Array(try folder.read("state.json").utf8))
            expect(saved["set_aside"]?[0]?["value"], is: (try JSON.parse(Array(state.utf8)))["rezolve"])
            expect(saved["sandboxes"]?[0]?["state"]?["ims"]?["last_user"], is: 77)
            expect(try folder.permissions(of: "state.json"), is: 0o600)
        }
    }

    @Test("environment and configuration file name the files as well, and a link stays a link")
    func otherSources() async throws {
        let folder = try TemporaryFolder([
            "understudy.yaml": "export-on-exit: link.json\n", "data/target.json": "old",
        ])
        try folder.link("link.json", to: "data/target.json")
        let first = try await RunningServer("--log", "off", in: folder)
        try await register(first)
        first.stop().exits(0)
        #expect(try folder.read("data/target.json").contains("qa@example.test"))
        expect(try folder.target(of: "link.json"), is: "data/target.json")
        let second = try await RunningServer(
            "--log", "off", environment: ["UNDERSTUDY_IMPORT": "data/target.json"], in: folder)
        _ = try await publicKey(second)
        second.stop().exits(0)
    }

    @Test(
        "a link to what is not there yet stays a link, and its target is written",
        arguments: ["data/new.json", "further.json", "ABSOLUTE/data/new.json"])
    func danglingLink(_ target: String) async throws {
        let folder = try TemporaryFolder(["data/other": ""])
        let first = target.replacing("ABSOLUTE", with: folder.path)
        try folder.link("link.json", to: first)
        // A link to a link; the second is relative to its own location.
        try folder.link("further.json", to: "data/new.json")
        try await RunningServer("--log", "off", "--export-on-exit", "link.json", in: folder).stop().exits(0)
        #expect(try folder.read("data/new.json").contains("understudy_state"))
        expect(try folder.target(of: "link.json"), is: first)
        expect(try folder.target(of: "further.json"), is: "data/new.json")
    }

    @Test("two servers never export to one file, by whatever names; reading it stays possible")
    func shared() async throws {
        let folder = try TemporaryFolder(["data/other": ""])
        try folder.link("link.json", to: "data/state.json")
        let first = try await RunningServer(["--log", "off", "--export-on-exit", "link.json"], in: folder)
        try Program.run("serve", "--port", "0", "--export-on-exit", "data/state.json", in: folder).refuses(
            "--export-on-exit data/state.json: the process \(first.process.processIdentifier) exports to this file already"
        )
        first.stop().exits(0)
        expect(try leftovers(folder), is: [])
        expect(try folder.names(in: "data"), is: ["other", "state.json"], "the lock is gone")

        // A killed server leaves its lock file, which blocks no one; a server that only reads needs no lock.
        let third = try await RunningServer(["--log", "off", "--export-on-exit", "data/state.json"], in: folder)
        let reader = try await RunningServer(["--log", "off", "--import", folder.path + "/data/state.json"])
        reader.stop().exits(0)
        third.stop(by: SIGKILL)
        let fourth = try await RunningServer(["--log", "off", "--export-on-exit", "data/state.json"], in: folder)
        fourth.stop().exits(0)
    }
}
