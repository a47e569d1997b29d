import Testing
import Understudy

@Suite("The pace of key fetches")
struct KeyFetchPaceTests {
    private let start = ContinuousClock.now
    private let url = "https://keys.example.test/jwks.json"

    private func admitted(_ count: Int, _ pace: KeyFetchPace, _ url: String, after time: Duration) -> Int {
        (0..<count).count { _ in pace.admits(url, at: start + time) }
    }

    @Test("lets a burst pass and then one after each interval, and an hour later a burst again")
    func burst() {
        let pace = KeyFetchPace(burst: 5, interval: .milliseconds(100))
        #expect(admitted(100, pace, url, after: .zero) == 5)
        #expect(admitted(10, pace, url, after: .milliseconds(99)) == 0)
        #expect(admitted(10, pace, url, after: .milliseconds(100)) == 1)
        #expect(admitted(10, pace, url, after: .milliseconds(350)) == 2)
        #expect(admitted(100, pace, url, after: .seconds(3600)) == 5)
    }

    @Test("is kept for each URL by itself")
    func urls() {
        let pace = KeyFetchPace(burst: 2, interval: .seconds(1))
        #expect(admitted(10, pace, url, after: .zero) == 2)
        #expect(admitted(10, pace, url + "?other", after: .zero) == 2)
    }

    @Test(
        "is not kept for URLs of this machine, unless that is wanted",
        arguments: [
            ("http://127.0.0.1:9000/jwks.json", true), ("http://[::1]/", true), ("https://localhost/", true),
            ("http://keys.localhost:1/", true), ("http://127.1.2.3/", true), ("http://10.0.0.1/", false),
            ("http://localhost.example.test/", false), ("http://keycloak:8080/", false), ("no URL", false),
        ])
    func thisMachine(_ url: String, _ isSpared: Bool) {
        let pace = KeyFetchPace(burst: 1, interval: .seconds(1))
        #expect(admitted(10, pace, url, after: .zero) == (isSpared ? 10 : 1))
        let strict = KeyFetchPace(burst: 1, interval: .seconds(1), sparesThisMachine: false)
        #expect(admitted(10, strict, url, after: .zero) == 1)
    }

    @Test("is one for all that go beyond a thousand URLs, until those have recovered")
    func manyURLs() {
        let pace = KeyFetchPace(burst: 1, interval: .seconds(1))
        let all = (0..<1100).count { pace.admits(url + "?\($0)", at: start) }
        #expect(all == 1001)
        #expect((0..<1100).count { pace.admits(url + "?new\($0)", at: start + .seconds(1)) } == 1001)
    }

    @Test("of a process is wide enough for some hundred sandboxes that begin at the same time")
    func process() {
        let url = "https://process.example.test/jwks.json"
        #expect(admitted(1000, .ofProcess, url, after: .zero) == 300)
        #expect(admitted(1000, .ofProcess, url, after: .seconds(1)) == 10)
    }
}
