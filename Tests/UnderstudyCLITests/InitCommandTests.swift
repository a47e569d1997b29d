import Emulation
import Expectations
import Foundation
import JSON
import Testing
import Understudy

@Suite("understudy init") struct InitCommandTests {
    private static let vendors = Catalog.vendors.map(\.identity.id)

    /// The paths below a folder, folders with a trailing slash.
    private func paths(_ folder: TemporaryFolder) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.sorted().map { FileSystem.isFolder("\(folder.path)/\($0)") ? $0 + "/" : $0 }
    }

    private func written(_ run: Program.Run) -> [String] {
        run.output.split(separator: "\n").filter { $0.hasPrefix("wrote ") }.map { String($0.dropFirst(6)) }
    }

    @Test(
        "what it writes for a vendor is taken over the installed fixtures, and every file of it is read",
        arguments: vendors)
    func isGood(_ vendor: String) throws {
        let folder = TemporaryFolder()
        try Program.run("init", "--vendor", vendor, in: folder).succeeds()
        let fixtures = folder.path + "/Fixtures"
        let store = FixtureStore(layers: [fixtures, try #require(FixtureStore.installedFolder)])
        let emulator = try Emulator(fixtures: store)
        expect(emulator.inForce.loaded.layers.flatMap(\.warnings), is: [])
        let usage = try store.usage(of: fixtures)
        expect(usage.unread.filter { !$0.hasSuffix(FixtureStore.schemaSuffix) }, is: [])
        #expect(
            Set(usage.read).isSuperset(of: ["accounts.yaml", "failures/my-failures.yaml"].map { "\(vendor)/\($0)" }))
        #expect(usage.read.contains { $0.hasPrefix("\(vendor)/scenarios/") })
        #expect(emulator.scenario("my-busy-\(vendor)") != nil)
        // Its accounts are enough for a token.
        let sample = emulator.vendors.first { $0.identity.id == vendor }
        _ = try sample?.sampleRequest(at: SandboxClock.machine, base: "http://localhost:8080")
        let check = try Program.run("fixtures", "check", "Fixtures", in: folder).succeeds()
        #expect(!check.output.contains("not read"))
    }

    @Test("it prints each file that it wrote, and two commands that can be pasted") func output() throws {
        let folder = TemporaryFolder()
        let run = try Program.run("init", "my app", "--vendor", "ims", in: folder).exits(0)
        expect(written(run).sorted(), is: paths(folder).filter { !$0.hasSuffix("/") })
        let lines = run.output.split(separator: "\n").map(String.init)
        expect(lines.suffix(3).first, is: "Next:")
        expect(lines.suffix(2).first?.hasSuffix("/understudy fixtures check 'my app/Fixtures'"), is: true)
        expect(lines.last?.hasSuffix("serve --fixtures 'my app/Fixtures' --config 'my app/understudy.yaml'"), is: true)
        #expect(!run.output.contains("more to begin with"))
    }

    @Test("without a vendor it has samples of the first one, the schemas of all, and says which others there are")
    func everything() throws {
        let folder = TemporaryFolder()
        let run = try Program.run("init", in: folder)
        let files = written(run)
        expect(files.filter { $0.hasSuffix("/accounts.yaml") }, is: ["Fixtures/\(Self.vendors[0])/accounts.yaml"])
        for vendor in Self.vendors {
            for kind in ["accounts", "failures", "changed-failures", "scenario"] {
                #expect(files.contains("Fixtures/\(vendor)/schemas/\(kind).schema.json"))
            }
        }
        let others = Self.vendors.dropFirst().map { "--vendor \($0)" }.joined(separator: ", ")
        #expect(run.output.contains("There are files to start from for more vendors: \(others)\n"))
    }

    @Test("every sample names a schema that is written with it") func named() throws {
        let folder = TemporaryFolder()
        let run = try Program.run(["init"] + Self.vendors.flatMap { ["--vendor", $0] }, in: folder)
        let samples = written(run).filter { $0.hasSuffix(".yaml") && $0 != "compose.yaml" }
        #expect(samples.count > Self.vendors.count * 3)
        for path in samples {
            let first = try folder.read(path).split(separator: "\n")[0]
            let name = try #require(first.firstMatch(of: /^# yaml-language-server: \$schema=(.+)$/)?.1, "\(path)")
            let schema = folder.url.appending(path: path).deletingLastPathComponent().appending(path: String(name))
            #expect(FileManager.default.fileExists(atPath: schema.path), "\(path)")
        }
    }

    enum Obstacle: CaseIterable { case file, folder, brokenLink, fileForFolder }

    @Test("what is there already stops it before anything is written", arguments: Obstacle.allCases)
    func overwritesNothing(_ obstacle: Obstacle) throws {
        let folder = TemporaryFolder()
        let place = "Fixtures/ims/scenarios/my-busy-backend.yaml"
        var complaint = "\(place) is there already, and nothing is overwritten; move it away, or name another folder.\n"
        switch obstacle {
        case .file: try folder.write("mine", to: place)
        case .folder: try folder.write("mine", to: place + "/file")
        case .brokenLink:
            try folder.write("mine", to: "Fixtures/ims/scenarios/other.yaml")
            try folder.link(place, to: "nowhere")
        case .fileForFolder:
            try folder.write("mine", to: "Fixtures")
            complaint = "Fixtures is not a folder, and files are to be written into it; name another folder.\n"
        }
        let before = paths(folder)
        try Program.run("init", "--vendor", "ims", in: folder).refuses(complaint)
        expect(paths(folder), is: before)
        if case .file = obstacle { expect(try folder.read(place), is: "mine") }
    }

    @Test("a second time it names what it wrote the first time") func twice() throws {
        let folder = TemporaryFolder()
        try Program.run("init", in: folder).exits(0)
        let run = try Program.run("init", in: folder).exits(2)
        #expect(run.complaint.hasPrefix("understudy: understudy.yaml, compose.yaml, "), "\(run.complaint)")
        #expect(run.complaint.contains(" more are there already, and nothing is overwritten; move them away, "))
    }

    /// Of the shorter path all folders fit into the longest path that the system takes, and not all files; of the longer
    /// one not all folders.
    @Test("what was made is gone again when not everything can be written", arguments: [4058, 4070])
    func leavesNothing(_ length: Int) throws {
        let folder = TemporaryFolder()
        let long = Array(repeating: String(repeating: "a", count: 250), count: 16).joined(separator: "/") + "/"
        let deep = long + String(repeating: "b", count: length - long.utf8.count)
        let run = try Program.run("init", deep, in: folder).exits(2)
        let place = length > 4060 ? "/Fixtures/rezolve/failures" : "/Fixtures/rezolve/accounts.yaml"
        #expect(
            run.complaint.hasSuffix("\(place) cannot be written: File name too long. Nothing was left behind.\n"),
            "\(run.complaint.suffix(120))")
        expect(paths(folder), is: [])
    }

    @Test(
        "wrong words are answered with what would be right, and nothing is written",
        arguments: [
            ["--vendor", "imss"]: "no vendor is called imss; did you mean “ims”?",
            ["--language", "pyton"]: "there is no client for the language pyton; did you mean “python”?",
            ["--language", "fortran"]:
                "there is no client for the language fortran; known are swift, python, javascript",
            [""]: "the folder is empty; leave it out, or give one.",
            ["--clients", "x"]: "--clients x is for the first test; name its language with --language.",
            ["--language", "python", "--clients", "nowhere"]:
                "--clients nowhere has no folder Python; expected Sources/Clients of a checkout.",
        ] as [[String]: String])
    func misuse(_ words: [String], _ complaint: String) throws {
        let folder = TemporaryFolder()
        try Program.run(["init"] + words, in: folder).refuses(complaint + "\n")
        expect(paths(folder), is: [])
    }

    @Test(
        "a test is written for every language that has a client, with the client's folder",
        arguments: ["swift", "python", "javascript"])
    func languages(_ language: String) throws {
        let folder = TemporaryFolder()
        let run = try Program.run("init", "--language", language, in: folder).succeeds()
        let tests = try written(run).filter { $0.hasPrefix("tests/") }.map { try folder.read($0) }
        #expect(tests.count > 1)
        #expect(tests.filter { $0.contains("{{") } == [])
        #expect(tests.joined().contains("/Sources/Clients/"))
    }

    @Test("the written configuration has every option, and a server starts with the values that stand in it")
    func configuration() throws {
        let folder = TemporaryFolder()
        try Program.run("init", in: folder).exits(0)
        // Of a name like no other, all that there are are said.
        try folder.write("not-an-option-of-anything: 1", to: "wrong.yaml")
        let wrong = try Program.run("routes", "--config", "wrong.yaml", in: folder).complaint
        let names = try #require(wrong.firstMatch(of: /known are (.+)/)).1.split(separator: ", ").map(String.init)
        #expect(names.count > 20)
        let text = try folder.read("understudy.yaml")
        let told = text.split(separator: "\n").compactMap { $0.firstMatch(of: /^(?:# )?([a-z-]+): \S/)?.1 }.map(
            String.init)
        #expect(Set(told).isSuperset(of: names))
        let schema = try JSON.parse(try folder.read("Fixtures/schemas/configuration.schema.json").utf8)
        expect(Set(schema["properties"]?.object?.map(\.name) ?? []), is: Set(names))
        for option in schema["properties"]?.object ?? [:] {
            expect(option.value["description"]?.string?.isEmpty, is: false, "\(option.name)")
        }
        try Program.run("routes", "--config", "understudy.yaml", in: folder).exits(0)
    }
}

@Suite("understudy fixtures schemas") struct FixtureSchemasCommandTests {
    @Test("it writes anew what init wrote, for the vendors that have a folder there") func refresh() throws {
        let folder = TemporaryFolder()
        try Program.run("init", "--vendor", "ims", "--vendor", "okta", in: folder).exits(0)
        let path = "Fixtures/ims/schemas/scenario.schema.json"
        let first = try folder.read(path)
        try folder.write("{}", to: path)
        let run = try Program.run("fixtures", "schemas", "Fixtures", in: folder).succeeds()
        expect(try folder.read(path), is: first)
        #expect(run.output.contains("wrote \(path)\n"))
        #expect(!run.output.contains("comapi"))
        let one = try Program.run("fixtures", "schemas", "--vendor", "comapi", "Fixtures", in: folder)
        #expect(one.output.contains("wrote Fixtures/comapi/schemas/accounts.schema.json\n"))
        #expect(!one.output.contains("okta"))
    }

    @Test("a folder that is none, and an unknown vendor, are named") func misuse() throws {
        try Program.run("fixtures", "schemas", "nowhere").refuses(
            "nowhere does not exist or is not a folder; expected a folder of fixtures.\n")
        try Program.run("fixtures", "schemas", "--vendor", "oktaa", ".").refuses(
            "no vendor is called oktaa; did you mean “okta”?\n")
    }
}
