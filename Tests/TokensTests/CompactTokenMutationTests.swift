import Foundation
import JSON
import Mutations
import Testing
import Tokens

/// Feeds mutated tokens to the reader and the verifiers.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated tokens")
struct CompactTokenMutationTests {
    /// A valid token with the key that verifies it.
    struct Honest {
        let bytes: [UInt8]
        let key: SigningKey
        let algorithm: Algorithm
    }

    static let inputs = ProcessInfo.processInfo.environment["UNDERSTUDY_FUZZ_INPUTS"].flatMap { Int($0) } ?? 10_000

    @Test("never crash the reader, and never verify unless nothing of them changed")
    func mutate() throws {
        var random = SeededGenerator(seed: 0x5EED_0001)
        let honest = try Self.honestTokens()
        var unchanged = 0
        for index in 0..<Self.inputs {
            // Public-key algorithms are slow, so most inputs use HMAC.
            let original = index.isMultiple(of: 100) ? honest[3 + index / 100 % (honest.count - 3)] : honest[index % 3]
            var bytes = original.bytes
            for _ in 0..<Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            if bytes == original.bytes { unchanged += 1 }
            check(CompactToken(bytes: bytes), original, isUnchanged: bytes == original.bytes)
            checkLenient(CompactToken(bytes: bytes, encoding: .lenient), original)
            // Verifies everything a second time, so only occasionally.
            if index.isMultiple(of: 4) {
                for encoding in [CompactToken.Encoding.strict, .lenient] {
                    let token = CompactToken(bytes: bytes, encoding: encoding)
                    Self.compareOutcome(of: token, original.key, original.algorithm)
                }
            }
        }
        // Otherwise a verifier that rejects everything would satisfy the property above.
        #expect(unchanged > Self.inputs / 10)
    }

    @Test("that are signed again are read without a crash, and what is read is written and read back equal")
    func mutateInside() throws {
        var random = SeededGenerator(seed: 0x5EED_0002)
        let key = try SigningKey.secret("understudy-test-secret")
        var readable = 0
        for _ in 0..<(Self.inputs / 4) {
            var header = Array("{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"k-1\"}".utf8)
            var payload = Array(
                "{\"sub\":\"mira\",\"aud\":[\"a\",\"b\"],\"exp\":1800001800.5,\"act\":{\"x\":null}}".utf8)
            Mutation.apply(to: &header, using: &random)
            Mutation.apply(to: &payload, using: &random)
            let input = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
            let signature = try key.sign(Array(input.utf8), algorithm: .hs256)
            let token = CompactToken("\(input).\(Base64URL.encode(signature))")
            // Not `#expect`: it costs more than the reader, and this is the inner loop.
            if token.payload != payload { Issue.record("\(payload) came out as \(token.payload ?? [])") }
            for object in [token.header, token.claims].compactMap({ $0 }) {
                readable += 1
                let written = JSON.object(object).bytes
                if try JSON.parse(written).bytes != written { Issue.record("\(written) is not read back equal") }
            }
            let passes = token.signature(by: key.verificationKey, algorithm: .hs256).outcome == .passed
            if passes != token.isWellFormed { Issue.record("\(token.text) passes: \(passes)") }
            Self.compareOutcome(of: token, key, .hs256)
            _ = Self.judge(token)
        }
        #expect(readable > Self.inputs / 20)
    }

    private func check(_ token: CompactToken, _ original: Honest, isUnchanged: Bool) {
        let finding = token.signature(by: original.key.verificationKey, algorithm: original.algorithm)
        if (finding.outcome == .passed) != isUnchanged { Issue.record("\(token.text): \(finding)") }
        let passesStructure = token.structure.allSatisfy { $0.outcome == .passed }
        if isUnchanged && !passesStructure { Issue.record("\(token.text) should be in order") }
        if Self.judge(token).count < 15 { Issue.record("\(token.text) lacks a finding") }
    }

    private func checkLenient(_ token: CompactToken, _ original: Honest) {
        let finding = token.signature(by: original.key.verificationKey, algorithm: original.algorithm)
        guard finding.outcome == .passed else { return }
        let honest = CompactToken(bytes: original.bytes)
        if token.signingInput != honest.signingInput || token.signature != honest.signature {
            Issue.record("\(token.text) verifies although it changed")
        }
    }

    /// Checks that the outcome without findings matches the findings.
    private static func compareOutcome(of token: CompactToken, _ key: SigningKey, _ algorithm: Algorithm) {
        let checks =
            TokenCheck.structure + [
                .algorithm(is: algorithm), .type(is: "JWT"), .critical(), .keyReferences,
                .claim("exp", is: .number), .headerMember("kid", is: .string), .milliseconds(in: "exp"),
            ]
        for check in checks {
            var nothing: Finding?
            let outcome = check.judge(token, &nothing)
            if outcome == token.finding(check)?.outcome, nothing == nil { continue }
            Issue.record("\(token.text): \(check.name) is \(String(describing: outcome)) without its finding")
        }
        var nothing: Finding?
        let outcome = token.signature(by: key.verificationKey, algorithm: algorithm, &nothing)
        if outcome != token.signature(by: key.verificationKey, algorithm: algorithm).outcome {
            Issue.record("\(token.text): the signature is \(outcome) without its finding")
        }
    }

    /// All checks, including the texts of their findings.
    private static func judge(_ token: CompactToken) -> [Finding] {
        let findings =
            token.structure + [
                token.algorithm(is: .hs256), token.type(is: "JWT"), token.critical(),
                token.headerMember("kid", is: .nonEmptyString), token.claim("sub", equals: "mira"),
                token.audience(isOneOf: ["a"]), token.expiry(at: 1_800_000_000), token.notBefore(at: 1_800_000_000),
                token.lifetime(atMost: 60, from: .moment(1_800_000_000)),
            ] + (token.keyReferences().map { [$0] } ?? [])
        for finding in findings where finding.outcome == .failed { _ = finding.json }
        return findings
    }

    private static func honestTokens() throws -> [Honest] {
        let algorithms: [Algorithm] = [.hs256, .hs384, .hs512, .rs256, .ps256, .es256, .edDSA]
        return try algorithms.map { algorithm in
            let key = try Attack.key(for: algorithm)
            let draft = TokenDraft(
                header: ["alg": .string(algorithm.rawValue), "typ": "JWT", "kid": "k-1"],
                claims: ["sub": "mira", "aud": ["a", "b"], "exp": 1_800_001_800, "nbf": 1_799_999_900.5])
            return Honest(
                bytes: Array(try draft.mint(key: key, algorithm: algorithm).utf8), key: key, algorithm: algorithm)
        }
    }
}
