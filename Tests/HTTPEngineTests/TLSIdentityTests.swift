import COpenSSL
import Expectations
import Testing

@testable import HTTPEngine

@Suite struct TLSIdentityTests {
    @Test func `A chain with its key is taken, with whatever else stands in the text`() throws {
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"])
        let text = Array("Some words\n".utf8) + issue.privateKey + issue.certificateChain
        _ = try TLSIdentity(certificateChain: text, privateKey: text)
        let chain = issue.certificateChain + (try TestAuthority.shared.get().certificatePEM)
        let identity = try TLSIdentity(certificateChain: chain, privateKey: issue.privateKey)
        expect(identity, is: identity)
        #expect(identity != (try TLSIdentity(certificateChain: chain, privateKey: issue.privateKey)))
        expect(Set([identity, identity]).count, is: 1)
    }

    @Test(arguments: ["", "nothing", "-----BEGIN CERTIFICATE-----\n"])
    func `A text without certificate or key says what is missing`(text: String) throws {
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"])
        let (none, text) = (
            text.hasPrefix("-") ? TLSIdentityError.unreadableBlock(1, of: .certificates) : .noCertificate,
            Array(text.utf8)
        )
        expectRefusal(none, of: text, issue.privateKey)
        let noKey = none == .noCertificate ? TLSIdentityError.noPrivateKey : .unreadableBlock(1, of: .privateKey)
        expectRefusal(noKey, of: issue.certificateChain, text)
    }

    @Test func `The certificate without the key, and the key without the certificate, are told apart`() throws {
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"])
        expectRefusal(.noCertificate, of: issue.privateKey, issue.privateKey)
        expectRefusal(.noPrivateKey, of: issue.certificateChain, issue.certificateChain)
    }

    @Test(arguments: ["AAAA", "????", "MIIB"]) func `A broken block is named by its place`(content: String) throws {
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"])
        let block = { (label: String) in Array("-----BEGIN \(label)-----\n\(content)\n-----END \(label)-----\n".utf8) }
        let chain = issue.certificateChain + block("CERTIFICATE")
        expectRefusal(.unreadableBlock(2, of: .certificates), of: chain, issue.privateKey)
        expectRefusal(.unreadableBlock(1, of: .privateKey), of: issue.certificateChain, block("PRIVATE KEY"))
    }

    @Test(arguments: [false, true])
    func `A key with a passphrase is refused and nobody is asked for it`(isTraditional: Bool) throws {
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"])
        let key = try TLSIdentity.privateKey(of: issue.privateKey)
        let target = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(target) }
        let word = Array("secret".utf8)
        let write = isTraditional ? PEM_write_bio_PrivateKey_traditional : PEM_write_bio_PrivateKey
        expect(write(target, key.pointer, EVP_aes_128_cbc(), word, Int32(word.count), nil, nil), is: 1)
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        BIO_read(target, &text, Int32(text.count))
        expect(String(decoding: text, as: UTF8.self), contains: "ENCRYPTED")
        expectRefusal(.encryptedPrivateKey, of: issue.certificateChain, text)
    }

    @Test func `A key of another certificate is refused`() throws {
        let authority = try TestAuthority.shared.get()
        let (first, second) = (try authority.issue(for: ["localhost"]), try authority.issue(for: ["localhost"]))
        expectRefusal(.foreignPrivateKey, of: first.certificateChain, second.privateKey)
    }

    @Test func `A chain in the wrong order says what belongs where`() throws {
        let authority = try TestAuthority.shared.get()
        let issue = try authority.issue(for: ["localhost"])
        let (own, root) = (issue.certificateChain, authority.certificatePEM)
        expectRefusal(.misplacedCertificate(2), of: root + own, issue.privateKey)
        expectRefusal(.brokenChain(1), of: own + (try CertificateAuthority().certificatePEM), issue.privateKey)
        expectRefusal(.brokenChain(2), of: own + root + own, issue.privateKey)
    }

    @Test func `A short key is refused with its length`() throws {
        let key = try rsaKey(bits: 1024)
        let now = OperatingSystem.unixTime
        let draft = try CertificateDraft(name: "weak", key: key, validity: now..<(now + 100))
        let certificate = try draft.sign(with: key)
        expectRefusal(.weakKey(1, bits: 1024), of: certificate.pem, key.pem)
    }

    @Test func `A weak hash in the chain is refused with its place`() throws {
        let now = OperatingSystem.unixTime
        let keys = try (0..<3).map { _ in try PrivateKey.generate() }
        let root = try CertificateDraft(name: "root", key: keys[0], validity: now..<(now + 100)).sign(with: keys[0])
        let middle = try CertificateDraft(name: "middle", key: keys[1], validity: now..<(now + 100), issuer: root)
            .sign(with: keys[0])
        X509_sign(middle.pointer, keys[0].pointer, EVP_sha1())
        let own = try CertificateDraft(name: "own", key: keys[2], validity: now..<(now + 100), issuer: middle)
            .sign(with: keys[1])
        // Written and read again, since OpenSSL ignores a new signature on a certificate it has already examined.
        expectRefusal(.weakSignature(2), of: own.pem + middle.pem, keys[2].pem)
    }

    @Test func `RSA keys serve as well as those on curves`() throws {
        let key = try rsaKey(bits: 2048)
        let now = OperatingSystem.unixTime
        var draft = try CertificateDraft(name: "localhost", key: key, validity: (now - 10)..<(now + 1000))
        try draft.add(NID_subject_alt_name, "DNS:localhost")
        let certificate = try draft.sign(with: key)
        let identity = try TLSIdentity(certificateChain: certificate.pem, privateKey: key.pem)
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            let pair = try TLSPair(identity, TLSTrust(alsoIn: certificate.pem).only(version))
            expect(pair.shakeHands().client, is: .complete)
        }
    }

    @Test(arguments: [
        TLSIdentityError.noCertificate, .noPrivateKey, .unreadableBlock(2, of: .privateKey), .encryptedPrivateKey,
        .foreignPrivateKey, .misplacedCertificate(2), .brokenChain(1), .weakKey(1, bits: 512), .weakSignature(2),
        .unusable("x"),
    ])
    func `Each refusal is one line that ends in a full stop`(error: TLSIdentityError) {
        expect(error.description, lacks: "\n")
        expect(error.description, ends: ".")
    }

    private func expectRefusal(
        _ error: TLSIdentityError, of chain: [UInt8], _ key: [UInt8], at location: SourceLocation = #_sourceLocation
    ) {
        expect(throws: error, sourceLocation: location) { try TLSIdentity(certificateChain: chain, privateKey: key) }
    }

    private func rsaKey(bits: Int32) throws -> PrivateKey {
        let context = try #require(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil))
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        expect(EVP_PKEY_keygen_init(context), is: 1)
        expect(EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits), is: 1)
        expect(EVP_PKEY_generate(context, &key), is: 1)
        return PrivateKey(owning: try #require(key))
    }
}

@Suite struct CertificateAuthorityTests {
    @Test func `The authority's certificate says what it may do`() throws {
        let text = try describe(TestAuthority.shared.get().certificatePEM)
        #expect(text.contains("Subject: CN = Understudy local CA") || text.contains("Subject: CN=Understudy local CA"))
        expect(text, contains: "X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0")
        expect(text, contains: "X509v3 Key Usage: critical\n                Certificate Sign\n")
        expect(text, contains: "X509v3 Subject Key Identifier")
    }

    @Test func `A server's certificate names hosts and addresses and may do nothing else`() throws {
        let names = ["localhost", "*.localhost", "127.0.0.1", "::1", "my-host_2"]
        let issue = try TestAuthority.shared.get().issue(for: names)
        let text = try describe(issue.certificateChain)
        expect(
            text,
            contains: "DNS:localhost, DNS:*.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:my-host_2")
        expect(text, contains: "X509v3 Basic Constraints: critical\n                CA:FALSE")
        expect(text, contains: "X509v3 Key Usage: critical\n                Digital Signature\n")
        expect(text, contains: "TLS Web Server Authentication\n")
        expect(text, contains: "X509v3 Authority Key Identifier")
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
        let copy = try CertificateAuthority(certificate: authority.certificatePEM, privateKey: authority.privateKeyPEM)
        expect(copy.fingerprint, is: authority.fingerprint)
        #expect(copy.fingerprint.wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)
        expect(copy.certificatePEM, is: authority.certificatePEM)
        let issue = try copy.issue(for: ["localhost"])
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        let pair = try TLSPair(identity, TLSTrust(alsoIn: authority.certificatePEM))
        expect(pair.shakeHands().client, is: .complete)
    }

    @Test func `What is no authority is not taken for one`() throws {
        let authority = try TestAuthority.shared.get()
        let issue = try authority.issue(for: ["localhost"])
        expect(throws: CertificateAuthorityError.noAuthority) {
            try CertificateAuthority(certificate: issue.certificateChain, privateKey: issue.privateKey)
        }
        expect(throws: CertificateAuthorityError.unreadable(.foreignPrivateKey)) {
            try CertificateAuthority(certificate: authority.certificatePEM, privateKey: issue.privateKey)
        }
        expect(throws: CertificateAuthorityError.unreadable(.noCertificate)) {
            try CertificateAuthority(certificate: [], privateKey: issue.privateKey)
        }
    }

    @Test(arguments: [
        "", " ", "a b", "a,DNS:b", "a..b", ".a", "-a", "a-", "*", "a.*", "*.*.a", "http://a", "[::1]", "ä.test", "a\nb",
        "1.2.3.4,IP:5.6.7.8", String(repeating: "a", count: 64),
    ])
    func `What is no name gets no certificate`(name: String) throws {
        let authority = try TestAuthority.shared.get()
        expect(throws: CertificateAuthorityError.invalidName(name)) {
            try authority.issue(for: ["localhost", name])
        }
    }

    @Test func `No certificate is issued for no name or for too long`() throws {
        let authority = try TestAuthority.shared.get()
        expect(throws: CertificateAuthorityError.noName) { try authority.issue(for: []) }
        expect(throws: CertificateAuthorityError.tooLong) {
            try authority.issue(for: ["a"], validity: 0..<(397 * 86_400 + 1))
        }
    }

    @Test func `A name that is too long for the common name is among the others`() throws {
        let name = [String](repeating: String(repeating: "a", count: 60), count: 3).joined(separator: ".")
        let issue = try TestAuthority.shared.get().issue(for: [name])
        expect(try describe(issue.certificateChain), contains: "DNS:\(name)\n")
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
