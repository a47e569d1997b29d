import Expectations
import Foundation
import JSON
import Mutations
import Testing

@testable import Tokens

/// Feeds mutated tokens to the reader and the verifiers.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated tokens") struct CompactTokenMutationTests {
    /// A valid token with the key that verifies it.
    struct Honest {
        let bytes: [UInt8]
        let key: SigningKey
        let algorithm: Algorithm
    }

    static let inputs = ProcessInfo.processInfo.environment["UNDERSTUDY_FUZZ_INPUTS"].flatMap { Int($0) } ?? 10_000

    @Test("never crash the reader, and never verify unless nothing of them changed") func mutate() throws {
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
        expect(unchanged, above: Self.inputs / 10)
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
        expect(readable, above: Self.inputs / 20)
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

extension Attack {
    static let encodingAttacks: [Attack] = [
        Attack("empty text", "parts") { _ in "" },
        Attack("no dot", "parts") { try change($0) { [$0.joined()] } },
        Attack("two parts", "parts") { try change($0) { [$0[0], $0[1]] } },
        Attack("four parts", "parts") { try change($0) { $0 + ["e30"] } },
        Attack("a dot at the end", "parts") { try change($0) { $0 + [""] } },
        Attack("a dot in front", "parts") { try change($0) { [""] + $0 } },
        Attack("five parts, as an encrypted token has", "parts") { try change($0) { $0 + $0.suffix(2) } },
        Attack("dots only", "parts") { _ in String(repeating: ".", count: 5000) },
        Attack("two dots only", "header-json") { _ in ".." },
        Attack("header padded", "header-base64url") { _ in
            try sign(header: Array("{\"alg\":\"HS256\"} ".utf8), payload: Array("{}".utf8), .hs256)
                .replacing(".", with: "=.", maxReplacements: 1)
        },
        Attack("payload padded", "payload-base64url") { try change($0) { [$0[0], $0[1] + "=", $0[2]] } },
        Attack("signature padded", "signature-base64url") { try change($0) { [$0[0], $0[1], $0[2] + "="] } },
        Attack("padded throughout and signed so", "payload-base64url") {
            try TokenDraft(header: ["alg": "HS256"], claims: ["sub": "mira1", "exp": 1_800_001_800])
                .mint(key: key(for: $0), algorithm: $0, defect: .paddedBase64)
        },
        Attack("standard alphabet", "payload-base64url") { algorithm in
            let token = try sign([("alg", "HS256")], algorithm, payload: "{\"sub\":\"\u{FF}?>~\u{3FF}\u{3FB}\"}")
            let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let payload = parts[1].replacing("-", with: "+").replacing("_", with: "/")
            return [parts[0], payload, parts[2]].joined(separator: ".")
        },
        Attack("a blank in front", "header-base64url") { " " + (try change($0) { $0 }) },
        Attack("a line break at the end", "signature-base64url") { try change($0) { $0 } + "\n" },
        Attack("a line break inside", "payload-base64url") {
            try change($0) { [$0[0], "\($0[1].prefix(8))\r\n\($0[1].dropFirst(8))", $0[2]] }
        },
        Attack("a NUL at the end", "signature-base64url") { try change($0) { $0 } + "\u{0}" },
        Attack("letters that only look like ASCII", "payload-base64url") {
            try change($0) { [$0[0], $0[1].replacing("e", with: "\u{435}"), $0[2]] }
        },
        Attack("a percent escape", "signature-base64url") {
            try change($0) { [$0[0], $0[1], "%41" + $0[2].dropFirst()] }
        },
        Attack("an impossible length", "signature-base64url") { try change($0) { [$0[0], $0[1], $0[2] + "AA"] } },
        Attack("unused bits of the signature set", "signature-base64url") {
            try change($0) { [$0[0], $0[1], $0[2].dropLast() + next($0[2])] }
        },
        Attack("unused bits of the signature set, as signature", "signature") {
            try change($0) { [$0[0], $0[1], $0[2].dropLast() + next($0[2])] }
        },
        Attack("an extra dot inside, as signature", "signature") { try change($0) { $0 + [$0[2]] } },
        Attack("larger than any token", "size") {
            try sign([("alg", "HS256"), ("x", .string(String(repeating: "a", count: 16_384)))], $0)
        },
    ]

    /// The next character after the last one: decodes to the same bytes if unused bits are ignored.
    private static func next(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = text.last, let index = alphabet.firstIndex(of: last) else { return "" }
        return String(alphabet[(index + 1) % 64])
    }

    private static func payload(_ name: String, _ check: String, _ text: String) -> Attack {
        Attack(name, check) { try sign([("alg", "HS256")], $0, payload: text) }
    }

    private static func header(_ name: String, _ check: String, _ text: [UInt8]) -> Attack {
        Attack(name, check) { try sign(header: text, payload: JSON.object(claims).bytes, $0) }
    }

    private static let good = "{\"sub\":\"mira\",\"exp\":1800001800"

    static let jsonAttacks: [Attack] = [
        header("header no JSON", "header-json", Array("alg=HS256".utf8)),
        header("header an array", "header-json", Array("[\"HS256\"]".utf8)),
        header("header a string", "header-json", Array("\"HS256\"".utf8)),
        header("header null", "header-json", Array("null".utf8)),
        header("header empty", "header-json", []),
        header("header with a byte-order mark", "header-json", [0xEF, 0xBB, 0xBF] + Array("{\"alg\":\"HS256\"}".utf8)),
        header("header in UTF-16", "header-json", "{\"alg\":\"HS256\"}".utf16.flatMap { [UInt8($0), 0] }),
        header(
            "header with invalid UTF-8", "header-json",
            Array("{\"alg\":\"HS256\",\"x\":\"".utf8) + [0xFF] + Array("\"}".utf8)),
        header(
            "header with overlong UTF-8", "header-json",
            Array("{\"alg\":\"HS256\",\"x\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8)),
        header("header with half a surrogate pair", "header-json", Array("{\"alg\":\"HS256\",\"x\":\"\\ud800\"}".utf8)),
        header("header with something behind it", "header-json", Array("{\"alg\":\"HS256\"}{\"alg\":\"none\"}".utf8)),
        header("header with a NUL behind it", "header-json", Array("{\"alg\":\"HS256\"}\u{0}".utf8)),
        header("header with a comment", "header-json", Array("{\"alg\":\"HS256\"/**/}".utf8)),
        header("header nested deeper than 64", "header-json", Array(deep("{\"alg\":\"HS256\",\"x\":").utf8)),
        header("alg twice, good first", "header-duplicates", Array("{\"alg\":\"HS256\",\"alg\":\"none\"}".utf8)),
        header("alg twice, good last", "header-duplicates", Array("{\"alg\":\"none\",\"alg\":\"HS256\"}".utf8)),
        header("alg twice, one escaped", "header-duplicates", Array("{\"alg\":\"HS256\",\"\\u0061lg\":\"none\"}".utf8)),
        header("alg twice, as signature", "signature", Array("{\"alg\":\"HS256\",\"alg\":\"HS256\"}".utf8)),
        header("crit escaped", "critical", Array("{\"alg\":\"HS256\",\"cr\\u0069t\":[\"b64\"]}".utf8)),
        payload("payload no JSON", "payload-json", "mira"),
        payload("payload an array", "payload-json", "[\(good)}]"),
        payload("payload empty", "payload-json", ""),
        payload("payload with a byte-order mark", "payload-json", "\u{FEFF}\(good)}"),
        payload("payload nested deeper than 64", "payload-json", deep("\(good),\"x\":")),
        payload("payload with NaN", "payload-json", "{\"sub\":\"mira\",\"exp\":NaN}"),
        payload("payload with a number in hexadecimal", "payload-json", "{\"sub\":\"mira\",\"exp\":0x7FFFFFFF}"),
        payload("payload with a trailing comma", "payload-json", "\(good),}"),
        payload("payload with single quotes", "payload-json", "{'sub':'mira','exp':1800001800}"),
        payload("exp twice", "payload-duplicates", "\(good),\"exp\":9900001800}"),
        payload("exp twice, one escaped", "payload-duplicates", "\(good),\"\\u0065xp\":9900001800}"),
        payload("sub twice inside a claim", "payload-duplicates", "\(good),\"act\":{\"sub\":1,\"sub\":2}}"),
        payload("sub twice inside an array", "payload-duplicates", "\(good),\"act\":[[{\"sub\":1,\"sub\":2}]]}"),
        payload("sub empty", "claim-sub-present", "{\"sub\":\"\",\"exp\":1800001800}"),
        payload("sub under another name", "claim-sub-present", "{\"Sub\":\"mira\",\"exp\":1800001800}"),
        payload("sub an object", "claim-sub-present", "{\"sub\":{\"mira\":1},\"exp\":1800001800}"),
    ]

    private static func deep(_ start: String) -> String {
        start + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}"
    }

    static let timeAttacks: [Attack] =
        [
            "true", "null", "\"1800001800\"", "\"\"", "\"never\"", "[1800001800]", "{\"$gt\":0}", "1e400", "-1e400",
            "1e309", "9007199254740994", "99999999999999999999",
        ].flatMap { text in
            [
                Attack("exp \(text), as expiry", "expiry") { _ in try expiry(text) },
                Attack("exp \(text), as claim", "claim-exp-present") { _ in try expiry(text) },
            ]
        } + [
            Attack("exp absent", "expiry") { try sign([("alg", "HS256")], $0, payload: "{\"sub\":\"mira\"}") },
            Attack("exp this very second", "expiry") { _ in try expiry("1800000000") },
            Attack("exp a fraction ago", "expiry") { _ in try expiry("1799999999.999") },
            Attack("exp zero", "expiry") { _ in try expiry("0") },
            Attack("exp minus zero", "expiry") { _ in try expiry("-0") },
            Attack("exp negative", "expiry") { _ in try expiry("-1800001800") },
            Attack("exp below one by exponent", "expiry") { _ in try expiry("1800001800e-9") },
        ]
}

extension CompactToken {
    func algorithm(is algorithm: Algorithm) -> Finding { certain(.algorithm(is: algorithm)) }

    func type(is type: String, required: Bool = false) -> Finding { certain(.type(is: type, required: required)) }

    func critical() -> Finding { certain(.critical()) }

    func keyReferences() -> Finding? { finding(.keyReferences) }

    func milliseconds(in name: String) -> Finding? { finding(.milliseconds(in: name)) }

    func headerMember(_ name: String, is types: ValueTypes, required: Bool = true) -> Finding {
        certain(.headerMember(name, is: types, required: required))
    }

    func headerMember(_ name: String, equals text: String) -> Finding { certain(.headerMember(name, equals: text)) }

    func claim(_ name: String, is types: ValueTypes, required: Bool) -> Finding {
        certain(.claim(name, is: types, required: required))
    }

    func claim(_ name: String, equals text: String) -> Finding { certain(.claim(name, equals: text)) }

    func claim(_ name: String, equals value: JSON) -> Finding { certain(.claim(name, equals: value)) }

    func audience(isOneOf texts: [String], acceptsArray: Bool = true) -> Finding {
        Finding("audience", source: nil) { audience(isOneOf: texts, acceptsArray: acceptsArray, &$0) }
    }

    func expiry(at moment: Double, _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("expiry", source: "RFC 7519 section 4.1.4") { expiry(at: moment, rules, &$0) }
    }

    func expiry(at moment: Double, leeway: Double) -> Finding { expiry(at: moment, TimeRules(leeway: leeway)) }

    func notBefore(at moment: Double, claim: String = "nbf", _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("not-before", source: nil) { notBefore(at: moment, claim: claim, rules, &$0) }
    }

    func issuedAt(at moment: Double, _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("issued-at", source: nil) { notBefore(at: moment, claim: "iat", rules, &$0) }
    }

    func lifetime(atMost seconds: Double, from start: LifetimeStart) -> Finding {
        Finding("lifetime", source: nil) { lifetime(atMost: seconds, from: start, &$0) }
    }
}
