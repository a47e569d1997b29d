import Expectations
import JSON
import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("What the journal hides") struct MaskTests {
    @Test(
        "a credential loses what makes it valid and nothing else",
        arguments: [
            ("Bearer eyJh.eyJi.c2ln", "Bearer eyJh.eyJi.***"), ("eyJh.eyJi.c2ln", "eyJh.eyJi.***"),
            ("Bearer Bearer eyJh.eyJi.c2ln", "Bearer Bearer eyJh.eyJi.***"),
            ("bearer  eyJh.eyJi.c2ln", "bearer eyJh.eyJi.***"),
            ("Basic dXNlcjpwYXNz", "Basic ***"), ("JWT eyJh.eyJi.c2ln", "JWT eyJh.eyJi.***"), ("Bearer", "Bearer ***"),
            ("", "***"), ("secret", "***"), ("Bearer opaque", "Bearer ***"), ("Bearer a.b.c", "Bearer ***"),
            ("Bearer eyJh.eyJi", "Bearer ***"), ("Bearer eyJh.eyJi.c2ln.e30", "Bearer ***"),
            ("Bearer eyJh.eyJi.c2ln, Bearer eyJh.eyJi.c2ln", "Bearer ***"), ("several words of a secret", "***"),
        ])
    func credential(_ value: String, _ shown: String) {
        expect(Mask.credential(value), is: shown)
        expect(Mask.field("AUTHORIZATION", value), is: Mask.credential(value))
        expect(Mask.field("x-other", value), is: value)
        expect(Mask.field("X-Other", value, hiding: ["x-other"]), is: "***")
    }

    @Test(
        "a query shows no token",
        arguments: [
            ("/x?token=secret&a=1", "/x?token=***&a=1"), ("/x?client_secret=x#b", "/x?client_secret=***"),
            ("/x?sessionToken=x&api_key=y", "/x?sessionToken=***&api_key=y"),
            ("/x?a=1&ACCESS_TOKEN=eyJh.eyJi.c2ln", "/x?a=1&ACCESS_TOKEN=eyJh.eyJi.***"),
            ("/x?tokens=1", "/x?tokens=1"), ("/x", "/x"), ("/x?", "/x?"), ("/x?token", "/x?token"),
            ("/x?token=", "/x?token=***"), ("/x?%74oken=secret&a=1", "/x?%74oken=***&a=1"),
            ("/x?a=1&%74%6F%6b%65%6E=eyJh.eyJi.c2ln", "/x?a=1&%74%6F%6b%65%6E=eyJh.eyJi.***"),
            ("/x?%2574oken=1", "/x?%2574oken=1"), ("/x%3Ftoken=secret", "/x%3Ftoken=***"),
            ("/x?%zz=1&token=secret", "/x?%zz=1&token=***"),
        ])
    func target(_ target: String, _ shown: String) { expect(Mask.target(target), is: shown) }

    @Test(
        "secret members are hidden however deep they lie",
        arguments: [
            (#"{"password":"x","name":"n"}"#, #"{"password":"***","name":"n"}"#),
            (#"{"a":[{"password":"x y z"}]}"#, #"{"a":[{"password":"***"}]}"#),
            (#"{"password":"a.b.c"}"#, #"{"password":"***"}"#), (#"{"password":{"x":1}}"#, #"{"password":"***"}"#),
            (#"{"password":null}"#, #"{"password":"***"}"#),
            (#"{"password":"Bearer eyJh.eyJi.c2ln"}"#, #"{"password":"Bearer eyJh.eyJi.***"}"#),
            (#"{"password":"my eyJword"}"#, #"{"password":"***"}"#), (#"{"Password":"x"}"#, #"{"Password":"x"}"#),
            (#"["password"]"#, #"["password"]"#),
        ])
    func members(_ body: String, _ shown: String) throws {
        expect(Mask.members(["password"], of: try JSON.parse(body.utf8)).text, is: shown)
    }

    private func shown(_ body: String, secrets: Set<String>) throws -> JSON? {
        let entry = JournalEntry(
            sandbox: "s", moment: Moment(unixSeconds: 1_800_000_000),
            request: Request(method: .post, target: "/", body: Array(body.utf8)), response: .empty(),
            record: ExchangeRecord(VendorTraits(secrets: secrets)))
        return MaskedExchange(entry, by: Redactor()).json(routes: RouteTable([]))["request"]?["body"]
    }

    @Test("of a request's content an answer's repetitions are hidden in declared members alone, at any depth")
    func repeated() {
        let body = #"{"user":"ada.lovelace","login":{"password":["enchantress"],"number":1234567}}"#
        let request = Request(method: .post, target: "/", body: Array(body.utf8))
        let told: JSON = "ada.lovelace, enchantress, 1234567"
        expect(SecretRedactor(of: request, secrets: ["password"]).hidden(in: told), is: "ada.lovelace, ***, 1234567")
        expect(SecretRedactor(of: request, secrets: ["login"]).hidden(in: told), is: "ada.lovelace, ***, ***")
    }

    @Test("a body that cannot be read is shown only where nothing in it can be secret") func unreadable() throws {
        expect(try shown("password=p", secrets: ["password"]), is: "(10 bytes)")
        expect(try shown("plain text", secrets: []), is: "plain text")
        expect(try shown("", secrets: []), is: .null)
    }
}

@Suite("What is secret by what it is") struct RedactorTests {
    private let redactor = Redactor(
        hiding: ["operator-key-1", "secret", #"pass"word\1"#, "48291357"], published: ["public-key-1"])

    private static let header = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
    private static let claims = Base64URL.encode(Array(#"{"sub":"ada"}"#.utf8))

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
    func known(_ text: String, _ shown: String) { expect(redactor.text(text), is: shown) }

    @Test("of secrets that begin alike the longest is found, whatever others there are") func alike() {
        let texts = (0..<200).map { "password-\($0)" } + ["password-", "password-1-and-more", "passwords-0"]
        let redactor = Redactor(hiding: texts.shuffled())
        expect(redactor.text("password-1-and-more!"), is: "***!")
        expect(redactor.text("password-1-and-mor"), is: "***-and-mor")
        expect(redactor.text("password-xpassword-199"), is: "***x***")
        expect(redactor.text("passwords-1 passwor"), is: "passwords-1 passwor")
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
        expect(redactor.text(whole(text)), is: whole(shown))
    }

    @Test("a JWE keeps its header alone, and a path goes on behind a token") func encrypted() {
        let header = Base64URL.encode(Array(#"{"alg":"dir","enc":"A128GCM"}"#.utf8))
        expect(redactor.text("\(header)..aXY.dGV4dA.dGFn"), is: "\(header).***")
        let token = "\(Self.header).\(Self.claims).c2ln"
        expect(redactor.path("/a/\(token)/b"), is: "/a/\(Self.header).\(Self.claims).***/b")
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
        expect(redactor.json(try JSON.parse(text.utf8)).text, is: shown)
    }

    @Test("an answer of the server keeps its names and stays JSON") func answer() throws {
        let text = #"{"members":{"password":"about"},"a":"operator-key-1","n":48291357,"secret":"secret"}"#
        let shown = #"{"members":{"password":"about"},"a":"***","n":"***","secret":"***"}"#
        expect(String(decoding: redactor.answer(Array(text.utf8)), as: UTF8.self), is: shown)
    }

    @Test("the secrets that a ledger has learned since a number are given once, the newest first") func ledger() {
        var ledger = SecretLedger()
        ledger.add("a")
        let mark = ledger.latest
        ledger.add("b")
        ledger.add("c")
        expect(ledger.texts(after: mark), is: ["c", "b"])
        expect(ledger.texts(after: ledger.latest), is: [])
        for _ in 0..<100_000 { ledger.add("d") }
        #expect(ledger.texts(after: 0).count <= 100_000)
    }
}

@Suite("PEM, looked at without reading it") struct PEMTextTests {
    @Test(
        "a line that mentions a private key is found wherever it stands",
        arguments: [
            ("-----BEGIN PRIVATE KEY-----\n", true), ("-----BEGIN RSA PRIVATE KEY-----\n", true),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", true), ("PPRIVATE KEY-----", true),
            ("-----BEGIN PUBLIC KEY-----\n", false), ("-----BEGIN PRIVATE KEY----", false), ("", false), ("P", false),
        ])
    func privateKey(_ text: String, _ holds: Bool) { expect(Array(text.utf8).holdsPrivateKey, is: holds) }
}
