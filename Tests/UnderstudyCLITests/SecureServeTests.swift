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
        defer { server.process.terminate() }
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
        let well = try Program.run("healthcheck", "--server", secureBase, environment: environment)
        expect(well.status, is: 0, "\(well.complaint)")
        let printed = try Program.run("try", "comapi", "--server", secureBase, environment: environment)
        expect(printed.status, is: 0, "\(printed.complaint)")
        let calls = printed.output.split(separator: "\n").filter { $0.firstRange(of: "curl -i ") != nil }
        expect(calls.count, is: 2)
        for call in calls {
            #expect(call.contains(" \(secureBase)/") && call.contains(" --cacert \(folder.path)/ca/understudy-ca.pem"))
        }
        let plain = try Program.run("try", "comapi", "--server", server.base, environment: environment)
        #expect(!plain.output.contains("--cacert"), "\(plain.output)")
        let stranger = try Program.run("healthcheck", "--server", secureBase)
        expect(stranger.status, is: 1)
        #expect(stranger.complaint.contains("the server's certificate is not trusted"))
        let end = server.stop()
        expect(end.status, is: 0)
        #expect(
            end.output.contains(
                "Understudy \(Emulator.version) at \(server.base)\nUnderstudy \(Emulator.version) at \(secureBase)\n"))
        #expect(end.output.contains("curl --cacert /"))
        #expect(end.output.contains("/ca/understudy-ca.pem \(secureBase)/_understudy/health\n"))
    }

    @Test("it takes a certificate and key of the user's own, from a configuration file")
    func ownCertificate() async throws {
        let folder = TemporaryFolder()
        let authority = try CertificateAuthority()
        try write(authority.issue(for: ["127.0.0.1"]), to: folder)
        try folder.write("https-port: 0\ntls-cert: cert.pem\ntls-key: key.pem\n", to: "understudy.yaml")
        let server = try await RunningServer("--log", "off", in: folder)
        defer { server.process.terminate() }
        let answer = try await HTTPClient.send(
            url: try #require(server.secureBase) + "/_understudy/health",
            trust: TLSTrust(alsoIn: authority.certificatePEM), within: .seconds(120))
        expect(answer.status, is: .ok)
        #expect(!server.stop().output.contains("--cacert"))
    }

    private static let openssl = "/usr/bin/openssl"

    @Test(
        "what is not complete or cannot be used stops the start with one line",
        arguments: [
            (
                "--https-port 0 --tls-cert cert.pem",
                "the certificate cert.pem has no key; give it with --tls-key as well, or leave out --tls-cert.\n"
            ),
            (
                "--https-port 0 --tls-key key.pem",
                "the key key.pem has no certificate; give it with --tls-cert as well, or leave out --tls-key.\n"
            ),
            (
                "--tls-key key.pem --tls-cert cert.pem",
                "the certificate cert.pem needs a port; give one with --https-port, such as 8443.\n"
            ),
            ("--https-port 0 --tls-cert none.pem --tls-key key.pem", "the certificate none.pem cannot be read: "),
            ("--https-port 0 --tls-cert cert.pem --tls-key none.pem", "the private key none.pem cannot be read: "),
            (
                "--https-port 0 --tls-cert key.pem --tls-key key.pem",
                "key.pem: there is no certificate in it: expected PEM"
            ),
            (
                "--https-port 0 --tls-cert cert.pem --tls-key cert.pem",
                "cert.pem: there is no private key in it: expected PEM"
            ),
            (
                "--https-port 0 --tls-cert cert.pem --tls-key other.pem",
                "other.pem: the private key does not belong to the certificate: "
            ),
        ])
    func wrong(options: String, complaint: String) throws {
        let folder = TemporaryFolder()
        let authority = try CertificateAuthority()
        let issue = try authority.issue(for: ["localhost"])
        try write(issue, to: folder)
        let other = try authority.issue(for: ["localhost"]).privateKey
        try folder.write(String(decoding: other, as: UTF8.self), to: "other.pem")
        let run = try Program.run(Program.words("serve --port 0 " + options), in: folder)
        expect(run.status, is: 2)
        #expect(run.complaint.hasPrefix("understudy: " + complaint), "\(run.complaint)")
        #expect(run.output.isEmpty)
    }

    @Test("a port for HTTPS that is taken is said") func portTaken() async throws {
        let environment = ["UNDERSTUDY_CA_DIRECTORY": "ca"]
        let server = try await RunningServer("--log", "off")
        defer { server.process.terminate() }
        let port = try #require(server.base.split(separator: ":").last)
        let second = try Program.run(
            "serve", "--port", "0", environment: environment.merging(["UNDERSTUDY_HTTPS_PORT": String(port)]) { $1 })
        expect(second.status, is: 2)
        #expect(second.complaint.hasPrefix("understudy: port \(port) at 127.0.0.1 is already in use"))
    }

    private func write(_ issue: CertificateAuthority.Issue, to folder: TemporaryFolder) throws {
        try folder.write(String(decoding: issue.certificateChain, as: UTF8.self), to: "cert.pem")
        try folder.write(String(decoding: issue.privateKey, as: UTF8.self), to: "key.pem")
    }
}

@Suite("understudy ca") struct AuthorityCommandTests {
    @Test("it makes an authority once, shows it in three forms, and keeps its key to the user") func forms() throws {
        let folder = TemporaryFolder()
        let first = try Program.run("ca", "--directory", "data/ca", in: folder)
        expect(first.status, is: 0, "\(first.complaint)")
        let file = folder.url.resolvingSymlinksInPath().path + "/data/ca/understudy-ca.pem"
        let rows = first.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        expect(rows.map(\.first), is: ["certificate", "sha256"])
        #expect(rows[0][1].hasSuffix("/data/ca/understudy-ca.pem"))
        let json = try Program.run("ca", "--json", environment: ["UNDERSTUDY_CA_DIRECTORY": "data/ca"], in: folder)
        expect(try JSON.parse(json.output.utf8)["sha256"]?.string, is: rows[1][1])
        let pem = try Program.run("ca", "--pem", "--directory", "data/ca", in: folder)
        expect(pem.output, is: (try String(contentsOfFile: file, encoding: .utf8)))
        #expect(pem.output.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(!pem.output.contains("PRIVATE"))
        expect(try permissions(folder, "data/ca"), is: 0o700)
        expect(try permissions(folder, "data/ca/understudy-ca-key.pem"), is: 0o600)
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
        let homeless = try Program.run("ca")
        expect(homeless.status, is: 2)
        #expect(homeless.complaint.contains("name a folder by UNDERSTUDY_CA_DIRECTORY"))
    }

    @Test("of several starts at once one makes the authority and the others take it") func race() async throws {
        let folder = TemporaryFolder()
        let outputs = try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try Program.run("ca", "--directory", "ca", in: folder).output } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        expect(outputs.count, is: 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/ca")
        expect(left.sorted(), is: ["understudy-ca-key.pem", "understudy-ca.pem"])
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
        let second = try Program.run("ca", "--directory", "ca", in: folder)
        expect(second.status, is: 0)
        #expect(second.output != first.output)
        #expect(second.complaint.contains("was replaced, since its key was missing. Clients must trust the new one."))
    }

    @Test("what is wrong ends it with one line and 2") func wrong() throws {
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
            expect(run.status, is: 2)
            #expect(run.complaint.hasPrefix("understudy: " + complaint), "\(run.complaint)")
            #expect(run.output.isEmpty)
        }
    }

    private func permissions(_ folder: TemporaryFolder, _ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path + "/" + path)[.posixPermissions] as? Int
    }
}
