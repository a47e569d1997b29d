import JSON
import Support
import Testing

/// Verification of a token while its issuer's keys are being fetched.
@Suite("IMS's issuers that change while their keys are fetched")
struct ForgeryTests {
    private static let start = "/ims/v1/issuers/rotating"

    /// The change to the issuer during the fetch.
    enum Event: String, CaseIterable, Sendable {
        case reset, importing, deletion, replacement, replacementByURL

        func happen(in world: World, _ exported: String) async throws {
            switch self {
            case .reset: try await world.control(.post, "reset")
            case .importing: try await world.control(.put, "state/ims", exported)
            case .deletion: _ = try await world.call(.delete, ForgeryTests.start, .operatorKey)
            case .replacement:
                let body = ForgeryTests.issuer(try Example.publicKey(2))
                _ = try await world.call(.put, ForgeryTests.start, .operatorKey, body)
            case .replacementByURL:
                let url: JSON = "{self}/ims/dev-issuers/cognito/jwks.json"
                let body = ForgeryTests.issuer(["type": "jwks-url", "url": url])
                // The delay of the fetch under way remains.
                try await world.control(.delete, "faults")
                _ = try await world.call(.put, ForgeryTests.start, .operatorKey, body)
            }
        }
    }

    fileprivate static func issuer(_ keys: JSON) -> String {
        Example.issuer("rotating", iss: Forged.Issuer.rotating.rawValue, keys)
    }

    @Test("a forged token gets nowhere, whatever happens to its issuer meanwhile", arguments: Event.allCases)
    func forged(_ event: Event) async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/ims").text
        try await world.delayKeys()
        async let answer = world.call(
            .get, Example.me, .bearer(try Forged(.rotating).signed(by: 9).text()))
        try await world.waitForFetch()
        try await event.happen(in: world, exported)
        let status = try await answer.status
        #expect(status == 401 || status == 503)
        let entries = world.sandbox.journal.entries().filter { $0.record.route == "me.get" }
        #expect(entries.allSatisfy { $0.record.failure != nil })
    }

    @Test("a good token is judged by the keys that come after it", arguments: [Event.reset, .importing])
    func genuine(_ event: Event) async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/ims").text
        try await world.delayKeys()
        async let answer = world.call(.get, Example.me, .bearer(try Forged(.rotating).text()))
        try await world.waitForFetch()
        try await event.happen(in: world, exported)
        let received = try await answer
        #expect(received.status == 200)
        #expect(received.outcome(of: "signature") == .passed)
    }
}

extension World {
    /// Delays the keys of `rotating` long enough for something to happen during the fetch.
    func delayKeys() async throws {
        let put = try await control(
            .put, "faults", #"{"vendor":"ims","route":"dev-issuer.jwks","fault":{"delay":"1s"}}"#)
        guard put.status < 300 else { throw PreparationFailure(answer: put.text) }
    }

    /// Waits until the keys of `rotating` are being fetched: the dev issuer has been asked, and its answer is delayed.
    func waitForFetch() async throws {
        for _ in 0..<10_000 {
            let listing = try await control(.get, "keys").json
            let issuer = listing["issuers"]?.array?.first {
                $0["vendor"] == "ims" && $0["issuer"]?.string == "rotating"
            }
            if issuer?["fetches"] != 0 { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw PreparationFailure(answer: "nobody asks for keys")
    }
}
