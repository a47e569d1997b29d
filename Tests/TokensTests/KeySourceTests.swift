import Expectations
import JSON
import TestKeys
import Testing

@testable import Tokens

@Suite("Keys from PEM and DER") struct KeySourceTests {
    @Test("A certificate is a container of its public key and keeps its dates") func certificate() throws {
        let keys = try VerificationKey.pem(TestPEM.ecCertificate, id: "one")
        let key = try #require(keys.first)
        expect(keys.count, is: 1)
        expect(key.id, is: "one")
        expect(key.kind, is: .ec(.p256))
        expect(key.algorithms, is: [.es256])
        let validity = try #require(key.validity)
        expect(validity.notBefore, is: 1_577_836_800)
        expect(validity.notAfter, is: 1_609_504_215)
        expect(validity.finding(at: 1_577_836_799).outcome, is: .failed)
        expect(validity.finding(at: 1_577_836_799).check, is: "certificate-not-yet-valid")
        expect(validity.finding(at: 1_577_836_800).outcome, is: .passed)
        expect(validity.finding(at: 1_609_504_215).outcome, is: .passed)
        expect(validity.finding(at: 1_609_504_216).outcome, is: .failed)
        expect(validity.finding(at: 1_609_504_216).check, is: "certificate-expired")
    }

    @Test("The same key comes out of certificate, SubjectPublicKeyInfo, RSAPublicKey and both private forms")
    func sameKey() throws {
        let texts = [TestPEM.rsaCertificate, TestPEM.rsaPublic, TestPEM.rsaPKCS1Public]
        let prints = try texts.map { try VerificationKey.pem($0)[0].thumbprint }
        let privatePrints = try [TestPEM.rsaPrivate, TestPEM.rsaPKCS1Private].map { try SigningKey.pem($0).thumbprint }
        expect(Set(prints + privatePrints).count, is: 1)
        #expect(prints[0] != nil)
    }

    @Test("Several blocks and the text around them are read in order") func severalBlocks() throws {
        let text = "a note\n\(TestPEM.rsaPublic)\nanother\n\(TestPEM.ecCertificate)\n\(TestPEM.edwardsPublic)\nthe end"
        let keys = try VerificationKey.pem(text)
        expect(keys.map(\.kind), is: [.rsa(bits: 2048), .ec(.p256), .ed25519])
    }

    @Test("A key is written as it was read, in lines of 64 characters") func writePEM() throws {
        expect(try VerificationKey.pem(TestPEM.rsaPublic)[0].publicPEM, is: TestPEM.rsaPublic + "\n")
        let key = try SigningKey.pem(TestPEM.rsaPrivate)
        expect(key.publicPEM, is: TestPEM.rsaPublic + "\n")
        expect(key.privatePEM, is: TestPEM.rsaPrivate + "\n")
        expect(try SigningKey.pem(TestPEM.edwardsPrivate).privatePEM, is: TestPEM.edwardsPrivate + "\n")
        expect(try SigningKey.secret("secret").privatePEM, is: nil)
        expect(try SigningKey.secret("secret").publicPEM, is: nil)
    }

    @Test("DER works for certificates and both forms of public keys, and not for cut or longer bytes")
    func der() throws {
        let key = try VerificationKey.pem(TestPEM.rsaPublic)[0]
        let bytes = try #require(key.publicDER)
        expect(try VerificationKey.publicKey(der: bytes).thumbprint, is: key.thumbprint)
        let pkcs1 = try body(of: TestPEM.rsaPKCS1Public)
        expect(try VerificationKey.publicKey(der: pkcs1).thumbprint, is: key.thumbprint)
        let certificate = try body(of: TestPEM.rsaCertificate)
        expect(try VerificationKey.certificate(der: certificate).thumbprint, is: key.thumbprint)
        for broken in [bytes + [0], Array(bytes.dropLast()), [], [0x30]] {
            expect(throws: KeyError.self) { try VerificationKey.publicKey(der: broken) }
        }
        for broken in [certificate + [0], Array(certificate.dropLast()), []] {
            expect(throws: KeyError.self) { try VerificationKey.certificate(der: broken) }
        }
    }

    @Test("A private key in DER is refused when it is cut, longer, or another one's shape, wherever in it that is")
    func brokenPrivate() throws {
        for text in [TestPEM.rsaPrivate, TestPEM.rsaPKCS1Private] {
            let label = text.hasPrefix("-----BEGIN RSA") ? "RSA PRIVATE KEY" : "PRIVATE KEY"
            let bytes = try body(of: text)
            for broken in [bytes + [0], Array(bytes.dropLast()), Array(bytes.prefix(40)), [0x30, 0x00], []] {
                expect(throws: KeyError.self) { try SigningKey.pem(PEM.text(label: label, broken)) }
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

    @Test("The numbers of an RSA key are read as OpenSSL reads them, or not at all") func numbers() throws {
        let info = try body(of: TestPEM.rsaPrivate)
        let numbers = try #require(RSANumbers.privateKey(info))
        expect(try #require(RSANumbers.privateKey(try body(of: TestPEM.rsaPKCS1Private))), is: numbers)
        let members = try #require(try SigningKey.pem(TestPEM.rsaPrivate).publicJWK()?.object)
        expect(members["n"]?.string, is: Base64URL.encode(numbers[0]))
        expect(members["e"]?.string, is: Base64URL.encode(numbers[1]))
        let found = try #require(RSANumbers.publicKeyInfo(try body(of: TestPEM.rsaPublic)))
        expect(found.modulus, is: numbers[0])
        expect(found.exponent, is: numbers[1])
        expect(RSANumbers.privateKey(try body(of: TestPEM.ecPrivate)), is: nil)
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
    func unusualNumbers(_ bytes: [UInt8]) { #expect(RSANumbers.publicKey(bytes[...]) == nil) }

    @Test("Numbers in DER keep their value, whatever their first bit") func usualNumbers() throws {
        let bytes: [UInt8] = [0x30, 0x07, 0x02, 0x02, 0x00, 0x85, 0x02, 0x01, 0x03]
        let key = try #require(RSANumbers.publicKey(bytes[...]))
        expect(key.modulus, is: [0x85])
        expect(key.exponent, is: [3])
    }

    private static func base64(_ pem: String) -> String {
        pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    }

    private func body(of pem: String) throws -> [UInt8] {
        try #require(Base64URL.decodeLeniently(Self.base64(pem).utf8))
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
            (TestPEM.encrypted, .privateKey), ("no key at all", .noKeyInPEM),
        ])
    func refused(_ pem: String, _ error: KeyError) { expect(throws: error) { try VerificationKey.pem(pem) } }

    private static let pem = TestPEM.rsaPublic

    /// Forms in which people have keys, each with what is said of it.
    private static let forms: [(text: String, phrase: String)] = [
        (" \n", "it is empty"),
        (pem.replacing("\n", with: ""), "its line breaks are missing; the BEGIN and END lines stand alone"),
        (pem.replacing("\n", with: "\\n"), "its line breaks are written \\n; replace them by line breaks"),
        (pem.replacing("\n", with: " "), "blanks stand in place of its line breaks; write line breaks"),
        ("  " + pem.replacing("\n", with: "\n  "), "its lines are indented; remove what stands before them"),
        (pem.replacing("\n", with: "\r"), "its lines end in CR alone; write LF"),
        (
            base64(pem),
            "it is a SubjectPublicKeyInfo in base64 without its lines -----BEGIN PUBLIC KEY----- and -----END PUBLIC KEY-----"
        ),
        (
            base64(TestPEM.rsaCertificate),
            "it is a certificate in base64 without its lines -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----"
        ),
        ("ssh-rsa AAAAB3NzaC1yc2E= me", "it is an OpenSSH public key; ssh-keygen -e -m PKCS8 -f FILE prints it as PEM"),
        (
            "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----",
            "it is an SSH2 public key; ssh-keygen -i -f FILE and ssh-keygen -e -m PKCS8 -f make PEM of it"
        ),
        (
            pem.replacing("-----", with: "----"),
            "its BEGIN line is not right; write five hyphens on each side, as in -----BEGIN PUBLIC KEY-----"
        ),
        (
            pem.replacing("-----", with: "—–"),
            "its dashes are not hyphens; write five of them (-----) on each side of BEGIN and END lines"
        ),
        (pem.replacing("N P", with: "N\u{A0}P"), "it has the character \\u00a0, which PEM has not; remove it"),
        (pem.replacing("\nMI", with: "\n\u{200B}MI"), "it has the character \\u200b, which PEM has not; remove it"),
        (pem.replacing("MII", with: "M!I"), "it has “!” among its base64; remove it"),
        (String(pem.prefix(200)), "its END line is missing or not whole; perhaps it was cut off"),
        (String(pem.dropLast(10)), "its END line is missing or not whole; perhaps it was cut off"),
        (
            PEM.text(label: "CERTIFICATE REQUEST", [0x30, 0]),
            "it is a certificate request; openssl req -in FILE -noout -pubkey prints its key"
        ),
        (
            PEM.text(label: "TRUSTED CERTIFICATE", [0x30, 0]),
            "it is a certificate in OpenSSL's own form; openssl x509 -in FILE writes it as CERTIFICATE"
        ),
        (
            PEM.text(label: "DH PARAMETERS", [0x30, 0]),
            "it is a PEM block “DH PARAMETERS”; expected PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE"
        ),
        ("<html>404", "it is a page in HTML or XML, perhaps an error or a sign-in page; download the key again"),
        (#"{"jwks_uri":"https://a/k"}"#, "it is a discovery document; the keys are at the URL in its jwks_uri"),
        ("[]", #"it is a list; a JWKS has the list in its member: {"keys": […]}"#),
        (JSON.string(pem).text, "it is a JSON string; give the text in it"),
        (JSON.object(["a": .string(pem)]).text, "it is a map of key ids to PEM texts; give one of the texts"),
        (#"{"error":"not found"}"#, "it is a JSON object without keys; a JWK has kty, and a JWKS an array “keys”"),
        ("eyJhbGciOiJIUzI1NiJ9.e30.AA", "it is a JWT; give the key that verifies it"),
        ("\u{FEFF}{}", "it begins with a byte order mark; save it without"),
    ]

    @Test("What people have in place of a PEM text is named, with what to do", arguments: forms)
    func form(_ text: String, _ phrase: String) {
        expect(throws: KeyError.unreadable(phrase)) { try VerificationKey.pem(text) }
    }

    @Test(
        "A block with the label of another is named by what it holds",
        arguments: [
            (pem, "RSA PUBLIC KEY", "a SubjectPublicKeyInfo", "PUBLIC KEY"),
            (TestPEM.rsaPKCS1Public, "PUBLIC KEY", "an RSAPublicKey of PKCS#1", "RSA PUBLIC KEY"),
            (TestPEM.rsaCertificate, "PUBLIC KEY", "a certificate", "CERTIFICATE"),
            (TestPEM.rsaCertificate, "X509 CERTIFICATE", "a certificate", "CERTIFICATE"),
        ])
    func mislabelled(_ pem: String, _ label: String, _ content: String, _ right: String) {
        let phrase = "the block \(label) holds \(content), whose label is \(right)"
        let text = pem.replacing(right + "-----", with: label + "-----")
        expect(throws: KeyError.unreadable(phrase)) { try VerificationKey.pem(text) }
    }

    @Test("What people have in place of a key in DER is named, with what to do") func binaryForm() throws {
        let utf16 = Array("-----BEGIN PUBLIC KEY-----".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let key = try body(of: TestPEM.rsaPrivate)
        let forms: [([UInt8], String)] = [
            ([], "it is empty"), (utf16, "it is text in UTF-16; save it as UTF-8"),
            ([0xFF, 0xFE] + utf16, "it is text in UTF-16; save it as UTF-8"),
            ([0x30, 3, 2, 1, 3], "it is a PKCS#12 file, which is not taken; export its certificate as PEM"),
            (key, "it is a private key in DER; openssl pkey -in FILE -pubout prints its public key"),
        ]
        for (bytes, phrase) in forms {
            expect(throws: KeyError.unreadable(phrase)) { try VerificationKey.publicKey(der: bytes) }
        }
    }

    @Test("A secret that is too short for the algorithm that its JWK names is refused, and noted otherwise")
    func shortSecret() throws {
        let why = "has 6 bytes; its alg HS256 needs 32 (RFC 7518 section 3.2)"
        let jwk: JSON = ["kty": "oct", "alg": "HS256", "k": "c2VjcmV0"]
        expect(throws: KeyError.member("k", why)) { try VerificationKey.jwk(jwk, acceptsPrivate: true) }
        expect(throws: KeyError.member("k", why)) { try SigningKey.jwk(jwk) }
        let open = try VerificationKey.jwk(["kty": "oct", "k": "c2VjcmV0"], acceptsPrivate: true)
        expect(open.strengthFinding(for: .hs256)?.outcome, is: .noted)
    }

    @Test("An exponent of 3 is small but sound")
    func exponentThree() throws { expect(try VerificationKey.pem(TestPEM.exponentThree)[0].kind, is: .rsa(bits: 2048)) }

    @Test(
        "Private keys are told from public and from locked ones",
        arguments: [
            (TestPEM.rsaPublic, KeyError.notPrivate), (TestPEM.rsaCertificate, .notPrivate),
            (TestPEM.encrypted, .encryptedPrivateKey), (TestPEM.encryptedOld, .encryptedPrivateKey),
            (
                "nothing",
                .unreadable("no PEM block with a private key; expected PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY")
            ),
            (
                PEM.text(label: "OPENSSH PRIVATE KEY", [1]),
                .unreadable("it is an OpenSSH private key; ssh-keygen -p -m PKCS8 -f FILE rewrites it as PEM")
            ),
        ])
    func notPrivate(_ pem: String, _ error: KeyError) { expect(throws: error) { try SigningKey.pem(pem) } }

    @Test("An empty secret is refused, a short one earns a remark") func secrets() throws {
        expect(throws: KeyError.emptySecret) { try VerificationKey.secret("") }
        expect(throws: KeyError.emptySecret) { try SigningKey.secret([]) }
        let key = try VerificationKey.secret("secret")
        expect(key.strengthFinding(for: .hs512)?.outcome, is: .noted)
        expect(try VerificationKey.secret([UInt8](repeating: 7, count: 64)).strengthFinding(for: .hs512), is: nil)
    }

    @Test("No key shows its secret, however it is printed") func printing() throws {
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
            expect(text, contains: "secret of 27 bytes “k”")
        }
    }
}
