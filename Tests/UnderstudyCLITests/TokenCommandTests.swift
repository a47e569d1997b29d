import Expectations
import Foundation
import JSON
import Testing
import Understudy

/// The vendor's own sample token, published with its key; it expired in March 2018.
private let sampleToken =
    "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJfZW50aXR5X2lkIjoiMTIz"
    + "IiwiZXhwIjoxNTIwODY5NDcwfQ.5y2e6QpUKcqTNLTv75nO6a6iFPVxrF8YeAH5NTg2ZO9dkub31GEs0N46Hu2IJf1bQ_vC2IOO9Z2N7drm"
    + "vA_AKg"

@Suite("understudy token") struct TokenCommandTests {
    @Test("an expired token that was minted is explained with its expiry and the 401 body") func expired() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", "--defect", "expired")
        expect(minted.status, is: 0)
        let explained = try Program.run("token", "explain", input: minted.output)
        expect(explained.status, is: 1)
        #expect(explained.output.contains("would answer 401 (token-expired):"))
        #expect(
            explained.output.contains(
                #"{"type":"Expired Token","code":"8","message":"Your token has expired, refresh your token and try again."}"#
            ))
        #expect(explained.output.contains("FAILED      expiry"))
    }

    @Test("a good token is accepted, and what needs the request is not judged") func good() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login")
        let explained = try Program.run("token", "explain", "--json", input: "Bearer " + minted.output)
        expect(explained.status, is: 0)
        let verdict = try #require(try JSON.parse(explained.output.utf8)["verdicts"]?[0])
        expect(verdict["accepted"], is: true)
        expect(verdict["account"], is: "partner 317")
        let notJudged = try #require(verdict["findings"]?.array).filter { $0["outcome"] == "not-judged" }
        expect(notJudged.compactMap { $0["check"]?.string }, is: ["path-partner", "path-entity", "device"])
    }

    @Test("what is known of the request is judged too") func request() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login")
        let explained = try Program.run("token", "explain", "--request", "device_id=other", input: minted.output)
        expect(explained.status, is: 1)
        #expect(explained.output.contains("would answer 403 (masked-device-mismatch):"))
    }

    @Test("equal orders give equal tokens, here the one of the example world") func repeatable() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", "--at", "1800000000")
        #expect(minted.output.hasPrefix("eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9."))
        #expect(
            minted.output.hasSuffix(
                ".zFuj3X0RjSH-JWz72sHSJVhdFtcKUwYV3Jk1jvNGnD-k44d7Q8Ww9snj1zi_JkaK9nTGpjY7AcWUttT-nIc0iQ\n"))
    }

    @Test(
        "a wrong order is misuse and names what would be right",
        arguments: [
            ("token mint rezolv login", "no vendor is called rezolv; did you mean “rezolve”?"),
            ("token mint rezolve logn", "rezolve has no token of kind logn; did you mean “login”?"),
            (
                "token mint rezolve login --defect expird",
                "a token of kind login has no defect expird; did you mean “expired”?"
            ),
            ("token mint rezolve login --with partnr=3", "has no member partnr; did you mean “partner”?"),
            ("token mint rezolve login --with partner", "--with partner is not of the form NAME=VALUE."),
            ("token mint rezolve login --with partner=404", "partner 404 has no auth key"),
            ("token mint rezolve login --at soon", "--at soon is not a time"),
            ("token verify a.b.c", "give one key: --key FILE or --secret TEXT."),
            ("token verify --key nothing.pem a.b.c", "the key file nothing.pem cannot be read."),
            ("token verify --secret s --alg HS521 a.b.c", "--alg HS521 is not an algorithm; did you mean “HS512”?"),
            ("token mint", "Missing expected argument"),
        ])
    func misuse(line: String, complaint: String) throws {
        let run = try Program.run(Program.words(line))
        expect(run.status, is: 2)
        #expect(run.complaint.contains(complaint), "\(run.complaint)")
        #expect(run.output.isEmpty)
    }

    @Test("verify says why a key was left out, and names a file that holds none") func keyFiles() throws {
        let folder = TemporaryFolder()
        let bad = #"{"kty":"RSA","kid":"a","n":"AQAB!","e":"AQAB"}"#
        let files: [(String, String)] = [
            (
                #"{"keys":[\#(bad),{"kty":"FOO"}]}"#,
                "no key in it can be used; key 0 “a”: member “n” is not base64url: “!”, key 1: a key of type FOO"
            ),
            (#"{"keys":[]}"#, "its array “keys” is empty"), ("", "it is empty"),
            ("<html>", "it is a page in HTML or XML"),
            (#"{"jwks_uri":"https://a.test"}"#, "it is a discovery document"),
            (#"{"kty":"oct","alg":"HS512","k":"c2VjcmV0"}"#, "member “k” has 6 bytes; its alg HS512 needs 64"),
        ]
        for (text, complaint) in files {
            try folder.write(text, to: "key")
            let run = try Program.run("token", "verify", "--key", folder.path + "/key", sampleToken)
            expect(run.status, is: 2)
            #expect(run.complaint.contains(complaint), "\(run.complaint)")
        }
        try folder.write(#"{"keys":[\#(bad),{"kty":"oct","k":"c2VjcmV0"}]}"#, to: "key")
        let run = try Program.run(
            "token", "verify", "--key", folder.path + "/key", "--at", "2018-03-12T15:00:00Z", sampleToken)
        expect(run.status, is: 0)
        #expect(run.output.contains("key-left-out"), "\(run.output)")
        #expect(run.output.contains("secret-length"), "\(run.output)")
    }

    @Test("verify judges by a key and rules of one's own, at any moment") func verify() throws {
        let good = try Program.run("token", "verify", "--secret", "secret", "--at", "2018-03-12T15:00:00Z", sampleToken)
        expect(good.status, is: 0)
        #expect(good.output.hasPrefix("valid\n"))
        let late = try Program.run("token", "verify", "--secret", "secret", "--json", "-", input: sampleToken)
        expect(late.status, is: 1)
        let verdict = try JSON.parse(late.output.utf8)
        expect(verdict["valid"], is: false)
        let failed = try #require(verdict["findings"]?.array).filter { $0["outcome"] == "failed" }
        expect(failed.compactMap { $0["check"]?.string }, is: ["expiry"])
    }

    @Test("verify leaves one line break out, which ends what another program prints", arguments: ["", "\n", "\r\n"])
    func verifyLine(_ end: String) throws {
        let run = try Program.run(
            "token", "verify", "--secret", "secret", "--signature-only", "-", input: sampleToken + end)
        expect(run.status, is: 0, "\(run.output)")
    }

    @Test("verify trims nothing else", arguments: ["\n\n", " ", "\r", " \n"]) func verifyExactly(_ end: String) throws {
        let run = try Program.run(
            "token", "verify", "--secret", "secret", "--signature-only", "-", input: sampleToken + end)
        expect(run.status, is: 1)
        #expect(run.output.contains("FAILED"))
        #expect(run.output.contains("signature-base64url"))
    }

    @Test(
        "what mint prints can be piped into every command",
        arguments: [
            ["explain"], ["explain", "-"], ["verify", "--secret", "x", "-"], ["verify", "--as", "ims-sdk", "-"],
        ])
    func pipes(_ command: [String]) throws {
        let minted = try Program.run("token", "mint", "rezolve", "login")
        let run = try Program.run(["token"] + command + ["--json"], input: minted.output)
        let answer = try JSON.parse(run.output.utf8)
        let lists =
            [answer["findings"]].compactMap { $0?.array }
            + (answer["verdicts"]?.array ?? []).compactMap { $0["findings"]?.array }
        let findings = lists.flatMap { $0 }
        #expect(!findings.isEmpty, "\(run.output)\(run.complaint)")
        let broken = findings.filter {
            $0["check"]?.string?.hasSuffix("base64url") == true && $0["outcome"] == "failed"
        }
        expect(broken, is: [])
    }

    @Test(
        "mint shows the header and the claims of the token that it gives",
        arguments: [
            "tampered-payload", "alg-none", "wrong-alg", "milliseconds", "missing-exp", "padded-base64", "four-parts",
        ])
    func shown(_ defect: String) throws {
        let minted = try Program.run(
            "token", "mint", "rezolve", "login", "--at", "1800000000", "--defect", defect, "--json")
        let answer = try JSON.parse(minted.output.utf8)
        let parts = try #require(answer["token"]?.string).split(separator: ".").prefix(2).map { part -> JSON in
            let text = String(part).replacing("=", with: "").replacing("-", with: "+").replacing("_", with: "/")
            let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
            let bytes = try #require(Data(base64Encoded: padded))
            return try JSON.parse(Array(bytes))
        }
        expect(answer["header"], is: parts[0])
        expect(answer["claims"], is: parts[1])
    }

    @Test(
        "a kid that is there is a string and chooses the key",
        arguments: [(#""one""#, []), (#""two""#, ["key-id"]), ("7", ["key-id"]), (#""other""#, ["signature"])])
    func keyID(_ kid: String, _ broken: [String]) throws {
        let folder = TemporaryFolder()
        // The auth key of the sample partner and another invented secret.
        let key = Data("understudy-test-key-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNO==".utf8)
        let encoded = key.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
        try folder.write(
            #"{"keys":[{"kty":"oct","kid":"other","k":"b3RoZXI"},{"kty":"oct","kid":"one","k":"\#(encoded)"}]}"#,
            to: "keys.json")
        let minted = try Program.run(
            "token", "mint", "rezolve", "login", "--at", "1800000000", "--header", "kid=\(kid)", in: folder)
        let run = try Program.run(
            "token", "verify", "--key", "keys.json", "--at", "1800000000", "--json", "-", input: minted.output,
            in: folder)
        expect(run.status, is: (broken.isEmpty ? 0 : 1), "\(run.output)\(run.complaint)")
        let findings = try #require(try JSON.parse(run.output.utf8)["findings"]?.array)
        expect(findings.filter { $0["outcome"] == "failed" }.compactMap { $0["check"]?.string }, is: broken)
        let keyID = findings.first { $0["check"] == "key-id" }
        if broken == ["key-id"], kid != "7" { expect(keyID?["expected"], is: ["other", "one"]) }
        if kid == "7" { #expect(keyID?["expected"] == "a string" && keyID?["found"] == 7, "\(run.output)") }
    }

    @Test("a key without an id is taken whatever the token's kid says") func anonymousKey() throws {
        let minted = try Program.run(
            "token", "mint", "rezolve", "registration", "--with", "partner=3", "--at", "1800000000", "--header", "kid=x"
        )
        let run = try Program.run(
            "token", "verify", "--secret", "secret", "--at", "1800000000", "-", input: minted.output)
        expect(run.status, is: 0, "\(minted.output)\(run.output)\(minted.complaint)")
    }

    @Test("explain shows the vendor whose key fits whole, and a line for each other") func lines() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", "--defect", "expired")
        let run = try Program.run("token", "explain", input: minted.output)
        let others = run.output.split(separator: "\n").filter { $0.contains(": would answer ") }.map {
            $0.prefix { $0 != ":" }
        }
        let vendors = Catalog.vendors.map(\.identity.id)
        expect(others.map(String.init), is: vendors.filter { $0 != "rezolve" }, "\(run.output)")
        #expect(run.output.hasPrefix("rezolve: login token, signed with the key of partner 317\n"))
        let strange = try Program.run("token", "mint", "rezolve", "login", "--defect", "wrong-secret")
        let none = try Program.run("token", "explain", input: strange.output)
        #expect(none.output.hasSuffix("No vendor has a key that fits; --vendor NAME shows every check of one.\n"))
        expect(none.output.split(separator: "\n").count, is: vendors.count + 1, "\(none.output)")
        let one = try Program.run("token", "explain", "--vendor", "rezolve", input: strange.output)
        #expect(one.output.contains("FAILED      signature"))
    }

    @Test("explain keeps the quotes of a text that looks like a number") func quotes() throws {
        let minted = try Program.run(
            "token", "mint", "rezolve", "login", "--defect", "string-exp", "--at", "1795360000")
        let run = try Program.run("token", "explain", "--at", "1795360000", input: minted.output)
        #expect(run.output.contains(#"found "179"#), "\(run.output)")
    }

    @Test("explain refuses a fact about the request that nobody asks for") func unknownFact() throws {
        let token = try Program.run("token", "mint", "rezolve", "login").output
        let all = try Program.run("token", "explain", "--request", "devic_id=d", input: token)
        expect(all.status, is: 2)
        expect(
            all.complaint,
            is: "understudy: --request: no vendor asks of a request for devic_id; did you mean “device_id”?\n")
        let one = try Program.run("token", "explain", "--vendor", "ims", "--request", "device_id=d", input: token)
        expect(
            one.complaint,
            is:
                "understudy: --request: no vendor asks of a request for device_id; a token of this vendor needs no request\n"
        )
    }

    @Test(
        "verify holds claims against what is asked of them",
        arguments: [
            (["--claim", "partner_entity_id=123x"], "claim-partner_entity_id-equals"),
            (["--issuer", "somebody"], "claim-iss-equals"), (["--require", "exp,nbf"], "not-before"),
            (["--audience", "me"], "audience"), (["--alg", "HS256"], "algorithm"),
        ])
    func rules(options: [String], check: String) throws {
        let run = try Program.run(
            ["token", "verify", "--secret", "secret", "--at", "1520869000", "--json"] + options + [sampleToken])
        expect(run.status, is: 1)
        let findings = try #require(try JSON.parse(run.output.utf8)["findings"]?.array)
        let failed = findings.filter { $0["outcome"] == "failed" }.compactMap { $0["check"]?.string }
        #expect(failed.contains(check), "\(failed)")
    }
}
