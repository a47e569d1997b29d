import Testing
import Tokens

/// One secret, one signing input, and the result of each known mistake; all invented test data.
@Suite("Signatures made with a mistaken secret")
struct SignatureDiagnosisTests {
    static let secret = "5e8f02c17ab94d365e8f02c17ab94d36"
    static let input =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJtaXJhIiwibm9uY2UiOiIzYjZmMGE1NC05YzFkLTRlNjctOGEyMC01"
        + "ZDFmN2M5ZTRiMTAiLCJhdWQiOiJodHRwczovL2FwaS5jb21hcGkuY29tIiwiaXNzIjoiaHR0cHM6Ly9hcGkuY29tYXBpLmNvbS9k"
        + "ZWZhdWx0YXV0aCIsImlhdCI6MTc5ODc2MTYwMCwiZXhwIjoxNzk4ODQ4MDAwfQ"

    static func diagnose(_ signature: String, secret: String = secret) -> SignatureDiagnosis? {
        .explain(
            CompactToken("\(input).\(signature)"), algorithm: .hs256, secret: secret,
            others: [.init(name: "first", secret: "one"), .init(name: "second", secret: "another secret")])
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
        #expect(Self.diagnose(signature) == diagnosis)
    }

    @Test("have no explanation when they are right, strange, or on a broken token")
    func nothing() throws {
        #expect(Self.diagnose("JziPVDysz4tjA5NLNLewt20BHdRlhGy_owqs-r9XSOM") == nil)
        #expect(try Self.diagnose(Self.signature(Array("something else".utf8))) == nil)
        #expect(Self.diagnose("42GR93T9fV4iv3wYSh5BNpbkwzWcyNIiwdX8rKMBkr4=") == nil)
        #expect(Self.diagnose("") == nil)
    }

    @Test("are explained by white space, Latin-1, unpadded base64 and other accounts")
    func others() throws {
        #expect(try Self.diagnose(Self.signature(Array("a b".utf8)), secret: " a b\r\n") == .secretTrimmed)
        for blank in [" ", "\n", "\r\n"] {
            #expect(try Self.diagnose(Self.signature(Array("a b\(blank)".utf8)), secret: "a b") == .secretExtended)
        }
        #expect(try Self.diagnose(Self.signature([0x63, 0x61, 0x66, 0xE9]), secret: "caf\u{E9}") == .secretLatin1)
        #expect(
            try Self.diagnose(Self.signature(Array("YSBi".utf8)), secret: "a b")
                == .secretBase64Text(hasLineBreak: false))
        #expect(
            try Self.diagnose(Self.signature(Array("YSBiIQ".utf8)), secret: "a b!")
                == .secretBase64Text(hasLineBreak: false))
        #expect(try Self.diagnose(Self.signature(Array("another secret".utf8))) == .secretOfAnother("second"))
    }

    @Test("get a remark that says what to do")
    func finding() {
        let finding = SignatureDiagnosis.secretHexDecoded.finding
        #expect(finding.check == "secret-hex-decoded")
        #expect(finding.outcome == .noted)
        #expect(finding.note?.contains("hexadecimal") == true)
    }
}
