import Foundation
import JSON
import Testing

/// The vendor's own sample token, whose key is printed beside it; it ended in March 2018.
private let sampleToken =
    "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJfZW50aXR5X2lkIjoiMTIz"
    + "IiwiZXhwIjoxNTIwODY5NDcwfQ.5y2e6QpUKcqTNLTv75nO6a6iFPVxrF8YeAH5NTg2ZO9dkub31GEs0N46Hu2IJf1bQ_vC2IOO9Z2N7drm"
    + "vA_AKg"

@Suite("understudy token")
struct TokenCommandTests {
    @Test("an expired token that was minted is explained with its expiry and the 401 body")
    func expired() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", "--defect", "expired")
        #expect(minted.status == 0)
        let explained = try Program.run("token", "explain", input: minted.output)
        #expect(explained.status == 1)
        #expect(explained.output.contains("would answer 401 (token-expired):"))
        #expect(
            explained.output.contains(
                #"{"type":"Expired Token","code":"8","message":"Your token has expired, refresh your token and try again."}"#
            ))
        #expect(explained.output.contains("FAILED      expiry"))
    }

    @Test("a good token is accepted, and what needs the request is not judged")
    func good() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login")
        let explained = try Program.run("token", "explain", "--json", input: "Bearer " + minted.output)
        #expect(explained.status == 0)
        let verdict = try #require(try JSON.parse(explained.output.utf8)["verdicts"]?[0])
        #expect(verdict["accepted"] == true)
        #expect(verdict["account"] == "partner 317")
        let notJudged = try #require(verdict["findings"]?.array).filter { $0["outcome"] == "not-judged" }
        #expect(notJudged.compactMap { $0["check"]?.string } == ["path-partner", "path-entity", "device"])
    }

    @Test("what is known of the request is judged too")
    func request() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login")
        let explained = try Program.run("token", "explain", "--request", "device_id=other", input: minted.output)
        #expect(explained.status == 1)
        #expect(explained.output.contains("would answer 403 (masked-device-mismatch):"))
    }

    @Test("equal orders give equal tokens, here the one of the example world")
    func repeatable() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", "--at", "1800000000")
        #expect(minted.output.hasPrefix("eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9."))
        #expect(
            minted.output.hasSuffix(
                ".zFuj3X0RjSH-JWz72sHSJVhdFtcKUwYV3Jk1jvNGnD-k44d7Q8Ww9snj1zi_JkaK9nTGpjY7AcWUttT-nIc0iQ\n"))
    }

    @Test(
        "a wrong order is misuse and names what would be right",
        arguments: [
            (["token", "mint", "rezolv", "login"], "no vendor is called rezolv; did you mean “rezolve”?"),
            (["token", "mint", "rezolve", "logn"], "rezolve has no token of kind logn; did you mean “login”?"),
            (
                ["token", "mint", "rezolve", "login", "--defect", "expird"],
                "a token of kind login has no defect expird; did you mean “expired”?"
            ),
            (
                ["token", "mint", "rezolve", "login", "--with", "partnr=3"],
                "has no member partnr; did you mean “partner”?"
            ),
            (
                ["token", "mint", "rezolve", "login", "--with", "partner"],
                "--with partner is not of the form NAME=VALUE."
            ),
            (["token", "mint", "rezolve", "login", "--with", "partner=404"], "partner 404 has no auth key"),
            (["token", "mint", "rezolve", "login", "--at", "soon"], "--at soon is not a time"),
            (["token", "verify", "a.b.c"], "give one key: --key FILE or --secret TEXT."),
            (["token", "verify", "--key", "nothing.pem", "a.b.c"], "the key file nothing.pem cannot be read."),
            (
                ["token", "verify", "--secret", "s", "--alg", "HS521", "a.b.c"],
                "--alg HS521 is no algorithm; did you mean “HS512”?"
            ),
            (["token", "mint"], "Missing expected argument"),
        ])
    func misuse(arguments: [String], complaint: String) throws {
        let run = try Program.run(arguments)
        #expect(run.status == 2)
        #expect(run.complaint.contains(complaint), "\(run.complaint)")
        #expect(run.output.isEmpty)
    }

    @Test("verify judges by a key and rules of one's own, at any moment")
    func verify() throws {
        let good = try Program.run("token", "verify", "--secret", "secret", "--at", "2018-03-12T15:00:00Z", sampleToken)
        #expect(good.status == 0)
        #expect(good.output.hasPrefix("valid\n"))
        let late = try Program.run("token", "verify", "--secret", "secret", "--json", "-", input: sampleToken)
        #expect(late.status == 1)
        let verdict = try JSON.parse(late.output.utf8)
        #expect(verdict["valid"] == false)
        let failed = try #require(verdict["findings"]?.array).filter { $0["outcome"] == "failed" }
        #expect(failed.compactMap { $0["check"]?.string } == ["expiry"])
    }

    @Test("verify takes standard input byte for byte: a line break is no part of a token")
    func verifyExactly() throws {
        let run = try Program.run(
            "token", "verify", "--secret", "secret", "--signature-only", "-", input: sampleToken + "\n")
        #expect(run.status == 1)
        #expect(run.output.contains("FAILED"))
        #expect(run.output.contains("signature-base64url"))
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
        #expect(run.status == 1)
        let findings = try #require(try JSON.parse(run.output.utf8)["findings"]?.array)
        let failed = findings.filter { $0["outcome"] == "failed" }.compactMap { $0["check"]?.string }
        #expect(failed.contains(check), "\(failed)")
    }
}
