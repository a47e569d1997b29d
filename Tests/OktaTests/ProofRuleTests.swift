import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Okta

private let vendor = Result { try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta")) }

@Suite("Okta's rules for DPoP proofs") struct ProofRuleTests {
    private static func facts(
        _ lines: [String], _ access: OktaProofFacts.Access? = nil, method: HTTPRequest.Method = .post,
        _ target: String = Example.custom + "/token?a=b", _ switches: [String: String] = [:]
    ) throws -> OktaProofFacts {
        let route = try #require(Okta.routes.first { $0.id == "token.create" })
        let request = Request(
            method: method, target: target, authority: "localhost:8080", fields: FieldLines(lines.map { ("DPoP", $0) }))
        let arrival = OktaArrival(
            vendor: try vendor.get(), route: route, request: request, parameters: PathParameters(),
            moment: Moment(unixSeconds: Double(World.exampleMoment)), switches: OktaSwitches(SwitchValues(switches)),
            authenticationContext: try vendor.get().authenticationContext(in: try vendor.get().initialState),
            sandbox: SandboxIdentity(name: "mine", start: "00000000"))
        var facts = OktaProofFacts(arrival, beside: access)
        facts.nonces = ["older", "good"]
        return facts
    }

    private static func facts(
        _ switches: [String: String] = [:], _ change: (inout Proof) -> Void = { _ in }
    ) throws -> OktaProofFacts {
        try facts([try Proof(nonce: "good").changed(change).text], nil, Example.custom + "/token", switches)
    }

    // MARK: - Edges

    private func outcome(_ rule: String, _ facts: OktaProofFacts) -> Finding.Outcome? {
        OktaProofRules.tokens.rules.first { $0.id == rule }?.outcome(on: facts)
    }

    @Test(
        "htu may be any form of the sandbox's base, without query and fragment, in any case",
        arguments: [
            "http://localhost:8080/oauth2/default/v1/token", "HTTP://LOCALHOST:8080/oauth2/default/v1/token",
            "http://localhost:8080/oauth2/default/v1/token?x=/y#z",
            "http://localhost:8080/~mine/oauth2/default/v1/token",
            "http://mine.localhost:8080/oauth2/default/v1/token",
        ])
    func addresses(_ address: String) throws {
        expect(outcome("proof-htu", try Self.facts { $0.claims["htu"] = .string(address) }), is: .passed)
    }

    @Test(
        "htu of another place is refused",
        arguments: [
            "http://localhost/oauth2/default/v1/token", "https://localhost:8080/oauth2/default/v1/token",
            "http://localhost:8080/oauth2/default/v1/Token", "http://localhost:8080/oauth2/default/v1/token/",
            "http://localhost:8080/~other/oauth2/default/v1/token", "http://x@localhost:8080/oauth2/default/v1/token",
            "http://other.localhost:8080/oauth2/default/v1/token", "/oauth2/default/v1/token", "", "http://",
            "ftp://localhost:8080/oauth2/default/v1/token",
        ])
    func otherAddresses(_ address: String) throws {
        expect(outcome("proof-htu", try Self.facts { $0.claims["htu"] = .string(address) }), is: .failed)
    }

    @Test("the scheme's own port does not count") func ports() throws {
        expect(OktaAddress("https://a.test:443/x"), is: OktaAddress("HTTPS://A.test/x"))
        expect(OktaAddress("http://a.test:80"), is: OktaAddress("http://a.test:/"))
        #expect(OktaAddress("http://a.test:443/") != OktaAddress("http://a.test/"))
        #expect(OktaAddress("http://[::80]/") != OktaAddress("http://[:/"))
        expect(OktaAddress("http://localhost:3000/spa")?.origin.text, is: "http://localhost:3000")
        expect(OktaAddress("com.example.app:/callback"), is: nil)
    }

    @Test("a proof is good from a minute before its iat to five minutes after, unless the switch says always")
    func ages() throws {
        for (offset, rule) in [(60, nil), (61, "proof-future"), (-300, nil), (-301, "proof-age")] as [(Int, String?)] {
            for `switch` in ["enforce", "off"] {
                let facts = try Self.facts(["dpop-iat": `switch`]) { $0.claims["iat"] = JSON(1_800_000_000 + offset) }
                let failed = ["proof-future", "proof-age"].filter { outcome($0, facts) == .failed }
                expect(failed, is: (`switch` == "off" ? [] : rule.map { [$0] } ?? []), "\(offset) \(`switch`)")
            }
        }
        let off = ["dpop-iat": "off"]
        expect(outcome("proof-expiry", try Self.facts(off) { $0.claims["exp"] = 1 }), is: nil)
        expect(outcome("proof-expiry", try Self.facts { $0.claims["exp"] = 1_800_000_001 }), is: .passed)
        expect(outcome("proof-expiry", try Self.facts { $0.claims["exp"] = "x" }), is: .failed)
        expect(outcome("proof-iat", try Self.facts(off) { $0.claims["iat"] = nil }), is: .failed)
    }

    @Test("each of the six algorithms is good with a key of its kind", arguments: OktaProof.algorithms)
    func algorithms(_ algorithm: Algorithm) throws {
        let key =
            switch algorithm {
            case .es256: Proof.dk1
            case .es384: try SigningKey.generateEC(.p384)
            case .es512: try SigningKey.generateEC(.p521)
            default: Proof.ck1
            }
        let facts = try Self.facts([try Proof(nonce: "good").signed(by: key, algorithm).text])
        for rule in ["proof-algorithm", "proof-key", "proof-signature"] { expect(outcome(rule, facts), is: .passed) }
        expect(facts.proof?.key.thumbprint, is: key.thumbprint)
    }

    @Test("other algorithms are refused") func otherAlgorithms() throws {
        let signed = try Self.facts([try Proof(nonce: "good").signed(by: Proof.ck1, .ps256).text])
        expect(outcome("proof-algorithm", signed), is: .failed)
        let named = try Self.facts { $0.header["alg"] = "es256" }
        expect(outcome("proof-algorithm", named), is: .failed)
    }

    @Test("jwk is a public key that fits alg") func keys() throws {
        let other = try SigningKey.generateEC(.p384).publicJWK()
        let changes: [(String, (inout JSONObject) -> Void)] = [
            ("private", { $0["d"] = "AA" }), ("another curve", { $0 = other?.object ?? [:] }),
            ("secret", { $0 = ["kty": "oct", "k": "AAAA"] }), ("no point", { $0["x"] = nil }),
            ("off the curve", { $0["x"] = $0["y"] }), ("for encryption", { $0["use"] = "enc" }),
            ("of another algorithm", { $0["alg"] = "ES384" }),
        ]
        for (name, change) in changes {
            let facts = try Self.facts { proof in
                var jwk = proof.header["jwk"]?.object ?? [:]
                change(&jwk)
                proof.header["jwk"] = .object(jwk)
            }
            expect(outcome("proof-key", facts), is: .failed, "\(name)")
        }
        expect(outcome("proof-key", try Self.facts { $0.header["jwk"] = "DK1" }), is: .failed)
    }

    @Test("jti is a text of 1 to 255 characters") func ids() throws {
        for (id, expected) in [
            (.string(String(repeating: "é", count: 255)), .passed),
            (.string(String(repeating: "a", count: 256)), .failed),
            (1, .failed), (nil, .failed),
        ] as [(JSON?, Finding.Outcome)] {
            expect(outcome("proof-jti", try Self.facts { $0.claims["jti"] = id }), is: expected)
        }
    }
}

@Suite("Okta's rules for tokens") struct TokenRuleTests {
    @Test("find the same whether a token was seen before or not, and judge each key anew") func memory() throws {
        let own = try #require(try vendor.get().keys(of: "default", among: [:]))
        let draft = TokenDraft(header: OktaTokenMaker.header(own.signing), claims: ["jti": "AT.1"])
        let token = OktaToken(bytes: Array(try draft.mint(key: own.signing, algorithm: .rs256).utf8))
        let keys = own.published.map(\.key)
        for _ in 0..<2 {
            var nothing: Finding?
            expect(keys.map { token.signature(by: $0, &nothing) }, is: [.passed, .failed])
        }
    }

    @Test("an issuer is compared without slashes, prefixes or other servers counting") func issuers() throws {
        let accounts = try vendor.get().accounts
        let (org, custom) = (try #require(accounts.server("org")), try #require(accounts.server("default")))
        let base = Example.base
        #expect(org.isIssuer(base, at: base) && custom.isIssuer(base + "/oauth2/default", at: base))
        for other in ["", base + "/", base + "/oauth2/default/", base + "/oauth2/defaul", "http://localhost:808"] {
            #expect(!org.isIssuer(other, at: base) && !custom.isIssuer(other, at: base), "\(other)")
        }
        #expect(!org.isIssuer(base + "/oauth2/default", at: base) && !custom.isIssuer(base, at: base))
    }
}
