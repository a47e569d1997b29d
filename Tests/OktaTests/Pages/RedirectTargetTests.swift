import Testing

@testable import Okta

@Suite("What a policy says of a redirect URI") struct RedirectTargetTests {
    @Test(
        "a web address is its origin",
        arguments: [
            ("http://localhost:3000/bank", "http://localhost:3000"),
            ("https://app.example.com", "https://app.example.com"),
            ("HTTPS://App.Example.COM:443/cb", "https://app.example.com"),
            ("http://127.0.0.1:80?x", "http://127.0.0.1"),
            ("https://a-b.example:80#f", "https://a-b.example:80"), ("http://localhost:/cb", "http://localhost"),
            ("http://localhost:03000/", "http://localhost:3000"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example"),
            ("http://localhost/cb; script-src *", "http://localhost"), ("http://localhost/a,b\"'", "http://localhost"),
            ("http://h:65535/", "http://h:65535"),
        ])
    func web(_ uri: String, _ origin: String) {
        #expect(OktaRedirectTarget(uri)?.origin == origin)
        #expect(OktaRedirectTarget(uri)?.source == origin)
    }

    @Test(
        "a host that no policy can name is its scheme, and has its origin",
        arguments: [
            ("http://[::1]:3000/cb", "http://[::1]:3000", "http:"),
            ("https://[2001:DB8::1]/", "https://[2001:db8::1]", "https:"),
            ("http://[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]", "http:"),
            ("http://my_app.test:8080/", "http://my_app.test:8080", "http:"),
            ("http://localhost./", "http://localhost.", "http:"),
        ])
    func unnameable(_ uri: String, _ origin: String, _ source: String) {
        #expect(OktaRedirectTarget(uri)?.origin == origin)
        #expect(OktaRedirectTarget(uri)?.source == source)
    }

    @Test(
        "the address of an app is its scheme",
        arguments: [
            ("com.example.app:/callback", "com.example.app:"), ("com.okta.dev-1:/cb; script-src *", "com.okta.dev-1:"),
            ("MyApp+x://host/cb", "myapp+x:"), ("x:", "x:"), ("none:/cb", "none:"),
        ])
    func app(_ uri: String, _ source: String) {
        #expect(OktaRedirectTarget(uri) == OktaRedirectTarget(source))
        #expect(OktaRedirectTarget(uri)?.source == source)
        #expect(OktaRedirectTarget(uri)?.origin == nil)
    }

    @Test(
        "what could be another policy, or another place, is left out",
        arguments: [
            "", "/cb", "cb", ":", "://x", "1app:/cb", "a b:/cb", "app;script-src:/cb", "app,x:/", "'none':/", "\"x\":/",
            "*:/cb",
            "app\n:/cb", "app\r\nX:/", "ap\u{0}p:/", "äpp:/cb", "\u{212A}app:/cb", " https://app.example.com", "http:",
            "http:/x",
            "http:app.example.com", "https:///app.example.com", "https://", "https://:3000", "https://?x",
            "https://a b/",
            "https://a;script-src/", "https://a,b/", "https://a'/", "https://a\"/", "https://*/",
            "https://*.example.com/",
            "https://a\t.example/", "https://a\n.example/", "https://bücher.example/", "https://a%2e/",
            "https://user@app.example.com/",
            "https://app.example.com@evil.example/", "https://app.example.com\\@evil.example/", "https://a:b/",
            "https://a:0/",
            "https://a:65536/", "https://a:123456/", "https://a:-1/", "https://a:+1/", "https://a:1:2/",
            "https://[::1/", "https://[]/",
            "https://[1]/", "https://[::1]x/", "https://[::1%25eth0]/", "https://[::1;x]/", "https://[::1]:x/",
            "https://a\u{0301}/",
            "javascript:alert(1)", "JavaScript:x", "data:text/html,x", "blob:https://x", "file:///x", "about:blank",
            "vbscript:x",
            "filesystem:x", "view-source:x",
        ])
    func refused(_ uri: String) {
        #expect(OktaRedirectTarget(uri) == nil)
    }

    @Test("whatever it makes of a text, its letters are those of a source expression")
    func letters() {
        let parts = [
            "http", "https", "app", ":", "//", "[", "]", "::1", "a.b", ";", ",", "'", "\"", " ", "\n", "*", "@", "\\",
            "9", "é", "\0", "/",
        ]
        var generator = Seeded(state: 7)
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...7, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }
            guard let source = OktaRedirectTarget(text.joined())?.source else { continue }
            accepted += 1
            #expect(
                source.wholeMatch(of: /(https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?|[a-z][a-z0-9+.-]*:)/) != nil,
                "\(text.joined())")
        }
        #expect(accepted > 200)
    }

    /// The same texts in every run (SplitMix64).
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
