import Expectations
import JSON
import Testing

@testable import Tokens

@Suite("Signing and verifying") struct RoundTripTests {
    @Test("fit each other for every algorithm, and for no other", arguments: Algorithm.allCases)
    func everyAlgorithm(_ algorithm: Algorithm) throws {
        let key = try Attack.key(for: algorithm)
        let message: [UInt8] = Array("a message".utf8)
        let signature = try key.sign(message, algorithm: algorithm)
        for other in Algorithm.allCases {
            let fits = key.verificationKey.isValid(signature: signature, for: message, algorithm: other)
            expect(fits, is: (other == algorithm))
        }
        expect(key.verificationKey.isValid(signature: signature, for: message + [0], algorithm: algorithm), is: false)
        expect(key.verificationKey.isValid(signature: [], for: message, algorithm: algorithm), is: false)
        expect(
            key.verificationKey.limited(to: []).isValid(signature: signature, for: message, algorithm: algorithm),
            is: false)
    }

    @Test("hold for any number of ECDSA signatures, short numbers in them included", arguments: KeyKind.Curve.allCases)
    func manySignatures(_ curve: KeyKind.Curve) throws {
        let key = try SigningKey.generateEC(curve)
        let algorithm = key.algorithms[0]
        // One in 128 signatures has an r or s with a leading zero byte.
        for index in 0..<300 {
            let message = [UInt8(index & 0xFF), UInt8(index >> 8)]
            let signature = try key.sign(message, algorithm: algorithm)
            expect(key.verificationKey.isValid(signature: signature, for: message, algorithm: algorithm), is: true)
        }
    }

    @Test("work from many tasks with one key", arguments: [Algorithm.hs512, .rs256, .es256, .edDSA])
    func concurrently(_ algorithm: Algorithm) async throws {
        let key = try Attack.key(for: algorithm).verificationKey
        let token = CompactToken(
            try TokenDraft(header: [:], claims: [:]).mint(key: Attack.key(for: algorithm), algorithm: algorithm))
        let passed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).count { _ in token.signature(by: key, algorithm: algorithm).outcome == .passed }
                }
            }
            return await group.reduce(0, +)
        }
        expect(passed, is: 400)
    }

    @Test("refuse RSA keys that are too short or too long to be made") func generation() throws {
        expect(throws: KeyError.rsaTooSmall(bits: 2047)) { try SigningKey.generateRSA(bits: 2047) }
        expect(throws: KeyError.rsaTooLarge(bits: 16_385)) { try SigningKey.generateRSA(bits: 16_385) }
        expect(try SigningKey.generateRSA(id: "new").kind, is: .rsa(bits: 2048))
    }

    @Test("RSA keys decrypt what was encrypted for them, with the same hash only", arguments: OAEPHash.allCases)
    func oaep(_ hash: OAEPHash) throws {
        let key = try Attack.key(for: .rs256)
        let text = Array("4200000000000000".utf8)
        let encrypted = try #require(key.verificationKey.encryptOAEP(text, hash: hash))
        expect(encrypted.count, is: 256)
        expect(key.decryptOAEP(encrypted, hash: hash), is: text)
        expect(key.decryptOAEP(encrypted, hash: hash == .sha1 ? .sha256 : .sha1), is: nil)
        expect(key.decryptOAEP(Array(encrypted.dropLast()), hash: hash), is: nil)
        expect(key.decryptOAEP([], hash: hash), is: nil)
        expect(try SigningKey.jwk(PublishedVector.a2.jwk()).decryptOAEP(encrypted, hash: hash), is: nil)
        expect(key.verificationKey.encryptOAEP([UInt8](repeating: 0, count: 256), hash: hash), is: nil)
        expect(try Attack.key(for: .es256).decryptOAEP(encrypted), is: nil)
        let empty = try #require(key.verificationKey.encryptOAEP([], hash: hash))
        expect(key.decryptOAEP(empty, hash: hash), is: [])
    }
}

/// The published examples of RFC 4226 and RFC 6238, and those of RFC 4648 for the form of secrets.
@Suite("One-time passwords") struct OneTimePasswordTests {
    @Test("RFC 4226 appendix D: ten passwords by counter") func byCounter() {
        let passwords = OneTimePassword(secret: Array("12345678901234567890".utf8))
        let published = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        for (counter, password) in published.enumerated() { expect(passwords.password(UInt64(counter)), is: password) }
    }

    /// The last six of the published eight digits.
    @Test(
        "RFC 6238 appendix B: passwords by time",
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ])
    func byTime(_ seconds: UInt64, _ password: String) {
        let passwords = OneTimePassword(secret: Array("12345678901234567890".utf8))
        expect(passwords.password(seconds / UInt64(OneTimePassword.stepSeconds)), is: password)
    }

    @Test(
        "RFC 4648 section 10: base32",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ])
    func base32(_ text: String, _ encoded: String) {
        expect(Base32.decode(encoded), is: Array(text.utf8))
    }

    @Test("case, blanks and padding of a secret do not count, other characters do") func typedSecrets() {
        expect(Base32.decode("mzxw 6ytb oi======"), is: Array("foobar".utf8))
        expect(Base32.decode("MZXW1"), is: nil)
        expect(Base32.decode("MZXW-6"), is: nil)
    }
}

@Suite("RSA keys of a broken generator") struct ROCAFingerprintTests {
    /// A 2048-bit test modulus composed of random powers; no one uses its primes.
    private static let marked =
        "6J8UwMkFyxVFGsKNQze3zy6s58gBITKJqkz2-Scx7oUiLCnsIuaZcm7aHP1WKzPjjgSz9FEQbgqYUNWx7JnKtMOfLWwam-6kqPJQ"
        + "A-UuRO1OkgamBqkQZUDnNULGwpVGQcrGZXWQUnUofsVhRKZcLn04Ol3MXkiZdwyfVngB1S7vA2FUAnN-kYHwbdzbrYjReiBCM4fB"
        + "OJCKz2ERc79lP1nE4qzFRsioe4m7mWXRkaUzQ45w-WGKcxDkZ_Tcdw9KE92xCJ1t24hnsWt7Xnzcboo4tAbpq6mt-I8P_-oWlhQF"
        + "C5efdGEUD6nj2jPnH7eB1HB1tIOB8SpD6Ez19DucRw"

    @Test("a modulus that lies in the subgroup of 65537 modulo every small prime is refused by name") func marked() {
        expect(throws: KeyError.rsaFingerprint) {
            try VerificationKey.jwk(["kty": "RSA", "n": .string(Self.marked), "e": "AQAB"])
        }
        expect(KeyError.rsaFingerprint.description, contains: "ROCA fingerprint (CVE-2017-15361)")
    }

    @Test("keys of other generators do not bear the mark")
    func others() { #expect(throws: Never.self) { try SigningKey.generateRSA(bits: 3072) } }
}

/// One secret, one signing input, and the result of each known mistake; all invented test data.
@Suite("Signatures made with a mistaken secret") struct SignatureDiagnosisTests {
    static let secret = "5e8f02c17ab94d365e8f02c17ab94d36"
    static let input =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJtaXJhIiwibm9uY2UiOiIzYjZmMGE1NC05YzFkLTRlNjctOGEyMC01"
        + "ZDFmN2M5ZTRiMTAiLCJhdWQiOiJodHRwczovL2FwaS5jb21hcGkuY29tIiwiaXNzIjoiaHR0cHM6Ly9hcGkuY29tYXBpLmNvbS9k"
        + "ZWZhdWx0YXV0aCIsImlhdCI6MTc5ODc2MTYwMCwiZXhwIjoxNzk4ODQ4MDAwfQ"

    static let others = [("one", "first"), ("another secret", "second")].compactMap {
        try? SecretKey($0, of: $1, for: .hs256)
    }

    static func diagnose(_ signature: String, secret: String = secret) -> SignatureDiagnosis? {
        .explain(CompactToken("\(input).\(signature)"), algorithm: .hs256, secret: secret, others: others)
    }

    static func signature(_ key: [UInt8]) throws -> String {
        Base64URL.encode(try SigningKey.secret(key).sign(Array(input.utf8), algorithm: .hs256))
    }

    @Test(
        "are explained as published",
        arguments: [
            ("42GR93T9fV4iv3wYSh5BNpbkwzWcyNIiwdX8rKMBkr4", SignatureDiagnosis.secretHexDecoded),
            ("6medkCx2X6jgUoWsMWzr80pxrrUUdWacrE-r8-LXIYQ", .secretBase64Decoded),
            ("I4oO1_7IpSgpHMkEQtsmFDswuED29pc9I8ZZr3mtnlM", .secretBase64Text(hasLineBreak: false)),
            ("Gg_xXkPq7UN8N0AydzuZ_6UCd2dFIlZA4OJlXKPlH44", .secretBase64Text(hasLineBreak: true)),
        ])
    func published(_ signature: String, _ diagnosis: SignatureDiagnosis) {
        expect(Self.diagnose(signature), is: diagnosis)
    }

    @Test("have no explanation when they are right, strange, or on a broken token") func nothing() throws {
        expect(Self.diagnose("JziPVDysz4tjA5NLNLewt20BHdRlhGy_owqs-r9XSOM"), is: nil)
        expect(try Self.diagnose(Self.signature(Array("something else".utf8))), is: nil)
        expect(Self.diagnose("42GR93T9fV4iv3wYSh5BNpbkwzWcyNIiwdX8rKMBkr4="), is: nil)
        expect(Self.diagnose(""), is: nil)
    }

    @Test("are explained by white space, Latin-1, unpadded base64 and other accounts") func others() throws {
        expect(try Self.diagnose(Self.signature(Array("a b".utf8)), secret: " a b\r\n"), is: .secretTrimmed)
        for blank in [" ", "\n", "\r\n"] {
            expect(try Self.diagnose(Self.signature(Array("a b\(blank)".utf8)), secret: "a b"), is: .secretExtended)
        }
        expect(try Self.diagnose(Self.signature([0x63, 0x61, 0x66, 0xE9]), secret: "caf\u{E9}"), is: .secretLatin1)
        expect(
            try Self.diagnose(Self.signature(Array("YSBi".utf8)), secret: "a b"),
            is: .secretBase64Text(hasLineBreak: false))
        expect(
            try Self.diagnose(Self.signature(Array("YSBiIQ".utf8)), secret: "a b!"),
            is: .secretBase64Text(hasLineBreak: false))
        expect(try Self.diagnose(Self.signature(Array("another secret".utf8))), is: .secretOfAnother("second"))
    }

    @Test("are explained by decoders that drop what they do not know, and by padding left out") func lenient() throws {
        let secret = "a-b_c.dQ=="
        for kept in ["abcdQ", "a-b_cdQ"] {
            let key = try #require(Base64URL.decodeLeniently(kept.utf8.dropLast(kept.count % 4 == 1 ? 1 : 0)))
            expect(try Self.diagnose(Self.signature(key), secret: secret), is: .secretBase64Decoded)
        }
        expect(try Self.diagnose(Self.signature(Array("a-b_c.dQ".utf8)), secret: secret), is: .secretUnpadded)
    }

    @Test("get a remark that says what to do") func finding() {
        let finding = SignatureDiagnosis.secretHexDecoded.finding
        expect(finding.check, is: "secret-hex-decoded")
        expect(finding.outcome, is: .noted)
        expect(finding.note?.contains("hexadecimal"), is: true)
    }
}

@Suite("Texts that look alike") struct LookalikeTests {
    @Test(
        "What differs by nothing that people see is shown with escapes",
        arguments: [
            ("zo\u{E9}", "zoe\u{301}", "zo\\u00e9", "zoe\\u0301"),
            ("ada", "\u{430}da", "ada", "\\u0430da"), ("ada", "ada\u{200B}", "ada", "ada\\u200b"),
            ("ada", "ada ", "ada", "ada\\u0020"), ("a\u{1F600}", "b\u{1F600}", "a\u{1F600}", "b\u{1F600}"),
            ("\u{1F600}", "\u{1F601}", "\\ud83d\\ude00", "\\ud83d\\ude01"), ("ada", "adb", "ada", "adb"),
            ("zo\u{E9}", "zo\u{E9}", "zo\u{E9}", "zo\u{E9}"),
        ])
    func escapes(_ one: String, _ other: String, _ shown: String, _ otherShown: String) {
        let (first, second) = Lookalikes.distinguished(one, other)
        expect(Array(first.unicodeScalars), is: Array(shown.unicodeScalars))
        expect(Array(second.unicodeScalars), is: Array(otherShown.unicodeScalars))
    }

    @Test("A failed finding shows both sides with escapes, a passed one as they are") func finding() {
        let failed = Finding("user", .failed, expected: .text("zo\u{E9}"), found: .json(.string("zoe\u{301}")))
        expect(failed.description, contains: "zo\\u00e9", "zoe\\u0301")
        expect(failed.json["found"]?.string, is: "zoe\\u0301")
        let passed = Finding("user", .passed, expected: .text("zo\u{E9}"), found: .text("zo\u{E9}"))
        expect(passed.description, lacks: "\\u")
    }
}

@Suite("Reading a token") struct TokenReadingTests {
    private static let header = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    @Test(
        "counts the parts up to six, and takes the first three for header, payload and signature",
        arguments: [
            ("", 1), (".", 2), ("..", 3), ("a", 1), ("a.", 2), ("a.b", 2), ("a.b.", 3), (".b.c", 3), ("a.b.c", 3),
            ("a.b.c.", 4), ("a.b.c.d.e", 5), ("a.b.c.d.e.f", 6), ("a.b.c.d.e.f.g.h", 6), (".......", 6),
        ])
    func parts(_ text: String, _ count: Int) {
        let token = CompactToken(text)
        expect(token.partCount, is: count)
        expect(token.isWellFormed, is: false)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        expect(String(decoding: token.signingInput, as: UTF8.self), is: (count > 1 ? "\(parts[0]).\(parts[1])" : ""))
        expect((token.signature != nil), is: (count > 2 && parts[2].utf8.count != 1))
    }

    @Test("does not look into one that is too long") func limit() {
        let token = CompactToken("a.b.c", limits: .init(bytes: 4))
        expect(token.partCount, is: 0)
        expect(token.header, is: nil)
        expectEmpty(token.signingInput)
        expect(token.structure.map(\.outcome), is: [.failed] + Array(repeating: .notJudged, count: 8))
    }

    @Test("finds the same in a header however often it came") func again() {
        let first = CompactToken("\(Self.header).e30.AA")
        for _ in 0..<3 {
            let token = CompactToken("\(Self.header).e30.AA")
            expect(token.header, is: first.header)
            expect(token.structure, is: first.structure)
        }
    }

    @Test("holds a header that came before to the depth that is permitted now") func depth() {
        let header = Base64URL.encode(Array(#"{"alg":"HS256","a":{"b":{"c":1}}}"#.utf8))
        for _ in 0..<2 {
            #expect(CompactToken("\(header).e30.AA").header != nil)
            expect(CompactToken("\(header).e30.AA", limits: .init(depth: 2)).header, is: nil)
        }
    }

    @Test("tells broken headers from sound ones, also when they take turns") func broken() {
        for _ in 0..<3 {
            expect(CompactToken("\(Self.header).e30.AA").isWellFormed, is: true)
            expect(CompactToken("\(Self.header)=.e30.AA").isWellFormed, is: false)
            expect(CompactToken("\(Self.header)=.e30.AA", encoding: .lenient).isWellFormed, is: true)
            expect(CompactToken("\(Self.header.dropLast(4)).e30.AA").isWellFormed, is: false)
        }
    }

    @Test("never takes one header for another, on many threads at once") func manyHeaders() async {
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    (0..<500).count { round in
                        let kid = "\(task)-\(round % 48 + 100)"
                        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"\#(kid)"}"#.utf8))
                        return CompactToken("\(header).e30.AA").header?["kid"]?.string != kid
                    }
                }
            }
            for await wrong in group { expect(wrong, is: 0) }
        }
    }
}
