import Expectations
import JSON
import Testing
import Tokens

@Suite("understudy token verify --as") struct VerifyAsClientTests {
    private let folder = TemporaryFolder()
    private let key: SigningKey
    private let moment = "1800000000"

    init() throws { key = try KeyServer.key.get() }

    private func token(issuer: String = "http://localhost/none", _ changes: [String: JSON] = [:]) throws -> String {
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": "app", "iat": 1_800_000_000, "exp": 1_800_003_600, "nonce": "n1",
            "cid": "app", "scp": ["openid", "profile"], "uid": "u1",
        ]
        for (name, value) in changes { claims[name] = value.isNull ? nil : value }
        let header: JSONObject = ["kid": JSON(key.id), "alg": "RS256"]
        return try TokenDraft(header: header, claims: claims).mint(key: key, algorithm: .rs256)
    }

    private func verify(_ options: String..., input: String = "") throws -> Program.Run {
        try Program.run(["token", "verify", "--as", "okta", "--at", moment] + options, input: input, in: folder)
    }

    private func jwk(_ changes: [String: JSON] = [:]) throws -> String {
        var members = key.publicJWK(algorithm: .rs256)?.object ?? [:]
        for (name, value) in changes { members[name] = value }
        try folder.write(JSON.object(members).text, to: "key.jwk")
        return "key.jwk"
    }

    @Test("finds the key by discovery, and answers in the promised form") func discovery() throws {
        let server = try KeyServer.start()
        let token = try token(issuer: server.base + "/good")
        let run = try verify("--issuer", server.base + "/good", "--audience", "app", "--nonce", "n1", "--json", token)
            .succeeds()
        let answer = try JSON.parse(run.output.utf8)
        expect(answer.object?.map(\.name), is: ["valid", "header", "claims", "key"])
        #expect(answer["valid"] == true && answer["key"] == "discovery" && answer["claims"]?["uid"] == "u1")
        expect(answer["header"], is: ["kid": JSON(key.id), "alg": "RS256"])
        expect(server.seen, is: ["/good/.well-known/openid-configuration", "/keys"])
        let shown = try verify("--issuer", server.base + "/good", "-", input: token + "\n").exits(0)
        #expect(shown.output.hasPrefix("valid, by the key of: discovery\n"), "\(shown.output)")
        #expect(shown.output.contains("\n  passed  signature "), "\(shown.output)")
    }

    @Test(
        "follows redirects of the issuer, but none to another scheme",
        arguments: [
            ("moved", nil), ("absolute", nil), ("circle", "jwt-no-well-known"), ("astray", "jwt-no-well-known"),
            ("host", nil), ("nope", "jwt-no-well-known"), ("lost", "jwt-offline"),
        ])
    func redirects(_ issuer: String, _ error: String?) throws {
        let server = try KeyServer.start()
        let address = "\(server.base)/\(issuer)"
        let run = try verify("--issuer", address, "--json", try token(issuer: address))
        let answer = try JSON.parse(run.exits(error == nil ? 0 : 1).output.utf8)
        expect(answer["error"]?.string, is: error, run.output)
        #expect(server.seen.count <= 7, "\(server.seen)")
        if issuer == "astray" {
            expect(answer["detail"]?.string?.contains("redirects to https://"), is: true)
            expect(server.seen.count, is: 1)
        }
    }

    @Test("says that nobody listens, and that an issuer calls itself differently") func issuers() throws {
        let nobody = try verify("--issuer", "http://127.0.0.1:1", "--json", try token(issuer: "http://127.0.0.1:1"))
        expect(try JSON.parse(nobody.exits(1).output.utf8)["error"], is: "jwt-no-well-known")
        let server = try KeyServer.start()
        let slash = server.base + "/good/"
        let token = try token(issuer: server.base + "/good")
        try verify("--issuer", slash, token).exits(1)
        expect(server.seen, is: [])
        try verify("--issuer", slash, "--profile", "observed", token).exits(0)
        let absent = server.base + "/nope"
        let run = try verify("--issuer", absent, "--profile", "observed", "--json", try self.token(issuer: absent))
        expect(try JSON.parse(run.output.utf8)["error"], is: "jwt-no-jwks-uri")
    }

    @Test("tells the failure by our name, the validator page's and the shipped library's, with all findings")
    func failure() throws {
        let token = try token(["exp": 1_799_990_000])
        let run = try verify("--jwk", try jwk(), "--json", token).exits(1)
        let answer = try JSON.parse(run.output.utf8)
        expect(answer.object?.map(\.name), is: ["valid", "error", "seed", "shipped", "detail", "findings"])
        #expect(answer["valid"] == false && answer["error"] == "jwt-expired" && answer["seed"] == .null)
        expect(answer["shipped"], is: "OktaJWTVerificationError.expiredJWT")
        expect(answer["detail"], is: "exp 1799990000 is 10000 s before now, leeway 3000 s")
        let findings = try #require(answer["findings"]?.array)
        expect(findings.filter { $0["outcome"] == "failed" }.compactMap { $0["check"]?.string }, is: ["expiry"])
        #expect(findings.contains { $0["check"] == "signature" && $0["outcome"] == "passed" })
        let shown = try verify("--jwk", "key.jwk", token)
        #expect(shown.output.hasPrefix("not valid, jwt-expired: exp 1799990000 is 10000 s before now, leeway 3000 s\n"))
        #expect(shown.output.contains("\n  FAILED  expiry "), "\(shown.output)")
    }

    private static let optionCases: [(options: [String], error: String?)] = [
        (["--issuer", "http://localhost/none", "--audience", "app", "--nonce", "n1"], nil),
        (["--issuer", "x"], "jwt-issuer"), (["--audience", "x"], "jwt-audience"), (["--nonce", "x"], "jwt-nonce"),
        (["--cid", "app"], nil), (["--cid", "x"], "jwt-client"), (["--scp", "profile openid"], nil),
        (["--scp", "openid admin"], "jwt-scope"), (["--claim", "uid=u1", "--claim", "cid=app"], nil),
        (["--claim", "uid=u1", "--claim", "iss=x"], "jwt-claim"), (["--typ", "x"], nil),
        (["--at", "1800006600"], nil), (["--at", "1800006601"], "jwt-expired"),
        (["--at", "1800006601", "--no-exp"], nil), (["--at", "1800006601", "--profile", "observed"], nil),
        (["--at", "1800003601", "--profile", "observed", "--exp"], "jwt-expired"),
        (["--at", "1800003601", "--leeway", "0"], "jwt-expired"), (["--at", "1800003610", "--leeway", "10"], nil),
        (["--at", "1799996999"], "jwt-issued-in-future"), (["--at", "1799996999", "--no-iat"], nil),
        (["--at", "1799996999", "--profile", "observed"], nil),
        (["--at", "1799996999", "--profile", "observed", "--iat"], "jwt-issued-in-future"),
    ]

    @Test("takes every option of the validator", arguments: optionCases.indices) func options(_ index: Int) throws {
        let (options, error) = Self.optionCases[index]
        let moment = options.contains("--at") ? [] : ["--at", moment]
        let run = try Program.run(
            ["token", "verify", "--as", "okta", "--jwk", try jwk(), "--json"] + moment + options + [try token()],
            in: folder)
        expect(try JSON.parse(run.output.utf8)["error"]?.string, is: error, run.output)
        run.exits(error == nil ? 0 : 1)
    }

    @Test("takes a key from a file: a JWK that must be the token's, or an RSA key") func keys() throws {
        let token = try token()
        try folder.write(key.publicPEM ?? "", to: "key.pem")
        let rsa = try verify("--rsa-key", "key.pem", "--json", token).exits(0)
        expect(try JSON.parse(rsa.output.utf8)["key"], is: "rsa-key")
        expect(try JSON.parse(try verify("--jwk", try jwk(), "--json", token).output.utf8)["key"], is: "jwk")
        let other = try verify("--jwk", try jwk(["kid": "other"]), "--json", token)
        expect(try JSON.parse(other.output.utf8)["error"], is: "jwt-kid-mismatch")
        let broken = try verify("--jwk", try jwk(["n": "!"]), "--json", token)
        expect(try JSON.parse(broken.exits(1).output.utf8)["error"], is: "jwt-key")
    }

    private static let misuses: [String: String] = [
        "--as okta": "--as okta: without the option issuer there is nowhere to discover keys",
        "--as okta --profile observed --jwk unnamed.jwk":
            "--as okta: without the option issuer there is nowhere to discover keys",
        "--as oktb": "--as: no client is called oktb; did you mean “okta”?",
        "--as ims-sdk --cid x --issuer y":
            "--issuer, --cid cannot be combined with --as ims-sdk: the client has its own rules and takes --near-expiry.",
        "--as ims-sdk --near-expiry=-1": "--near-expiry -1 is below 0.",
        "--as okta --near-expiry 5 --issuer x": "--near-expiry cannot be combined with --as okta",
        "--as okta --secret x --issuer x": "--secret cannot be combined with --as okta",
        "--as okta --issuer x --leeway 1.5": "--leeway 1.5 is not a whole number of seconds.",
        "--as okta --issuer x --profile seen": "--profile seen is not a profile (documented, observed).",
        "--as okta --issuer x --claim uid": "--claim uid is not of the form NAME=VALUE.",
        "--as okta --issuer x --claim a=1 --claim a=2": "--as okta: the claim a is given twice.",
        "--as okta --jwk a --rsa-key b": "give one key: --jwk FILE or --rsa-key FILE.",
        "--as okta --jwk none.jwk": "the key file none.jwk cannot be read.",
        "--as okta --jwk text.txt": "the key file text.txt is not a JWK",
        "--as okta --jwk set.json": "the key file set.json is not a JWK",
        "--as okta --rsa-key text.txt": "the key file text.txt cannot be used",
        "--as okta --rsa-key ec.pem": "--as okta: the key is an EC key on P-256; expected an RSA key.",
        "--cid x --no-exp --secret x": "--cid, --exp/--no-exp: only with --as, which is missing.",
    ]

    @Test("refuses what makes no sense, and says what would", arguments: misuses)
    func misuse(_ options: String, _ complaint: String) throws {
        try folder.write("nothing", to: "text.txt")
        try folder.write(#"{"keys":[]}"#, to: "set.json")
        try folder.write("{}", to: "unnamed.jwk")
        try folder.write(try SigningKey.generateEC(.p256).publicPEM ?? "", to: "ec.pem")
        try Program.run(Program.words("token verify \(options) a.b.c"), in: folder).refuses(complaint)
    }

    @Test("judges for a client without keys as before") func keyless() throws {
        let run = try Program.run("token", "verify", "--as", "ims-sdk", "--at", moment, try token(["sub": "ada"]))
            .exits(0)
        #expect(run.output.hasPrefix(#"{"usable":true,"renew":false,"problems":[]}"# + "\n"))
        let near = try Program.run(
            "token", "verify", "--as", "ims-sdk", "--near-expiry", "3600", "--json", "--at", moment,
            try token(["sub": "ada"]))
        let answer = try JSON.parse(near.output.utf8)
        #expect(answer["renew"] == true && answer["findings"]?.array?.isEmpty == false)
    }

    @Test("shows hostile tokens without their control characters") func hostile() throws {
        let run = try verify(
            "--jwk", try jwk(), "--nonce", "x", try token(["nonce": "\u{1B}[2J\u{9B}1m\u{202E}\u{2066}"])
        ).exits(1)
        #expect(!run.output.unicodeScalars.contains { "\u{1B}\u{9B}\u{202E}\u{2066}".unicodeScalars.contains($0) })
        let json = try Program.run(
            "token", "verify", "--secret", "x", "--json", try token(["nonce": "\u{9B}1m\u{202E}\u{2066}"]))
        #expect(!json.output.unicodeScalars.contains { "\u{9B}\u{202E}\u{2066}".unicodeScalars.contains($0) })
        expect(try JSON.parse(json.output.utf8)["claims"]?["nonce"], is: "\u{9B}1m\u{202E}\u{2066}")
        let empty = try verify("--jwk", "key.jwk", "--json", "-", input: "")
        expect(try JSON.parse(empty.output.utf8)["error"], is: "jwt-malformed")
        let long = try verify("--jwk", "key.jwk", "--json", "-", input: String(repeating: "a.", count: 500_000))
        expect(try JSON.parse(long.output.utf8)["error"], is: "jwt-malformed")
    }
}
