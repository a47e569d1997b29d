import JSON
import Testing
import Tokens

@testable import Emulation

@Suite("What is secret by what it is")
struct RedactorTests {
    private let redactor = Redactor(
        hiding: ["operator-key-1", "secret", #"pass"word\1"#, "48291357"], published: ["public-key-1"])

    private static let header = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
    private static let claims = Base64URL.encode(Array(#"{"sub":"ada"}"#.utf8))
    private static let pem =
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdef\nQUJD\n-----END RSA PRIVATE KEY-----"

    @Test(
        "a known secret is hidden in any text, as it is or percent-encoded",
        arguments: [
            ("operator-key-1", "***"), ("x operator-key-1 y", "x *** y"), ("a=operator-key-1operator-key-1", "a=***"),
            ("%6Fperator-key%2D1", "***"), (#"say pass"word\1"#, "say ***"), ("operator-key-2", "operator-key-2"),
            ("operator-key-", "operator-key-"),
            // On its own it is a value; in a sentence it is just a word.
            ("secret", "***"), ("a=secret&b=secrets", "a=***&b=secrets"), ("the secret fits", "the secret fits"),
            ("48291357", "***"), ("code 48291357.", "code ***."), ("148291357", "148291357"),
        ])
    func known(_ text: String, _ shown: String) {
        #expect(redactor.text(text) == shown)
    }

    @Test("of secrets that begin alike the longest is found, whatever others there are")
    func alike() {
        let texts = (0..<200).map { "password-\($0)" } + ["password-", "password-1-and-more", "passwords-0"]
        let redactor = Redactor(hiding: texts.shuffled())
        #expect(redactor.text("password-1-and-more!") == "***!")
        #expect(redactor.text("password-1-and-mor") == "***-and-mor")
        #expect(redactor.text("password-xpassword-199") == "***x***")
        #expect(redactor.text("passwords-1 passwor") == "passwords-1 passwor")
        let long = String(repeating: "0123456789abcdef", count: 40)
        #expect(!Redactor(hiding: [long]).text("x\(long)y").contains("x0"))
    }

    @Test(
        "a token loses its signature and keeps what it says",
        arguments: [
            ("H.P.c2ln", "H.P.***"), ("x?t=H.P.c2ln&b=1", "x?t=H.P.***&b=1"),
            ("Bearer H.P.c2ln, next", "Bearer H.P.***, next"),
            ("H.P.c2l+/x==", "H.P.***"), ("H.P.c2ln.more", "H.P.***"), ("arbled.P.c2ln", "arbled.P.***"),
            ("H.arbled.c2ln", "H.arbled.***"), ("v1.H.P.c2ln", "v1.H.P.***"), ("H.P", "H.P"), ("H.P.", "H.P."),
            ("H%2EP%2Ec2ln", "H%2EP%2E***"), ("www.example.test", "www.example.test"),
            ("example.of.nothing", "example.of.nothing"), ("1.2.3", "1.2.3"),
        ])
    func token(_ text: String, _ shown: String) {
        func whole(_ text: String) -> String {
            text.replacing("H", with: Self.header).replacing("P", with: Self.claims)
        }
        #expect(redactor.text(whole(text)) == whole(shown))
    }

    @Test("a JWE keeps its header alone, and a path goes on behind a token")
    func encrypted() {
        let header = Base64URL.encode(Array(#"{"alg":"dir","enc":"A128GCM"}"#.utf8))
        #expect(redactor.text("\(header)..aXY.dGV4dA.dGFn") == "\(header).***")
        let token = "\(Self.header).\(Self.claims).c2ln"
        #expect(redactor.path("/a/\(token)/b") == "/a/\(Self.header).\(Self.claims).***/b")
    }

    @Test("a private key is hidden in every form that PEM arrives in")
    func keys() {
        let end = "-----END RSA PRIVATE KEY-----"
        let hidden = "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----"
        #expect(redactor.text(Self.pem) == hidden)
        #expect(redactor.text(Self.pem.replacing("\n", with: #"\n"#)) == hidden)
        #expect(redactor.text(Self.pem.replacing("\n", with: " ")) == hidden)
        #expect(redactor.text(Self.pem.replacing("\n", with: "")) == hidden)
        #expect(redactor.text(Self.pem.replacing(end, with: "")) == "-----BEGIN RSA PRIVATE KEY-----***")
        let form = Self.pem.replacing(" ", with: "+").replacing("\n", with: "%0A")
        #expect(redactor.text("key=" + form) == "key=" + hidden.replacing(" ", with: "+"))
        #expect(redactor.text("expected a PRIVATE KEY in PEM") == "expected a PRIVATE KEY in PEM")
    }

    @Test(
        "private members of a JWK and members with secret names are hidden, wherever they lie",
        arguments: [
            (#"{"kty":"OKP","d":"abc","x":"def"}"#, #"{"kty":"OKP","d":"***","x":"def"}"#),
            (#"{"a":[{"d":"abc"}]}"#, #"{"a":[{"d":"abc"}]}"#),
            (
                #"{"newPassword":"x","client-secret":5,"has_password":true}"#,
                #"{"newPassword":"***","client-secret":"***","has_password":true}"#
            ),
            (#"{"api_key":"x","apiKey":"public-key-1"}"#, #"{"api_key":"***","apiKey":"public-key-1"}"#),
            (#"{"n":48291357,"operator-key-1":[null]}"#, #"{"n":"***","***":[null]}"#),
        ])
    func members(_ text: String, _ shown: String) throws {
        #expect(redactor.json(try JSON.parse(text.utf8)).text == shown)
    }

    @Test("an answer of the server keeps its names and stays JSON")
    func answer() throws {
        let text = #"{"members":{"password":"about"},"a":"operator-key-1","n":48291357,"secret":"secret"}"#
        let shown = #"{"members":{"password":"about"},"a":"***","n":"***","secret":"***"}"#
        #expect(String(decoding: redactor.answer(Array(text.utf8)), as: UTF8.self) == shown)
    }

    @Test("the secrets that a ledger has learned since a number are given once, the newest first")
    func ledger() {
        var ledger = SecretLedger()
        ledger.add("a")
        let mark = ledger.latest
        ledger.add("b")
        ledger.add("c")
        #expect(ledger.texts(after: mark) == ["c", "b"])
        #expect(ledger.texts(after: ledger.latest) == [])
        for _ in 0..<100_000 { ledger.add("d") }
        #expect(ledger.texts(after: 0).count <= 100_000)
    }
}
