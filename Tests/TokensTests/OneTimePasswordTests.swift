import Testing
import Tokens

/// The published examples of RFC 4226 and RFC 6238, and those of RFC 4648 for the form of secrets.
@Suite("One-time passwords")
struct OneTimePasswordTests {
    @Test("RFC 4226 appendix D: ten passwords by counter")
    func byCounter() {
        let passwords = OneTimePassword(secret: Array("12345678901234567890".utf8))
        let published = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        for (counter, password) in published.enumerated() { #expect(passwords.password(UInt64(counter)) == password) }
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
        #expect(passwords.password(seconds / UInt64(OneTimePassword.stepSeconds)) == password)
    }

    @Test(
        "RFC 4648 section 10: base32",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ])
    func base32(_ text: String, _ encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
        #expect(Base32.decode(encoded) == Array(text.utf8))
    }

    @Test("case, blanks and padding of a secret do not count, other characters do")
    func typedSecrets() {
        #expect(Base32.decode("mzxw 6ytb oi======") == Array("foobar".utf8))
        #expect(Base32.decode("MZXW1") == nil)
        #expect(Base32.decode("MZXW-6") == nil)
    }
}
