import Emulation
import JSON
import OktaValidator
import Synchronization
import Tokens

/// Test keys, generated once; a pair takes a tenth of a second. Each is named by its thumbprint, as the server names keys.
enum TestKey {
    static let current = named(generated())
    static let next = named(generated())
    /// Another key under the name of the current one.
    static let impostor = {
        var key = generated()
        key.id = current.id
        return key
    }()
    static let ec = try? SigningKey.generateEC(.p256, id: "ec")

    private static func generated() -> SigningKey {
        do {
            return try SigningKey.generateRSA()
        } catch {
            fatalError("OpenSSL makes no key: \(error)")
        }
    }

    private static func named(_ key: SigningKey) -> SigningKey {
        var key = key
        key.id = key.thumbprint
        return key
    }
}

extension SigningKey {
    /// The key as an Okta issuer publishes it.
    var published: JSON { publicJWK(algorithm: .rs256) ?? .null }

    /// The published key with changed members.
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

    /// The requests so far.
    var asked: [String] { answers.withLock { $0.asked } }

    /// How often the keys were requested.
    var keyFetches: Int { asked.count { $0.hasSuffix(Self.keysPath) } }

    func publish(_ keys: [JSON]) { answers.withLock { $0.keys = keys } }

    func answer(_ path: String, _ answer: KeyAnswer?) { answers.withLock { $0.instead[path] = answer } }

    /// Holds all answers until ``release()``.
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

    /// Okta's answer of an error.
    static func oktaError(_ status: Int, _ code: String) -> KeyAnswer {
        .json(["errorCode": .string(code), "errorSummary": "x", "errorCauses": []], status: status)
    }
}
