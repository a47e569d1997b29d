import Expectations
import Foundation
import JSON
import Testing
import Tokens

@Suite("understudy explain") struct ExplainCommandTests {
    private let folder = TemporaryFolder()
    private static let moment = 1_800_000_000
    private static let denied = #"{"type":"Authentication","code":"1","message":"Access is denied."}"#

    private func explain(_ options: [String], input: String = "") throws -> Program.Run {
        try Program.run(["explain"] + options, input: input, in: folder)
    }

    /// The calls of an explanation as JSON, whose exit code is awaited.
    private func calls(_ options: [String], exit status: Int32 = 0, input: String = "") throws -> [JSON] {
        let run = try explain(options + ["--json"], input: input)
        try #require(run.status == status && run.complaint.isEmpty, "\(run.status): \(run.output)\(run.complaint)")
        return try #require(try JSON.parse(run.output.utf8)["calls"]?.array)
    }

    private func causes(_ call: JSON) -> [String] {
        (call["causes"]?.array ?? []).map { "\($0["failure"]?.string ?? "") \($0["verdict"]?.string ?? "")" }
    }

    private func outcome(_ check: String, in call: JSON) -> String? {
        var findings = (call["broken"]?.array ?? []) + (call["open"]?.array ?? [])
        for cause in call["causes"]?.array ?? [] { findings += cause["findings"]?.array ?? [] }
        return findings.first { $0["check"]?.string == check }?["outcome"]?.string
    }

    /// A call of the address book, signed by Rezolve's customer with a secret.
    private func book(entity: String = "entity123", secret: String? = nil, device: String? = nil) throws -> String {
        var token = try Program.run("token", "mint", "rezolve", "login", "--at", "\(Self.moment)").output.dropLast()[
            ...]
        if let secret {
            token = try TokenDraft(
                header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
                claims: [
                    "rezolve_entity_id": .string(entity), "partner_entity_id": "user", "exp": JSON(Self.moment + 900),
                    "device_id": "my-phone",
                ]
            ).mint(key: .secret(secret), algorithm: .hs512, defect: nil, at: Double(Self.moment))[...]
        }
        return "curl 'https://shop.example/api/v1/partner/317/customer/\(entity)/addressbook' "
            + "-H 'x-rezolve-partner-apikey: a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6' "
            + "-H 'x-rezolve-device-id: \(device ?? "my-phone")' -H 'authorization: Bearer \(token)'"
    }

    private var answered: [String] { ["--at", "\(Self.moment)", "--status", "403", "--body", Self.denied] }

    @Test("a curl command is explained with found and expected, without its token") func curl() throws {
        let run = try explain(answered + [try book()]).exits(0)
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        expect(
            lines.first,
            is: "GET https://shop.example/api/v1/partner/317/customer/entity123/addressbook at 2027-01-15T08:00:00.000Z"
        )
        expect(lines[1], is: "rezolve addressbook.list: the real server answered 403")
        #expect(lines[3].hasPrefix("1. masked-device-mismatch, 403 – the call breaks this rule: "), "\(run.output)")
        #expect(lines[4].contains("expected wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a, found my-phone"), "\(run.output)")
        #expect(!run.output.contains("eyJ"), "\(run.output)")
    }

    @Test("standard input is HTTP as text, and an answer of a file counts") func standardInput() throws {
        try folder.write(#"{"error":{"code":"token-malformed"}}"#, to: "answer.json")
        let text = "GET /ims/v1/me HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer x\r\n\r\n"
        let call = try calls(["--status", "401", "--body", "@answer.json", "-"], input: text)[0]
        expect(causes(call).first, is: "token-malformed broken", "\(call.text)")
    }

    @Test("of a HAR the refused calls are explained, or the one that is named") func har() throws {
        func entry(_ status: Int) -> JSON {
            [
                "startedDateTime": "2027-01-15T08:00:00.000Z",
                "request": ["method": "GET", "url": "https://a.example/ims/v1/me", "headers": []],
                "response": ["status": JSON(status), "headers": [], "content": [:]],
            ]
        }
        let har: JSON = ["log": ["entries": [entry(200), entry(401), entry(401)]]]
        try folder.write(har.text, to: "calls.har")
        let refused = try calls(["calls.har"])
        expect(refused.map { $0["place"]?.string }, is: ["entry 2", "entry 3"])
        #expect(refused.allSatisfy { causes($0).first == "token-missing broken" }, "\(refused[0].text)")
        expect(try calls(["--entry", "3", "calls.har"]).map { $0["place"]?.string }, is: ["entry 3"])
    }

    @Test("no cause is known of an answer that no rule gives, or where the call keeps the rules of each answer like it")
    func unknown() throws {
        let call = try book(device: "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")
        expect(causes(try calls(["--at", "\(Self.moment)", "--status", "418", call], exit: 1)[0]), is: [])
        let kept = try calls(["--at", "\(Self.moment)", "--status", "401", call], exit: 1)[0]
        #expect(causes(kept).allSatisfy { $0.hasSuffix(" held") }, "\(kept.text)")
    }

    @Test("a key that the call leaves out is missing, whatever the real server has") func missingKey() throws {
        let text = try book().replacing(#/-H 'x-rezolve-partner-apikey: [^']*' /#, with: "")
        let call = try calls(answered + [text])[0]
        #expect(causes(call).prefix(2).contains("masked-api-key broken"), "\(call.text)")
    }

    @Test("a signature that the recording hides is not judged") func hiddenSignature() throws {
        let text = try book().replacing(#/(authorization: Bearer [^.]*\.[^.]*\.)[^']*/#) { $0.1 + "***" }
        let call = try calls(answered + [text])[0]
        expect(causes(call).first, is: "masked-device-mismatch broken", "\(call.text)")
        expect(outcome("signature-base64url", in: call), is: "not-judged", "\(call.text)")
    }

    @Test("the secret of a file decides about a signature") func secret() throws {
        let secret = "an invented secret of sixty-four bytes or more, for this test alone, and nothing else"
        try folder.write(secret + "\n", to: "good.txt")
        try folder.write("another " + secret, to: "bad.txt")
        let call = try book(secret: secret)
        expect(outcome("signature", in: try calls(answered + [call])[0]), is: "not-judged")
        expect(outcome("signature", in: try calls(answered + ["--secret-file", "good.txt", call])[0]), is: "passed")
        expect(outcome("signature", in: try calls(answered + ["--secret-file", "bad.txt", call])[0]), is: "failed")
    }

    @Test("the real server's accounts rule out that a customer is unknown there") func accounts() throws {
        let secret = "understudy-test-key-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNO=="
        let call = try book(entity: "ent-88213", secret: secret)
        expect(outcome("customer-known", in: try calls(answered + [call])[0]), is: "not-judged")
        for (entity, expected) in [("ent-88213", nil), ("ent-88214", "not-judged")] as [(String, String?)] {
            try folder.write(
                """
                device_id: "d"
                partners:
                  - { id: "317", api_key: "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", auth_key: "\(secret)" }
                customers:
                  - { entity: "\(entity)", partner: "317", partner_entity_id: "user", created: 1 }
                users: []
                """, to: "accounts.yaml")
            let judged = try calls(answered + ["--vendor", "rezolve", "--accounts", "accounts.yaml", call])[0]
            expect(outcome("customer-known", in: judged), is: expected, "\(judged.text)")
        }
    }

    @Test("keys are fetched only where it is asked for, and decide then") func fetchedKeys() throws {
        let (server, key) = (try KeyServer.start(), try KeyServer.key.get())
        try folder.write(
            try Program.fixture("ims/accounts.yaml").replacing(
                "{self}/ims/dev-issuers/rotating/jwks.json", with: server.base + "/keys"),
            to: "accounts.yaml")
        func call(_ key: SigningKey) throws -> String {
            let token = try TokenDraft(
                header: ["alg": "RS256", "typ": "JWT", "kid": JSON(try KeyServer.key.get().id)],
                claims: [
                    "iss": "https://login.example.test", "sub": "user", "iat": JSON(Self.moment),
                    "exp": JSON(Self.moment + 900),
                ]
            ).mint(key: key, algorithm: .rs256)
            return "curl https://a.example/ims/v1/me -H 'authorization: Bearer \(token)'"
        }
        let options = ["--at", "\(Self.moment)", "--status", "401", "--vendor", "ims", "--accounts", "accounts.yaml"]
        let unasked = try calls(options + [try call(key)])[0]
        expect(outcome("keys", in: unasked), is: "not-judged", "\(unasked.text)")
        #expect(unasked.text.contains("nothing is sent anywhere; --fetch-keys allows it"), "\(unasked.text)")
        expect(server.seen, is: [])
        let good = try calls(options + ["--fetch-keys", try call(key)])[0]
        expect(server.seen, is: ["/keys"])
        expect(outcome("signature", in: good), is: "passed", "\(good.text)")
        let forged = try calls(options + ["--fetch-keys", try call(.generateRSA())])[0]
        expect(outcome("signature", in: forged), is: "failed", "\(forged.text)")
    }

    @Test(
        "what cannot be read is exit code 2 and a sentence",
        arguments: [
            ["none.har"]: "the recording none.har cannot be read",
            ["empty.har"]: "empty.har: log.entries is empty; expected a call",
            ["huge.har"]: "huge.har has 200 MB; expected at most 64: export fewer calls.",
            ["--entry", "2", "one.har"]: "--entry 2: it has 1 entries, counted from 1.",
            ["--body", "x", "one.har"]: "--body and --header go with --status.",
            ["--status", "400", "--header", "x", "one.har"]: "--header x is not of the form NAME: VALUE.",
            ["--accounts", "accounts.yaml", "one.har"]: "--accounts needs --vendor",
            ["--vendor", "okat", "one.har"]: "no vendor is called okat; did you mean “okta”?",
            ["curl --compressed"]: "the curl command: there is no URL.",
            ["curl https://a.example/nowhere"]: "the curl command: no vendor owns the path \"/nowhere\"",
            ["--key", "one.har", "one.har"]: "the key file one.har cannot be used: ",
        ] as [[String]: String])
    func misuse(_ options: [String], _ complaint: String) throws {
        try folder.write(#"{"log":{"entries":[]}}"#, to: "empty.har")
        try folder.write(
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/ims/v1/me"}}]}}"#, to: "one.har")
        try folder.write("", to: "huge.har")
        let huge = try FileHandle(forWritingTo: folder.url.appending(path: "huge.har"))
        try huge.truncate(atOffset: 200 << 20)
        try huge.close()
        try explain(options).refuses(complaint)
    }
}
