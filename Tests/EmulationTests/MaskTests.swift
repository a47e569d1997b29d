import JSON
import Testing
import Wire

@testable import Emulation

@Suite("What the journal hides")
struct MaskTests {
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
        #expect(Mask.credential(value) == shown)
        #expect(Mask.field("AUTHORIZATION", value) == Mask.credential(value))
        #expect(Mask.field("x-other", value) == value)
        #expect(Mask.field("X-Other", value, hiding: ["x-other"]) == "***")
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
    func target(_ target: String, _ shown: String) {
        #expect(Mask.target(target) == shown)
    }

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
        #expect(Mask.members(["password"], of: try JSON.parse(body.utf8)).text == shown)
    }

    private func entry(_ body: String, secrets: Set<String>) -> JSON? {
        var record = ExchangeRecord()
        record.secrets = secrets
        let entry = JournalEntry(
            sandbox: "s", moment: Moment(unixSeconds: 1_800_000_000),
            request: Request(
                method: .post, target: "/x?token=t",
                fields: ["Authorization": "Bearer eyJh.eyJi.c2ln", "Cookie": "c=1"],
                body: Array(body.utf8)),
            response: .json(["password": "p"]), record: record)
        return (try? RouteTable([])).map { MaskedExchange(entry, by: Redactor()).json(routes: $0) }
    }

    @Test("an entry hides fields, target and both bodies")
    func entryJSON() throws {
        let json = try #require(entry(#"{"password":"p","user":"u"}"#, secrets: ["password"]))
        #expect(
            json["request"]
                == [
                    "method": "POST", "target": "/x?token=***",
                    "headers": [["Authorization", "Bearer eyJh.eyJi.***"], ["Cookie", "***"]],
                    "body": ["password": "***", "user": "u"],
                ])
        #expect(json["response"]?["body"] == ["password": "***"])
        #expect(json["at"] == "2027-01-15T08:00:00.000Z")
    }

    @Test("of a request's content an answer's repetitions are hidden in declared members alone, at any depth")
    func repeated() {
        let body = #"{"user":"ada.lovelace","login":{"password":["enchantress"],"number":1234567}}"#
        let request = Request(method: .post, target: "/", body: Array(body.utf8))
        let told: JSON = "ada.lovelace, enchantress, 1234567"
        #expect(SecretRedactor(of: request, secrets: ["password"]).hidden(in: told) == "ada.lovelace, ***, 1234567")
        #expect(SecretRedactor(of: request, secrets: ["login"]).hidden(in: told) == "ada.lovelace, ***, ***")
    }

    @Test("a body that cannot be read is shown only where nothing in it can be secret")
    func unreadable() throws {
        #expect(entry("password=p", secrets: ["password"])?["request"]?["body"] == "(10 bytes)")
        #expect(entry("plain text", secrets: [])?["request"]?["body"] == "plain text")
        #expect(entry("", secrets: [])?["request"]?["body"] == .null)
    }
}
