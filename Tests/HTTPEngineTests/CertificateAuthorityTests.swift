import COpenSSL
import Testing

@testable import HTTPEngine

@Suite struct CertificateAuthorityTests {
    @Test func `The authority's certificate says what it may do`() throws {
        let text = try describe(TestAuthority.shared.get().certificatePEM)
        #expect(text.contains("Subject: CN = Understudy local CA") || text.contains("Subject: CN=Understudy local CA"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Certificate Sign\n"))
        #expect(text.contains("X509v3 Subject Key Identifier"))
    }

    @Test func `A server's certificate names hosts and addresses and may do nothing else`() throws {
        let names = ["localhost", "*.localhost", "127.0.0.1", "::1", "my-host_2"]
        let issue = try TestAuthority.shared.get().issue(for: names)
        let text = try describe(issue.certificateChain)
        #expect(
            text.contains(
                "DNS:localhost, DNS:*.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:my-host_2"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:FALSE"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature\n"))
        #expect(text.contains("TLS Web Server Authentication\n"))
        #expect(text.contains("X509v3 Authority Key Identifier"))
    }

    @Test func `Certificates end in time, and no two have the same number`() throws {
        let authority = try CertificateAuthority()
        let now = OperatingSystem.unixTime
        let years = Double(try #require(authority.end) - now) / (365 * 86_400)
        #expect((9.99...10.01).contains(years))
        let issues = try (0..<2).map { _ in try authority.issue(for: ["localhost"]) }
        let certificates = try issues.map { try TLSIdentity.certificates(of: $0.certificateChain)[0] }
        for certificate in certificates {
            let days = (try #require(certificate.end) - now) / 86_400
            #expect((390...397).contains(days))
        }
        let numbers = certificates.map { X509_get0_serialNumber($0.pointer) }
        #expect(ASN1_INTEGER_cmp(numbers[0], numbers[1]) != 0)
    }

    @Test func `An authority is the same after export and import`() throws {
        let authority = try CertificateAuthority()
        let copy = try CertificateAuthority(
            certificate: authority.certificatePEM, privateKey: authority.privateKeyPEM)
        #expect(copy.fingerprint == authority.fingerprint)
        #expect(copy.fingerprint.wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)
        #expect(copy.certificatePEM == authority.certificatePEM)
        let issue = try copy.issue(for: ["localhost"])
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        let pair = try TLSPair(identity, TLSTrust(alsoIn: authority.certificatePEM))
        #expect(pair.shakeHands().client == .complete)
    }

    @Test func `What is no authority is not taken for one`() throws {
        let authority = try TestAuthority.shared.get()
        let issue = try authority.issue(for: ["localhost"])
        #expect(throws: CertificateAuthorityError.noAuthority) {
            try CertificateAuthority(certificate: issue.certificateChain, privateKey: issue.privateKey)
        }
        #expect(throws: CertificateAuthorityError.unreadable(.foreignPrivateKey)) {
            try CertificateAuthority(certificate: authority.certificatePEM, privateKey: issue.privateKey)
        }
        #expect(throws: CertificateAuthorityError.unreadable(.noCertificate)) {
            try CertificateAuthority(certificate: [], privateKey: issue.privateKey)
        }
    }

    @Test(arguments: [
        "", " ", "a b", "a,DNS:b", "a..b", ".a", "-a", "a-", "*", "a.*", "*.*.a", "http://a", "[::1]", "ä.test", "a\nb",
        "1.2.3.4,IP:5.6.7.8", String(repeating: "a", count: 64),
    ])
    func `What is no name gets no certificate`(name: String) throws {
        let authority = try TestAuthority.shared.get()
        #expect(throws: CertificateAuthorityError.invalidName(name)) {
            try authority.issue(for: ["localhost", name])
        }
    }

    @Test func `No certificate is issued for no name or for too long`() throws {
        let authority = try TestAuthority.shared.get()
        #expect(throws: CertificateAuthorityError.noName) { try authority.issue(for: []) }
        #expect(throws: CertificateAuthorityError.tooLong) {
            try authority.issue(for: ["a"], validity: 0..<(397 * 86_400 + 1))
        }
    }

    @Test func `A name that is too long for the common name is among the others`() throws {
        let name = [String](repeating: String(repeating: "a", count: 60), count: 3).joined(separator: ".")
        let issue = try TestAuthority.shared.get().issue(for: [name])
        #expect(try describe(issue.certificateChain).contains("DNS:\(name)\n"))
    }

    /// OpenSSL's description of a certificate.
    private func describe(_ pem: [UInt8]) throws -> String {
        let certificate = try TLSIdentity.certificates(of: pem)[0]
        let target = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(target) }
        X509_print(target, certificate.pointer)
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        BIO_read(target, &text, Int32(text.count))
        return String(decoding: text, as: UTF8.self)
    }
}
