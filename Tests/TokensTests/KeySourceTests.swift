import JSON
import TestKeys
import Testing

@testable import Tokens

@Suite("Keys from PEM and DER")
struct KeySourceTests {
    @Test("A certificate is a container of its public key and keeps its dates")
    func certificate() throws {
        let keys = try VerificationKey.pem(TestPEM.ecCertificate, id: "one")
        let key = try #require(keys.first)
        #expect(keys.count == 1)
        #expect(key.id == "one")
        #expect(key.kind == .ec(.p256))
        #expect(key.algorithms == [.es256])
        let validity = try #require(key.validity)
        #expect(validity.notBefore == 1_577_836_800)
        #expect(validity.notAfter == 1_609_504_215)
        #expect(validity.finding(at: 1_577_836_799).outcome == .failed)
        #expect(validity.finding(at: 1_577_836_799).check == "certificate-not-yet-valid")
        #expect(validity.finding(at: 1_577_836_800).outcome == .passed)
        #expect(validity.finding(at: 1_609_504_215).outcome == .passed)
        #expect(validity.finding(at: 1_609_504_216).outcome == .failed)
        #expect(validity.finding(at: 1_609_504_216).check == "certificate-expired")
    }

    @Test("The same key comes out of certificate, SubjectPublicKeyInfo, RSAPublicKey and both private forms")
    func sameKey() throws {
        let texts = [TestPEM.rsaCertificate, TestPEM.rsaPublic, TestPEM.rsaPKCS1Public]
        let prints = try texts.map { try VerificationKey.pem($0)[0].thumbprint }
        let privatePrints = try [TestPEM.rsaPrivate, TestPEM.rsaPKCS1Private].map { try SigningKey.pem($0).thumbprint }
        #expect(Set(prints + privatePrints).count == 1)
        #expect(prints[0] != nil)
    }

    @Test("Several blocks and the text around them are read in order")
    func severalBlocks() throws {
        let text = "a note\n\(TestPEM.rsaPublic)\nanother\n\(TestPEM.ecCertificate)\n\(TestPEM.edwardsPublic)\nthe end"
        let keys = try VerificationKey.pem(text)
        #expect(keys.map(\.kind) == [.rsa(bits: 2048), .ec(.p256), .ed25519])
    }

    @Test("A key is written as it was read, in lines of 64 characters")
    func writePEM() throws {
        #expect(try VerificationKey.pem(TestPEM.rsaPublic)[0].publicPEM == TestPEM.rsaPublic + "\n")
        let key = try SigningKey.pem(TestPEM.rsaPrivate)
        #expect(key.publicPEM == TestPEM.rsaPublic + "\n")
        #expect(key.privatePEM == TestPEM.rsaPrivate + "\n")
        #expect(try SigningKey.pem(TestPEM.edwardsPrivate).privatePEM == TestPEM.edwardsPrivate + "\n")
        #expect(try SigningKey.secret("secret").privatePEM == nil)
        #expect(try SigningKey.secret("secret").publicPEM == nil)
    }

    @Test("DER works for certificates and both forms of public keys, and not for cut or longer bytes")
    func der() throws {
        let key = try VerificationKey.pem(TestPEM.rsaPublic)[0]
        let bytes = try #require(key.publicDER)
        #expect(try VerificationKey.publicKey(der: bytes).thumbprint == key.thumbprint)
        let pkcs1 = try body(of: TestPEM.rsaPKCS1Public)
        #expect(try VerificationKey.publicKey(der: pkcs1).thumbprint == key.thumbprint)
        let certificate = try body(of: TestPEM.rsaCertificate)
        #expect(try VerificationKey.certificate(der: certificate).thumbprint == key.thumbprint)
        for broken in [bytes + [0], Array(bytes.dropLast()), [], [0x30]] {
            #expect(throws: KeyError.self) { try VerificationKey.publicKey(der: broken) }
        }
        for broken in [certificate + [0], Array(certificate.dropLast()), []] {
            #expect(throws: KeyError.self) { try VerificationKey.certificate(der: broken) }
        }
    }

    @Test("A private key in DER is refused when it is cut, longer, or another one's shape, wherever in it that is")
    func brokenPrivate() throws {
        for text in [TestPEM.rsaPrivate, TestPEM.rsaPKCS1Private] {
            let label = text.hasPrefix("-----BEGIN RSA") ? "RSA PRIVATE KEY" : "PRIVATE KEY"
            let bytes = try body(of: text)
            for broken in [bytes + [0], Array(bytes.dropLast()), Array(bytes.prefix(40)), [0x30, 0x00], []] {
                #expect(throws: KeyError.self) { try SigningKey.pem(PEM.text(label: label, broken)) }
            }
            // Flipping a bit of a length or tag at the start always makes it wrong.
            for index in [0, 1, 2, 3, 4, 5] {
                var turned = bytes
                turned[index] ^= 0x40
                #expect(throws: KeyError.self, "\(label), byte \(index)") {
                    try SigningKey.pem(PEM.text(label: label, turned))
                }
            }
        }
    }

    @Test("The numbers of an RSA key are read as OpenSSL reads them, or not at all")
    func numbers() throws {
        let info = try body(of: TestPEM.rsaPrivate)
        let numbers = try #require(RSANumbers.privateKey(info))
        #expect(try #require(RSANumbers.privateKey(try body(of: TestPEM.rsaPKCS1Private))) == numbers)
        let members = try #require(try SigningKey.pem(TestPEM.rsaPrivate).publicJWK()?.object)
        #expect(members["n"]?.string == Base64URL.encode(numbers[0]))
        #expect(members["e"]?.string == Base64URL.encode(numbers[1]))
        let found = try #require(RSANumbers.publicKeyInfo(try body(of: TestPEM.rsaPublic)))
        #expect(found.modulus == numbers[0])
        #expect(found.exponent == numbers[1])
        #expect(RSANumbers.privateKey(try body(of: TestPEM.ecPrivate)) == nil)
        #expect(RSANumbers.publicKeyInfo(try body(of: TestPEM.edwardsPublic)) == nil)
    }

    @Test(
        "Numbers that DER does not write so are left to OpenSSL",
        arguments: [
            [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x00], [0x30, 0x06, 0x02, 0x01, 0x85, 0x02, 0x01, 0x03],
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x05, 0x02, 0x01, 0x03], [0x30, 0x05, 0x02, 0x00, 0x02, 0x01, 0x03],
            [0x30, 0x07, 0x02, 0x81, 0x01, 0x05, 0x02, 0x01, 0x03],
            [0x30, 0x80, 0x02, 0x01, 0x05, 0x02, 0x01, 0x03, 0, 0],
            [0x30, 0x09, 0x02, 0x01, 0x05, 0x02, 0x01, 0x03, 0x02, 0x01, 0x03], [0x30, 0x03, 0x02, 0x01, 0x05],
            [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x03, 0x00], [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x02, 0x03],
        ] as [[UInt8]])
    func unusualNumbers(_ bytes: [UInt8]) {
        #expect(RSANumbers.publicKey(bytes[...]) == nil)
    }

    @Test("Numbers in DER keep their value, whatever their first bit")
    func usualNumbers() throws {
        let bytes: [UInt8] = [0x30, 0x07, 0x02, 0x02, 0x00, 0x85, 0x02, 0x01, 0x03]
        let key = try #require(RSANumbers.publicKey(bytes[...]))
        #expect(key.modulus == [0x85])
        #expect(key.exponent == [3])
    }

    private func body(of pem: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return try #require(Base64URL.decodeLeniently(lines.joined().utf8))
    }

    @Test(
        "What nobody should verify with is refused, with the reason",
        arguments: [
            (TestPEM.rsa1024, KeyError.rsaTooSmall(bits: 1024)),
            (TestPEM.secp256k1, .unsupportedCurve("secp256k1")),
            (TestPEM.explicitCurve, .unsupportedCurve("explicit parameters")),
            (TestPEM.x25519, .unsupportedType("X25519")),
            (TestPEM.restrictedPSS, .unsupportedType("RSA-PSS")),
            (TestPEM.rsaPrivate, .privateKey), (TestPEM.ecPrivate, .privateKey),
            (TestPEM.encrypted, .privateKey), ("", .noKeyInPEM), ("no key at all", .noKeyInPEM),
            (String(TestPEM.rsaPublic.dropLast(10)), .unreadable("a PEM block is broken")),
            (TestPEM.rsaPublic.replacing("MII", with: "M!I"), .unreadable("a PEM block is broken")),
        ])
    func refused(_ pem: String, _ error: KeyError) {
        #expect(throws: error) { try VerificationKey.pem(pem) }
    }

    @Test("An exponent of 3 is small but sound")
    func exponentThree() throws {
        #expect(try VerificationKey.pem(TestPEM.exponentThree)[0].kind == .rsa(bits: 2048))
    }

    @Test(
        "Private keys are told from public and from locked ones",
        arguments: [
            (TestPEM.rsaPublic, KeyError.notPrivate), (TestPEM.rsaCertificate, .notPrivate),
            (TestPEM.encrypted, .encryptedPrivateKey), (TestPEM.encryptedOld, .encryptedPrivateKey),
            ("nothing", .noKeyInPEM),
        ])
    func notPrivate(_ pem: String, _ error: KeyError) {
        #expect(throws: error) { try SigningKey.pem(pem) }
    }

    @Test("An empty secret is refused, a short one earns a remark")
    func secrets() throws {
        #expect(throws: KeyError.emptySecret) { try VerificationKey.secret("") }
        #expect(throws: KeyError.emptySecret) { try SigningKey.secret([]) }
        let key = try VerificationKey.secret("secret")
        #expect(key.strengthFinding(for: .hs512)?.outcome == .noted)
        #expect(try VerificationKey.secret([UInt8](repeating: 7, count: 64)).strengthFinding(for: .hs512) == nil)
    }

    @Test("No key shows its secret, however it is printed")
    func printing() throws {
        let secret = "a-secret-that-must-not-show"
        let signing = try SigningKey.secret(secret, id: "k")
        let verification = signing.verificationKey
        var dumped = ""
        dump([signing.verificationKey], to: &dumped)
        dump(signing, to: &dumped)
        let texts = ["\(signing)", "\(verification)", String(reflecting: signing), "\([verification])", dumped]
        let digits = secret.utf8.map(String.init).joined(separator: ", ")
        for text in texts {
            #expect(!text.contains(secret))
            #expect(!text.contains(digits))
            #expect(text.contains("secret of 27 bytes “k”"))
        }
    }

    @Test("A certificate map of one kid each is what `pem` with an id gives")
    func ids() throws {
        let key = try VerificationKey.pem(TestPEM.rsaCertificate, id: "kid-1")[0]
        #expect(KeySet(keys: [key]).key(withID: "kid-1")?.thumbprint == key.thumbprint)
    }
}
