import JSON
import Testing
import Tokens

/// A catalogue of attacks that have deceived token verifiers, each with the check that must refuse it.
@Suite("Attacks on verifiers of tokens")
struct AttackTests {
    @Test("are refused by the check that names them", arguments: Attack.all)
    func refused(_ attack: Attack) throws {
        let findings = try attack.judge()
        let failed = findings.filter { $0.outcome == .failed }.map(\.check)
        #expect(failed.contains(attack.check), "failed: \(failed)")
    }

    @Test("have unique names, and the honest token beside each passes every check")
    func control() throws {
        #expect(Set(Attack.all.map(\.name)).count == Attack.all.count)
        for algorithm in [Algorithm.hs256, .rs256, .ps256, .es256, .es384, .edDSA] {
            let honest = Attack("honest", "", algorithm) { try Attack.sign([("alg", .string(algorithm.rawValue))], $0) }
            #expect(try honest.judge().allSatisfy { $0.outcome == .passed })
        }
        let salted = Attack("honest", "", .ps256) { _ in Attack.rightlySalted }
        #expect(try salted.judge().allSatisfy { $0.outcome == .passed })
    }

    @Test("through key references are noted and change nothing", arguments: ["jwk", "jku", "x5u", "x5c"])
    func keyReferences(_ name: String) throws {
        let attacker = try SigningKey.generateRSA()
        var header: JSONObject = ["alg": "RS256"]
        header[name] = name == "jwk" ? attacker.publicJWK() : "https://attacker.example/keys"
        let draft = TokenDraft(header: header, claims: Attack.claims)
        let token = CompactToken(try draft.mint(key: attacker, algorithm: .rs256))
        #expect(token.keyReferences()?.outcome == .noted)
        #expect(token.keyReferences()?.found == .repeated([name]))
        #expect(try token.signature(by: Attack.key(for: .rs256).verificationKey, algorithm: .rs256).outcome == .failed)
        #expect(token.signature(by: attacker.verificationKey, algorithm: .rs256).outcome == .passed)
    }

    @Test(
        "through key names find no key",
        arguments: [
            "../../../../dev/null", "/dev/null", "key-1\u{0}", "key-1' OR '1'='1", "KEY-1", "key-1 ", "",
            "ke\u{79}\u{301}-1",
            "https://attacker.example/key-1",
        ])
    func keyNames(_ name: String) throws {
        let set = KeySet(keys: [try .secret("understudy-test-secret", id: "key-1")])
        #expect(set.key(withID: "key-1") != nil)
        #expect(set.key(withID: name) == nil)
    }

    @Test(
        "through key names of other types are no names",
        arguments: [1, true, nil, ["key-1"], ["kid": "key-1"]] as [JSON])
    func keyNameTypes(_ name: JSON) throws {
        let token = CompactToken(try Attack.sign([("alg", "HS256"), ("kid", name)], .hs256))
        #expect(token.headerMember("kid", is: .nonEmptyString, required: false).outcome == .failed)
    }

    @Test("with a public key never count as HMAC, even where the key is asked to")
    func publicKeyIsNoSecret() throws {
        let key = try Attack.key(for: .rs256)
        let pem = try #require(key.publicPEM)
        for secret in [pem, String(pem.dropLast()), pem.replacing("\n", with: "\r\n")] {
            let forged = try TokenDraft(header: ["alg": "HS256"], claims: Attack.claims)
                .mint(key: .secret(secret), algorithm: .hs256)
            let token = CompactToken(forged)
            for algorithm in Algorithm.allCases {
                #expect(token.signature(by: key.verificationKey, algorithm: algorithm).outcome == .failed)
            }
            #expect(try token.signature(by: .secret(secret), algorithm: .hs256).outcome == .passed)
        }
    }
}
