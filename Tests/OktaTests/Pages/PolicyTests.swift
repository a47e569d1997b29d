import Expectations
import Foundation
import HTTPTypes
import JSON
import Mutations
import Testing
import Tokens
import Wire

@testable import Okta

@Suite("Header fields of the pages") struct PolicyTests {
    private let samples = PageSamples(text: "x")

    private func lines(_ response: Response) -> [String] { response.fields.map { "\($0.name.rawName): \($0.value)" } }

    @Test(
        "a sign-in may lead to the client, by origin or by scheme",
        arguments: [
            ("com.example.app:/callback", "'self' com.example.app:"),
            ("http://localhost:3000/spa", "'self' http://localhost:3000"),
            ("http://[::1]:3000/spa", "'self' http:"), ("https://a;script-src *", "'self'"),
            ("\r\nSet-Cookie: x:/", "'self'"),
        ])
    func signIn(_ redirectURI: String, _ targets: String) throws {
        let expected = [
            "Content-Type: text/html; charset=utf-8",
            "Content-Security-Policy: default-src 'none'; style-src 'self'; form-action \(targets); base-uri 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
        ]
        let samples = PageSamples(text: "x", redirectURI: redirectURI)
        for page in [samples.signIn, samples.secondFactor, samples.consent] {
            expect(try lines(page.response(at: "/login/login.htm")), is: expected, "\(page.name)")
        }
    }

    @Test("a page that leads to no client sends its form here alone") func own() throws {
        for page in [samples.activate, samples.done, samples.error] {
            expect(
                try page.response(at: "/activate").fields[.contentSecurityPolicy],
                is: "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            )
        }
    }

    @Test("a page that waits for a push is fetched again after 5 seconds, no other is") func refresh() throws {
        let refresh = try #require(HTTPField.Name("Refresh"))
        for page in samples.all {
            let isWaiting = page.members["waiting"] == true
            expect(try page.response(at: "/x").fields[refresh], is: (isWaiting ? "5" : nil), "\(page.name)")
        }
    }

    @Test("the form_post page runs its one script and posts to the client alone") func formPost() throws {
        let response = try samples.formPost.response(at: "/x")
        let hash = try #require(scriptHash(response))
        expect(
            response.fields[.contentSecurityPolicy],
            is:
                "default-src 'none'; style-src 'self'; script-src 'sha256-\(hash)'; form-action https://app.example.com; base-uri 'none'; frame-ancestors 'none'"
        )
        let lost = try PageSamples(text: "x", redirectURI: "javascript:alert(1)").formPost.response(at: "/x")
        expect(lost.fields[.contentSecurityPolicy]?.contains("form-action 'none';"), is: true)
    }

    @Test(
        "the okta_post_message page may be framed by the client alone, and runs its one script",
        arguments: [("https://app.example.com/cb", "https://app.example.com"), ("http://[::1]:3000/", "http:")])
    func postMessage(_ redirectURI: String, _ frames: String) throws {
        for text in PageSamples.hostile {
            let response = try PageSamples(text: text, redirectURI: redirectURI).postMessage.response(at: "/x")
            let hash = try #require(scriptHash(response))
            expect(
                response.fields[.contentSecurityPolicy],
                is:
                    "default-src 'none'; style-src 'self'; script-src 'sha256-\(hash)'; form-action 'none'; base-uri 'none'; frame-ancestors \(frames)"
            )
        }
    }

    @Test(
        "without a web origin nothing is posted, and nobody may frame the page",
        arguments: ["com.example.app:/cb", "\";*:/"])
    func noOrigin(_ redirectURI: String) throws {
        let response = try PageSamples(text: "secret", redirectURI: redirectURI).postMessage.response(at: "/x")
        expect(scriptHash(response), is: nil)
        expect(
            response.fields[.contentSecurityPolicy],
            is: "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
        let read = ReadMarkup(response.body)
        expect(read.tags.first { $0["data-outcome"] != nil }?["data-outcome"], is: "refusal")
    }

    @Test("a script's hash is that of the specification's example") func knownHash() {
        expect(
            OktaContentPolicy.source(of: "alert('Hello, world.');"),
            is: "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='")
    }

    @Test("no page but the two has a script, and no page has a handler or a style in its markup")
    func scripts() throws {
        for page in samples.all {
            let read = try ReadMarkup(page.response(at: "/x").body)
            let isSender = ["form-post", "okta-post-message"].contains(page.name)
            expect(read.all("script").count, is: (isSender ? 1 : 0), "\(page.name)")
            #expect(read.all("style", "img", "iframe", "object", "base").isEmpty)
            #expect(!read.tags.contains { $0.attributes.contains { $0[0].hasPrefix("on") || $0[0] == "style" } })
        }
    }

    @Test("the stylesheet is one and loads nothing") func style() throws {
        let response = try OktaPage.style()
        expect(response.status, is: .ok)
        expect(response.fields[.contentType], is: "text/css; charset=utf-8")
        expect(response.fields[.xContentTypeOptions], is: "nosniff")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(!text.contains("url(") && !text.contains("@import") && text.contains("prefers-color-scheme: dark"))
    }

    /// The hash of the script as a browser computes it: over the text between the tags.
    private func scriptHash(_ response: Response) -> String? {
        ReadMarkup(response.body).text(of: "script").map { Data(Digest.sha256(Array($0.utf8))).base64EncodedString() }
    }
}

@Suite("What a policy says of a redirect URI") struct RedirectTargetTests {
    @Test(
        "a web address is its origin, but its scheme where no policy can name the host",
        arguments: [
            ("http://localhost:3000/bank", "http://localhost:3000", nil),
            ("https://app.example.com", "https://app.example.com", nil),
            ("HTTPS://App.Example.COM:443/cb", "https://app.example.com", nil),
            ("http://127.0.0.1:80?x", "http://127.0.0.1", nil),
            ("https://a-b.example:80#f", "https://a-b.example:80", nil),
            ("http://localhost:/cb", "http://localhost", nil), ("http://h:65535/", "http://h:65535", nil),
            ("http://localhost:03000/", "http://localhost:3000", nil),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example", nil),
            ("http://localhost/cb; script-src *", "http://localhost", nil),
            ("http://localhost/a,b\"'", "http://localhost", nil),
            ("http://[::1]:3000/cb", "http://[::1]:3000", "http:"),
            ("https://[2001:DB8::1]/", "https://[2001:db8::1]", "https:"),
            ("http://[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]", "http:"),
            ("http://my_app.test:8080/", "http://my_app.test:8080", "http:"),
            ("http://localhost./", "http://localhost.", "http:"),
        ] as [(String, String, String?)])
    func web(_ uri: String, _ origin: String, _ scheme: String?) {
        expect(OktaRedirectTarget(uri)?.origin, is: origin)
        expect(OktaRedirectTarget(uri)?.source, is: scheme ?? origin)
    }

    @Test(
        "the address of an app is its scheme",
        arguments: [
            ("com.example.app:/callback", "com.example.app:"), ("com.okta.dev-1:/cb; script-src *", "com.okta.dev-1:"),
            ("MyApp+x://host/cb", "myapp+x:"), ("x:", "x:"), ("none:/cb", "none:"),
        ])
    func app(_ uri: String, _ source: String) {
        expect(OktaRedirectTarget(uri), is: OktaRedirectTarget(source))
        expect(OktaRedirectTarget(uri)?.source, is: source)
        expect(OktaRedirectTarget(uri)?.origin, is: nil)
    }

    @Test(
        "what could be another policy, or another place, is left out",
        arguments: [
            "", "/cb", "cb", ":", "://x", "1app:/cb", "a b:/cb", "app;script-src:/cb", "app,x:/", "'none':/", "\"x\":/",
            "*:/cb", "app\n:/cb", "app\r\nX:/", "ap\u{0}p:/", "äpp:/cb", "\u{212A}app:/cb", " https://app.example.com",
            "http:", "http:/x", "http:app.example.com", "https:///app.example.com", "https://", "https://:3000",
            "https://?x", "https://a b/", "https://a;script-src/", "https://a,b/", "https://a'/", "https://a\"/",
            "https://*/", "https://*.example.com/", "https://a\t.example/", "https://a\n.example/",
            "https://bücher.example/", "https://a%2e/", "https://user@app.example.com/",
            "https://app.example.com@evil.example/", "https://app.example.com\\@evil.example/", "https://a:b/",
            "https://a:0/", "https://a:65536/", "https://a:123456/", "https://a:-1/", "https://a:+1/",
            "https://a:1:2/", "https://[::1/", "https://[]/", "https://[1]/", "https://[::1]x/",
            "https://[::1%25eth0]/", "https://[::1;x]/", "https://[::1]:x/", "https://a\u{0301}/",
            "javascript:alert(1)", "JavaScript:x", "data:text/html,x", "blob:https://x", "file:///x", "about:blank",
            "vbscript:x", "filesystem:x", "view-source:x",
        ])
    func refused(_ uri: String) { expect(OktaRedirectTarget(uri), is: nil) }

    @Test("whatever it makes of a text, its letters are those of a source expression") func letters() {
        let parts = [
            "http", "https", "app", ":", "//", "[", "]", "::1", "a.b", ";", ",", "'", "\"", " ", "\n", "*", "@", "\\",
            "9", "é", "\0", "/",
        ]
        var generator = SeededGenerator(seed: 7)
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
}

@Suite("In what form a page is answered") struct FormatTests {
    @Test(
        "JSON goes to those who prefer it",
        arguments: [
            ("application/json", .json), ("application/json, text/plain, */*", .json),
            ("Application/JSON;q=0.9, text/html;q=0.8", .json), ("application/*, text/html;q=0.5", .json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .html), ("*/*", .html), ("", .html),
            ("text/html, application/json", .html), ("application/json;q=0.5, text/html", .html),
            ("application/json;q=0, */*", .html), ("application/json; q=0", .html), ("image/png", .html),
            ("application/json;q=x", .html), (";;,=,", .html), (nil, .html),
        ] as [(String?, OktaPageFormat)])
    func preference(_ accept: String?, _ format: OktaPageFormat) {
        let request = Request(
            method: .get, target: "/login/login.htm", fields: FieldLines(accept.map { [("Accept", $0)] } ?? []))
        expect(OktaPageFormat(preferredBy: request), is: format)
    }
}
