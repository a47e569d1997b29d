import Foundation
import HTTPEngine
import Testing
import Understudy

@Suite("understudy serve --https-port")
struct SecureServeTests {
    @Test("it speaks TLS with a certificate of the local CA, beside HTTP, and says how to trust it")
    func localAuthority() async throws {
        let folder = TemporaryFolder()
        let environment = ["UNDERSTUDY_CA_DIRECTORY": folder.path + "/ca"]
        let server = try await RunningServer(
            "--log", "off", "--https-port", "0", environment: environment, in: folder)
        defer { server.process.terminate() }
        let secureBase = try #require(server.secureBase)
        let trust = try TLSTrust(alsoIn: Array(folder.read("ca/understudy-ca.pem").utf8))
        for base in [secureBase, secureBase.replacing("127.0.0.1", with: "localhost"), server.base] {
            let answer = try await HTTPClient.send(
                url: base + "/_understudy/health", trust: trust, within: .seconds(120))
            #expect(answer.status == .ok)
        }
        await #expect(throws: ClientError.notTrusted("unable to get local issuer certificate")) {
            try await HTTPClient.send(url: secureBase + "/_understudy/health", within: .seconds(120))
        }
        let well = try Program.run("healthcheck", "--server", secureBase, environment: environment)
        #expect(well.status == 0, "\(well.complaint)")
        let stranger = try Program.run("healthcheck", "--server", secureBase)
        #expect(stranger.status == 1)
        #expect(stranger.complaint.contains("the server's certificate is not trusted"))
        let end = server.stop()
        #expect(end.status == 0)
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
        #expect(answer.status == .ok)
        #expect(!server.stop().output.contains("--cacert"))
    }

    private static let openssl = "/usr/bin/openssl"

    @Test(
        "OpenSSL's own client agrees on version and protocol, and resumes",
        .enabled(if: FileManager.default.isExecutableFile(atPath: openssl)), arguments: ["-tls1_2", "-tls1_3"])
    func opensslClient(version: String) async throws {
        let folder = TemporaryFolder()
        let server = try await RunningServer(
            "--log", "off", "--https-port", "0",
            environment: ["UNDERSTUDY_CA_DIRECTORY": folder.path + "/ca", "UNDERSTUDY_HOST": "127.0.0.1"], in: folder)
        defer { server.process.terminate() }
        let address = try #require(server.secureBase).dropFirst("https://".count)
        var arguments = [
            "s_client", "-connect", String(address), version, "-CAfile", "ca/understudy-ca.pem", "-verify_return_error",
            "-verify_hostname", "localhost", "-servername", "localhost", "-alpn", "h2,http/1.1", "-ign_eof",
        ]
        for (option, expected) in [("-sess_out", "New, TLSv1."), ("-sess_in", "Reused, TLSv1.")] {
            arguments += [option, "session"]
            let process = Process()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(filePath: Self.openssl)
            process.arguments = arguments
            process.currentDirectoryURL = folder.url
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let request = "GET /_understudy/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            try input.fileHandleForWriting.write(contentsOf: Data(request.utf8))
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(text.contains("HTTP/1.1 200 OK"))
            #expect(text.contains("ALPN protocol: http/1.1"))
            #expect(text.contains(expected))
        }
    }

    @Test(
        "what is not complete or cannot be used stops the start with one line",
        arguments: [
            (
                ["--https-port", "0", "--tls-cert", "cert.pem"],
                "the certificate cert.pem has no key; give it with --tls-key as well, or leave out --tls-cert.\n"
            ),
            (
                ["--https-port", "0", "--tls-key", "key.pem"],
                "the key key.pem has no certificate; give it with --tls-cert as well, or leave out --tls-key.\n"
            ),
            (
                ["--tls-key", "key.pem", "--tls-cert", "cert.pem"],
                "the certificate cert.pem needs a port; give one with --https-port, such as 8443.\n"
            ),
            (
                ["--https-port", "0", "--tls-cert", "none.pem", "--tls-key", "key.pem"],
                "the certificate none.pem cannot be read: "
            ),
            (
                ["--https-port", "0", "--tls-cert", "cert.pem", "--tls-key", "none.pem"],
                "the private key none.pem cannot be read: "
            ),
            (
                ["--https-port", "0", "--tls-cert", "key.pem", "--tls-key", "key.pem"],
                "key.pem: there is no certificate in it: expected PEM"
            ),
            (
                ["--https-port", "0", "--tls-cert", "cert.pem", "--tls-key", "cert.pem"],
                "cert.pem: there is no private key in it: expected PEM"
            ),
            (
                ["--https-port", "0", "--tls-cert", "cert.pem", "--tls-key", "other.pem"],
                "other.pem: the private key does not belong to the certificate: "
            ),
        ])
    func wrong(options: [String], complaint: String) throws {
        let folder = TemporaryFolder()
        let authority = try CertificateAuthority()
        let issue = try authority.issue(for: ["localhost"])
        try write(issue, to: folder)
        let other = try authority.issue(for: ["localhost"]).privateKey
        try folder.write(String(decoding: other, as: UTF8.self), to: "other.pem")
        let run = try Program.run(["serve", "--port", "0"] + options, in: folder)
        #expect(run.status == 2)
        #expect(run.complaint.hasPrefix("understudy: " + complaint), "\(run.complaint)")
        #expect(run.output.isEmpty)
    }

    @Test("a port for HTTPS that is taken is said")
    func portTaken() async throws {
        let environment = ["UNDERSTUDY_CA_DIRECTORY": "ca"]
        let server = try await RunningServer("--log", "off")
        defer { server.process.terminate() }
        let port = try #require(server.base.split(separator: ":").last)
        let second = try Program.run(
            "serve", "--port", "0", environment: environment.merging(["UNDERSTUDY_HTTPS_PORT": String(port)]) { $1 })
        #expect(second.status == 2)
        #expect(second.complaint.hasPrefix("understudy: port \(port) at 127.0.0.1 is already in use"))
    }

    private func write(_ issue: CertificateAuthority.Issue, to folder: TemporaryFolder) throws {
        try folder.write(String(decoding: issue.certificateChain, as: UTF8.self), to: "cert.pem")
        try folder.write(String(decoding: issue.privateKey, as: UTF8.self), to: "key.pem")
    }
}
