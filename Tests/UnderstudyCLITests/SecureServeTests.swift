import Expectations
import Foundation
import HTTPEngine
import JSON
import Testing
import Understudy

@Suite("understudy serve --https-port") struct SecureServeTests {
    @Test("it speaks TLS with a certificate of the local CA, beside HTTP, and says how to trust it")
    func localAuthority() async throws {
        let folder = TemporaryFolder()
        let environment = ["UNDERSTUDY_CA_DIRECTORY": folder.path + "/ca"]
        let server = try await RunningServer("--log", "off", "--https-port", "0", environment: environment, in: folder)
        let secureBase = try #require(server.secureBase)
        let trust = try TLSTrust(alsoIn: Array(folder.read("ca/understudy-ca.pem").utf8))
        for base in [secureBase, secureBase.replacing("127.0.0.1", with: "localhost"), server.base] {
            let answer = try await HTTPClient.send(
                url: base + "/_understudy/health", trust: trust, within: .seconds(120))
            expect(answer.status, is: .ok)
        }
        await #expect(throws: ClientError.notTrusted("unable to get local issuer certificate")) {
            try await HTTPClient.send(url: secureBase + "/_understudy/health", within: .seconds(120))
        }
        try Program.run("healthcheck", "--server", secureBase, environment: environment).exits(0)
        let printed = try Program.run("try", "comapi", "--server", secureBase, environment: environment).exits(0)
        let calls = printed.output.split(separator: "\n").filter { $0.firstRange(of: "curl -i ") != nil }
        expect(calls.count, is: 2)
        for call in calls {
            #expect(call.contains(" \(secureBase)/") && call.contains(" --cacert \(folder.path)/ca/understudy-ca.pem"))
        }
        let plain = try Program.run("try", "comapi", "--server", server.base, environment: environment)
        #expect(!plain.output.contains("--cacert"), "\(plain.output)")
        let stranger = try Program.run("healthcheck", "--server", secureBase).exits(1)
        #expect(stranger.complaint.contains("the server's certificate is not trusted"))
        let end = server.stop().exits(0)
        #expect(
            end.output.contains(
                "Understudy \(Emulator.version) at \(server.base)\nUnderstudy \(Emulator.version) at \(secureBase)\n"))
        #expect(end.output.contains("curl --cacert /"))
        #expect(end.output.contains("/ca/understudy-ca.pem \(secureBase)/_understudy/health\n"))
    }

    @Test("it takes a certificate and key of the user's own, from a configuration file")
    func ownCertificate() async throws {
        let authority = try CertificateAuthority()
        let issue = try authority.issue(for: ["127.0.0.1"])
        let folder = try TemporaryFolder([
            "cert.pem": String(decoding: issue.certificateChain, as: UTF8.self),
            "key.pem": String(decoding: issue.privateKey, as: UTF8.self),
            "understudy.yaml": "https-port: 0\ntls-cert: cert.pem\ntls-key: key.pem\n",
        ])
        let server = try await RunningServer("--log", "off", in: folder)
        let answer = try await HTTPClient.send(
            url: try #require(server.secureBase) + "/_understudy/health",
            trust: TLSTrust(alsoIn: authority.certificatePEM), within: .seconds(120))
        expect(answer.status, is: .ok)
        #expect(!server.stop().output.contains("--cacert"))
    }
}

@Suite("understudy ca") struct AuthorityCommandTests {
    @Test("it makes an authority once, shows it in three forms, and keeps its key to the user") func forms() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "data/ca", in: folder).exits(0)
        let rows = first.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        expect(rows.map(\.first), is: ["certificate", "sha256"])
        #expect(rows[0][1].hasSuffix("/data/ca/understudy-ca.pem"))
        let json = try Program.run("ca", "--json", environment: ["UNDERSTUDY_CA_DIRECTORY": "data/ca"], in: folder)
        expect(try JSON.parse(json.output.utf8)["sha256"]?.string, is: rows[1][1])
        let pem = try Program.run("ca", "--pem", "--directory", "data/ca", in: folder)
        expect(pem.output, is: (try folder.read("data/ca/understudy-ca.pem")))
        #expect(pem.output.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(!pem.output.contains("PRIVATE"))
        expect(try folder.permissions(of: "data/ca"), is: 0o700)
        expect(try folder.permissions(of: "data/ca/understudy-ca-key.pem"), is: 0o600)
    }

    @Test("without a folder by name it lies among the user's data") func standardFolder() throws {
        let folder = TemporaryFolder()
        for environment in [
            ["XDG_DATA_HOME": folder.path], ["HOME": folder.path], ["HOME": folder.path, "XDG_DATA_HOME": "x"],
        ] {
            let run = try Program.run("ca", environment: environment)
            let data = environment["XDG_DATA_HOME"] == folder.path ? folder.path : folder.path + "/.local/share"
            #expect(run.output.contains("\(data)/understudy/ca/understudy-ca.pem\n"), "\(run.output)\(run.complaint)")
        }
        try Program.run("ca").refuses(
            "there is no HOME to keep the local CA in; name a folder by UNDERSTUDY_CA_DIRECTORY.\n")
    }

    @Test("of several starts at once one makes the authority and the others take it") func race() async throws {
        let folder = TemporaryFolder()
        let outputs = try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try Program.run("ca", "--directory", "ca", in: folder).output } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        expect(outputs.count, is: 1)
        expect(try folder.names(in: "ca"), is: ["understudy-ca-key.pem", "understudy-ca.pem"])
        let pem = try folder.read("ca/understudy-ca.pem")
        #expect(try folder.read("ca/understudy-ca-key.pem").hasSuffix(pem))
    }

    @Test("a certificate that was lost is written again") func lostCertificate() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "ca", in: folder)
        try FileManager.default.removeItem(atPath: folder.path + "/ca/understudy-ca.pem")
        let second = try Program.run("ca", "--directory", "ca", in: folder)
        expect(second.output, is: first.output)
        #expect(try folder.read("ca/understudy-ca.pem").hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    }

    @Test("a certificate without its key is replaced, and whoever asks is told so") func lostKey() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "ca", in: folder)
        #expect(first.complaint.isEmpty)
        try FileManager.default.removeItem(atPath: folder.path + "/ca/understudy-ca-key.pem")
        let second = try Program.run("ca", "--directory", "ca", in: folder).exits(0)
        #expect(second.output != first.output)
        #expect(second.complaint.contains("was replaced, since its key was missing. Clients must trust the new one."))
    }

    @Test("what is wrong ends it with one line and 2") func wrong() throws {
        let folder = try TemporaryFolder(["broken/understudy-ca-key.pem": "nonsense", "file": ""])
        for (arguments, complaint) in [
            (["--pem", "--json"], "--pem and --json are two forms of output; give one of them.\n"),
            (["--directory", ""], "--directory is empty; leave it out, or give a folder.\n"),
            (["--directory", "broken"], "broken/understudy-ca-key.pem: the local CA is damaged; remove the file, "),
            (["--directory", "file"], "the folder file for the local CA cannot be created: "),
        ] { try Program.run(["ca"] + arguments, in: folder).refuses(complaint) }
    }
}
