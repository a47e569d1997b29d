import Foundation
import HTTPEngine
import JSON
import Testing

@Suite("understudy ca")
struct AuthorityCommandTests {
    @Test("it makes an authority once, shows it in three forms, and keeps its key to the user")
    func forms() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "data/ca", in: folder)
        #expect(first.status == 0, "\(first.complaint)")
        let file = folder.url.resolvingSymlinksInPath().path + "/data/ca/understudy-ca.pem"
        let rows = first.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.map(\.first) == ["certificate", "sha256"])
        #expect(rows[0][1].hasSuffix("/data/ca/understudy-ca.pem"))
        let json = try Program.run("ca", "--json", environment: ["UNDERSTUDY_CA_DIRECTORY": "data/ca"], in: folder)
        #expect(try JSON.parse(json.output.utf8)["sha256"]?.string == rows[1][1])
        let pem = try Program.run("ca", "--pem", "--directory", "data/ca", in: folder)
        #expect(pem.output == (try String(contentsOfFile: file, encoding: .utf8)))
        #expect(pem.output.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(!pem.output.contains("PRIVATE"))
        #expect(try permissions(folder, "data/ca") == 0o700)
        #expect(try permissions(folder, "data/ca/understudy-ca-key.pem") == 0o600)
    }

    @Test("without a folder by name it lies among the user's data")
    func standardFolder() throws {
        let folder = TemporaryFolder()
        for environment in [
            ["XDG_DATA_HOME": folder.path], ["HOME": folder.path], ["HOME": folder.path, "XDG_DATA_HOME": "x"],
        ] {
            let run = try Program.run("ca", environment: environment)
            let data = environment["XDG_DATA_HOME"] == folder.path ? folder.path : folder.path + "/.local/share"
            #expect(run.output.contains("\(data)/understudy/ca/understudy-ca.pem\n"), "\(run.output)\(run.complaint)")
        }
        let homeless = try Program.run("ca")
        #expect(homeless.status == 2)
        #expect(homeless.complaint.contains("name a folder by UNDERSTUDY_CA_DIRECTORY"))
    }

    @Test("of several starts at once one makes the authority and the others take it")
    func race() async throws {
        let folder = TemporaryFolder()
        let outputs = try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask { try Program.run("ca", "--directory", "ca", in: folder).output }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(outputs.count == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/ca")
        #expect(left.sorted() == ["understudy-ca-key.pem", "understudy-ca.pem"])
        let pem = try folder.read("ca/understudy-ca.pem")
        #expect(try folder.read("ca/understudy-ca-key.pem").hasSuffix(pem))
    }

    @Test("a certificate that was lost is written again")
    func lostCertificate() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "ca", in: folder)
        try FileManager.default.removeItem(atPath: folder.path + "/ca/understudy-ca.pem")
        let second = try Program.run("ca", "--directory", "ca", in: folder)
        #expect(second.output == first.output)
        #expect(try folder.read("ca/understudy-ca.pem").hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    }

    @Test("a certificate without its key is replaced, and whoever asks is told so")
    func lostKey() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "ca", in: folder)
        #expect(first.complaint.isEmpty)
        try FileManager.default.removeItem(atPath: folder.path + "/ca/understudy-ca-key.pem")
        let second = try Program.run("ca", "--directory", "ca", in: folder)
        #expect(second.status == 0)
        #expect(second.output != first.output)
        #expect(second.complaint.contains("was replaced, since its key was missing. Clients must trust the new one."))
    }

    @Test("what is wrong ends it with one line and 2")
    func wrong() throws {
        let folder = TemporaryFolder()
        try folder.write("nonsense", to: "broken/understudy-ca-key.pem")
        try folder.write("", to: "file")
        for (arguments, complaint) in [
            (["--pem", "--json"], "--pem and --json are two forms of output; give one of them.\n"),
            (["--directory", ""], "--directory is empty; leave it out, or give a folder.\n"),
            (["--directory", "broken"], "broken/understudy-ca-key.pem: the local CA is damaged; remove the file, "),
            (["--directory", "file"], "the folder file for the local CA cannot be created: "),
        ] {
            let run = try Program.run(["ca"] + arguments, in: folder)
            #expect(run.status == 2)
            #expect(run.complaint.hasPrefix("understudy: " + complaint), "\(run.complaint)")
            #expect(run.output.isEmpty)
        }
    }

    private func permissions(_ folder: TemporaryFolder, _ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path + "/" + path)[.posixPermissions] as? Int
    }
}
