import Foundation
import Testing

/// Fixture folders with entries that are not files: a check ends with a message and never waits.
@Suite("understudy fixtures check, of hostile folders", .timeLimit(.minutes(15)))
struct HostileFixtureTests {
    private func complaint(_ folder: TemporaryFolder) throws -> String {
        let run = try Program.run("fixtures", "check", folder.path + "/own", in: folder)
        #expect(run.status == 2)
        return run.complaint
    }

    private func folder() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/own/rezolve/scenarios", withIntermediateDirectories: true)
        return folder
    }

    @Test(
        "a body_file that leads out of the folder is told with file, line, column and where it leads",
        arguments: ["/etc/hostname", "../../../outside.txt", "/dev/zero"])
    func bodyFile(_ target: String) throws {
        let folder = try folder()
        try folder.write("not for everybody", to: "outside.txt")
        let scenarios = folder.path + "/own/rezolve/scenarios"
        try FileManager.default.createSymbolicLink(atPath: scenarios + "/x.txt", withDestinationPath: target)
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

    @Test("a pipe, a loop of links and ten thousand files end it with a sentence")
    func others() throws {
        let pipe = try folder()
        #expect(mkfifo(pipe.path + "/own/rezolve/failures.yaml", 0o600) == 0)
        #expect(try complaint(pipe).contains("rezolve/failures.yaml: is a named pipe; expected a file"))
        let loop = try folder()
        for name in ["a", "b", "c"] {
            try FileManager.default.createSymbolicLink(
                atPath: loop.path + "/own/rezolve/scenarios/" + name, withDestinationPath: "..")
        }
        #expect(try complaint(loop).contains("rezolve/scenarios/a: is a link to "))
        let many = try folder()
        for number in 1...10_000 {
            _ = FileManager.default.createFile(atPath: "\(many.path)/own/rezolve/\(number)", contents: nil)
        }
        #expect(try complaint(many).contains("own/rezolve: the fixtures hold more than 4096 files and folders"))
    }
}
