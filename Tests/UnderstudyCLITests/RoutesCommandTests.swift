import Foundation
import JSON
import Testing

@Suite("understudy routes")
struct RoutesCommandTests {
    private func rows(_ options: String...) throws -> JSON {
        let run = try Program.run(["routes", "--json"] + options)
        #expect(run.status == 0, "\(run.complaint)")
        return try JSON.parse(run.output.utf8)
    }

    @Test("several lists come at once, each under its name, and one alone as it always did")
    func lists() throws {
        let both = try rows("--failures", "--switches")
        #expect(both.object?.map(\.name) == ["failures", "switches"])
        #expect(try rows("--failures") == both["failures"])
        #expect(try rows() == rows("--routes"))
        let text = try Program.run("routes", "--switches", "--actions").output
        let heads = text.split(separator: "\n").filter { $0.hasPrefix("SWITCH") || $0.hasPrefix("VENDOR") }
        #expect(heads.count == 2)
    }

    @Test("--vendor and --grep leave out what is not asked for")
    func filters() throws {
        let one = try #require(try rows("--vendor", "ims").array)
        #expect(!one.isEmpty && one.allSatisfy { $0["vendor"] == "ims" })
        let two = try #require(try rows("--vendor", "ims", "--vendor", "rezolve").array)
        #expect(Set(two.compactMap { $0["vendor"]?.string }) == ["ims", "rezolve"])
        let books = try #require(try rows("--grep", "AddressBook").array)
        #expect(!books.isEmpty && books.allSatisfy { $0.text.lowercased().contains("addressbook") })
        let none = try Program.run("routes", "--grep", "nothing has this")
        #expect(none.status == 1)
        let unknown = try Program.run("routes", "--vendor", "imss")
        #expect(unknown.complaint == "understudy: no vendor is called imss; did you mean “ims”?\n")
        #expect(unknown.status == 2)
    }

    #if os(Linux)
        @Test(
            "a full disk at standard output is an error, also of --help",
            arguments: [
                "routes", "routes --help", "token mint rezolve login", "token explain --json a.b.c", "ca --pem",
            ])
        func fullDisk(_ command: String) throws {
            let folder = TemporaryFolder()
            let shell = Process()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", "exec \(Program.path) \(command) >/dev/full"]
            shell.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
            shell.currentDirectoryURL = folder.url
            let complaint = Pipe()
            shell.standardError = complaint
            try shell.run()
            let text = String(decoding: complaint.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 2)
            #expect(
                text.hasSuffix("understudy: standard output cannot be written: No space left on device.\n"), "\(text)")
        }
    #endif
}
