import JSON
import Support
import Testing
import Tokens

/// Secrets that a client sends in the wrong place must not appear in the journal.
@Suite("Bloomreach's secrets in the wrong place")
struct SecrecyTests {
    @Test("id and secret of a private key swapped")
    func swapped() async throws {
        let world = try await World()
        let pair = Base64URL.encode(Array("\(Example.secret):privkey-demo-1".utf8))
        let answer = try await world.call(
            .post, Example.customers, .authorization("Basic " + pair), Example.body(Example.ana))
        answer.expect(401, Example.error("access key not found"), "unknown-key")
        #expect(!"\(answer.findings)".contains(Example.secret))
    }

    @Test("a kid that holds a secret", arguments: [Example.secret, "x \(Example.streamSecret)"])
    func kid(_ kid: String) async throws {
        let world = try await World()
        let customer = try Forged.customer(header: #"{"alg":"HS256","typ":"JWT","kid":"\#(kid)"}"#)
        let stream = try Forged.stream(header: #"{"alg":"HS512","typ":"JWT","kid":"\#(kid)"}"#)
        for (path, token) in [(Example.inbox, customer), (Example.streamInbox, stream)] {
            let answer = try await world.call(.post, path, .bearer(token), Example.body(Example.ana))
            #expect(answer.failure?.hasSuffix("-token-unknown-key") == true)
            #expect(!"\(answer.findings)".contains(kid))
        }
    }
}
