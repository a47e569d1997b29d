import Emulation
import Expectations
import Foundation
import JSON
import Support
import Synchronization
import Testing
import Tokens

@testable import OktaValidator

/// Keys of the example accounts, each named by its thumbprint, as the server names keys.
enum TestKey {
    static let current = read("o1")
    static let next = read("o2")
    /// Another key under the name of the current one.
    static let impostor = {
        var key = read("o3")
        key.id = current.id
        return key
    }()
    static let ec = try? SigningKey.generateEC(.p256, id: "ec")

    private static func read(_ name: String) -> SigningKey {
        let path = Repository.root + "/Fixtures/okta/keys/\(name).pem"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), var key = try? SigningKey.pem(text) else {
            preconditionFailure("no key at \(path)")
        }
        key.id = key.thumbprint
        return key
    }
}

extension SigningKey {
    /// The key as an Okta issuer publishes it.
    var published: JSON { publicJWK(algorithm: .rs256) ?? .null }

    func published(_ changes: [String: JSON?]) -> JSON {
        var members = published.object ?? [:]
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }
}

/// An issuer whose discovery and keys are answered in the test, and counted.
final class TestIssuer: Sendable {
    static let base = "http://localhost:8080/oauth2/default"

    struct Answers: Sendable {
        /// Answers in place of the usual ones, by the end of the URL.
        var instead: [String: KeyAnswer] = [:]
        var keys: [JSON]
        var name: String
        var asked: [String] = []
        /// Whether answers wait for ``release()``.
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    static let discoveryPath = "/.well-known/openid-configuration"
    static let keysPath = "/v1/keys"

    let answers: Mutex<Answers>

    init(_ keys: [JSON] = [TestKey.current.published], name: String = base) {
        answers = Mutex(Answers(keys: keys, name: name))
    }

    var asked: [String] { answers.withLock { $0.asked } }

    var keyFetches: Int { asked.count { $0.hasSuffix(Self.keysPath) } }

    func publish(_ keys: [JSON]) { answers.withLock { $0.keys = keys } }

    func answer(_ path: String, _ answer: KeyAnswer?) { answers.withLock { $0.instead[path] = answer } }

    func hold() { answers.withLock { $0.isHeld = true } }

    func release() {
        let waiting = answers.withLock { answers in
            answers.isHeld = false
            defer { answers.waiting = [] }
            return answers.waiting
        }
        for each in waiting { each.resume() }
    }

    /// Returns once there were more requests than that, or after five minutes, since a faulty validator never asks.
    func waitForRequest(after count: Int = 0) async {
        let end = ContinuousClock.now + .seconds(300)
        while asked.count <= count, ContinuousClock.now < end { await Task.yield() }
    }

    var fetch: OktaKeys.Fetch {
        { [self] request in
            await withCheckedContinuation { continuation in
                let waits = answers.withLock { answers in
                    answers.asked.append(request.url)
                    if answers.isHeld { answers.waiting.append(continuation) }
                    return answers.isHeld
                }
                if !waits { continuation.resume() }
            }
            return answers.withLock { $0.answer(to: request.url) }
        }
    }
}

extension TestIssuer.Answers {
    fileprivate func answer(to url: String) -> KeyAnswer {
        if let answer = instead.first(where: { url.hasSuffix($0.key) })?.value { return answer }
        if url.hasSuffix(TestIssuer.discoveryPath) {
            return .json(["issuer": .string(name), "jwks_uri": .string(name + TestIssuer.keysPath)])
        }
        return .json(["keys": .array(keys)])
    }
}

extension KeyAnswer {
    static func json(_ value: JSON, status: Int = 200) -> KeyAnswer {
        .answered(.init(code: status), cacheControl: [], body: value.bytes)
    }

    static func oktaError(_ status: Int, _ code: String) -> KeyAnswer {
        .json(["errorCode": .string(code), "errorSummary": "x", "errorCauses": []], status: status)
    }
}

struct TestToken {
    static let now = 1_800_000_000
    static let client = "0oaunderstudynative1"

    var header: JSONObject = ["kid": JSON(TestKey.current.id), "alg": "RS256"]
    var claims: JSONObject

    static var id: TestToken {
        TestToken(claims: [
            "ver": 1, "jti": "ID.1", "iss": .string(TestIssuer.base), "aud": .string(client),
            "sub": "00uunderstudyada0001", "iat": JSON(now), "exp": JSON(now + 3600), "nonce": "n1", "amr": ["pwd"],
        ])
    }

    static var access: TestToken {
        TestToken(claims: [
            "ver": 1, "jti": "AT.1", "iss": .string(TestIssuer.base), "aud": "api://default", "sub": "ada@example.test",
            "iat": JSON(now), "exp": JSON(now + 3600), "cid": .string(client), "uid": "00uunderstudyada0001",
            "scp": ["openid", "profile"],
        ])
    }

    func claim(_ name: String, _ value: JSON?) -> TestToken {
        var token = self
        token.claims[name] = value
        return token
    }

    func header(_ name: String, _ value: JSON?) -> TestToken {
        var token = self
        token.header[name] = value
        return token
    }

    func signed(
        by key: SigningKey = TestKey.current, _ algorithm: Algorithm = .rs256, defect: Defect? = nil
    ) throws -> String {
        try TokenDraft(header: header, claims: claims).mint(
            key: key, algorithm: algorithm, defect: defect, at: Double(Self.now))
    }

    /// The token under the name of a key and signed by it.
    func signedAndNamed(by key: SigningKey, _ algorithm: Algorithm = .rs256) throws -> String {
        try header("kid", JSON(key.id)).header("alg", .string(algorithm.rawValue)).signed(by: key, algorithm)
    }
}

extension OktaValidatorOptions {
    /// Those that the ID token of the example world meets.
    static var id: OktaValidatorOptions {
        OktaValidatorOptions(issuer: TestIssuer.base, audience: TestToken.client, nonce: "n1")
    }

    static var access: OktaValidatorOptions { OktaValidatorOptions(issuer: TestIssuer.base, audience: "api://default") }

    func with(_ change: (inout OktaValidatorOptions) -> Void) -> OktaValidatorOptions {
        var options = self
        change(&options)
        return options
    }
}

extension OktaTokenValidator {
    /// A validator at a moment, with keys by discovery from an issuer unless others are given.
    init(
        _ options: OktaValidatorOptions = .id, _ profile: BehaviourProfile = .documented,
        issuer: TestIssuer = TestIssuer(), keys: OktaKeys? = nil, at seconds: Int = TestToken.now
    ) {
        self.init(
            options: options, keys: keys ?? .discovery(fetch: issuer.fetch),
            clock: { Moment(unixSeconds: Double(seconds)) }, profile: profile)
    }

    /// The name of the first failure; `nil` for a valid token.
    func failure(of token: String) async -> OktaTokenFailure? {
        do throws(OktaTokenError) {
            _ = try await validate(token)
            return nil
        } catch {
            return error.failure
        }
    }

    func error(of token: String) async -> OktaTokenError? {
        do throws(OktaTokenError) {
            _ = try await validate(token)
            return nil
        } catch {
            return error
        }
    }
}

@Suite("The signer") struct SignerTests {
    private static let payload: JSONObject = [
        "tx": "tx-1", "iss": "opfunderstudyada0001", "sub": "00uunderstudyada0001", "aud": "localhost:8080",
        "iat": 1_800_000_000, "nbf": 1_799_999_940, "exp": 1_800_000_060, "jti": "j1",
    ]

    @Test("makes tokens that the validator takes") func signs() throws {
        let text = try OktaTokenSigner.sign(payload: Self.payload, algorithm: .rs256, key: TestKey.current)
        let token = CompactToken(text)
        expect(token.header, is: ["kid": JSON(TestKey.current.id), "alg": "RS256"])
        expect(token.claims, is: Self.payload)
        let options = OktaValidatorOptions(issuer: "opfunderstudyada0001", audience: "localhost:8080")
        let validator = OktaTokenValidator(options, keys: .rsa(TestKey.current.verificationKey))
        #expect(try validator.isValid(text))
    }

    @Test("names no key that has no name, and refuses an algorithm that the key cannot do") func limits() throws {
        var key = TestKey.current
        key.id = nil
        let text = try OktaTokenSigner.sign(payload: [:], key: key)
        expect(CompactToken(text).header, is: ["alg": "RS256"])
        #expect(throws: MintError.self) { try OktaTokenSigner.sign(payload: [:], algorithm: .es256, key: key) }
    }
}
