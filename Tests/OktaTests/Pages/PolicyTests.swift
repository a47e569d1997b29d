import Foundation
import HTTPTypes
import JSON
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
            #expect(try lines(page.response(at: "/login/login.htm")) == expected, "\(page.name)")
        }
    }

    @Test("a page that leads to no client sends its form here alone")
    func own() throws {
        for page in [samples.activate, samples.done, samples.error] {
            #expect(
                try page.response(at: "/activate").fields[.contentSecurityPolicy]
                    == "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            )
        }
    }

    @Test("a page that waits for a push is fetched again after 5 seconds, no other is")
    func refresh() throws {
        let refresh = try #require(HTTPField.Name("Refresh"))
        for page in samples.all {
            let isWaiting = page.members["waiting"] == true
            #expect(try page.response(at: "/x").fields[refresh] == (isWaiting ? "5" : nil), "\(page.name)")
        }
    }

    @Test("the form_post page runs its one script and posts to the client alone")
    func formPost() throws {
        let response = try samples.formPost.response(at: "/x")
        let hash = try #require(scriptHash(response))
        #expect(
            response.fields[.contentSecurityPolicy]
                == "default-src 'none'; style-src 'self'; script-src 'sha256-\(hash)'; form-action https://app.example.com; base-uri 'none'; frame-ancestors 'none'"
        )
        let lost = try PageSamples(text: "x", redirectURI: "javascript:alert(1)").formPost.response(at: "/x")
        #expect(lost.fields[.contentSecurityPolicy]?.contains("form-action 'none';") == true)
    }

    @Test(
        "the okta_post_message page may be framed by the client alone, and runs its one script",
        arguments: [("https://app.example.com/cb", "https://app.example.com"), ("http://[::1]:3000/", "http:")])
    func postMessage(_ redirectURI: String, _ frames: String) throws {
        for text in PageSamples.hostile {
            let response = try PageSamples(text: text, redirectURI: redirectURI).postMessage.response(at: "/x")
            let hash = try #require(scriptHash(response))
            #expect(
                response.fields[.contentSecurityPolicy]
                    == "default-src 'none'; style-src 'self'; script-src 'sha256-\(hash)'; form-action 'none'; base-uri 'none'; frame-ancestors \(frames)"
            )
        }
    }

    @Test(
        "without a web origin nothing is posted, and nobody may frame the page",
        arguments: ["com.example.app:/cb", "\";*:/"])
    func noOrigin(_ redirectURI: String) throws {
        let response = try PageSamples(text: "secret", redirectURI: redirectURI).postMessage.response(at: "/x")
        #expect(scriptHash(response) == nil)
        #expect(
            response.fields[.contentSecurityPolicy]
                == "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
        let read = ReadMarkup(response.body)
        #expect(read.tags.first { $0["data-outcome"] != nil }?["data-outcome"] == "refusal")
    }

    @Test("a script's hash is that of the specification's example")
    func knownHash() {
        #expect(
            OktaContentPolicy.source(of: "alert('Hello, world.');")
                == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='")
    }

    @Test("no page but the two has a script, and no page has a handler or a style in its markup")
    func scripts() throws {
        for page in samples.all {
            let read = try ReadMarkup(page.response(at: "/x").body)
            let isSender = ["form-post", "okta-post-message"].contains(page.name)
            #expect(read.all("script").count == (isSender ? 1 : 0), "\(page.name)")
            #expect(read.all("style", "img", "iframe", "object", "base").isEmpty)
            #expect(!read.tags.contains { $0.attributes.contains { $0[0].hasPrefix("on") || $0[0] == "style" } })
        }
    }

    @Test("the stylesheet is one and loads nothing")
    func style() throws {
        let response = try OktaPage.style()
        #expect(response.status == .ok)
        #expect(response.fields[.contentType] == "text/css; charset=utf-8")
        #expect(response.fields[.xContentTypeOptions] == "nosniff")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(!text.contains("url(") && !text.contains("@import") && text.contains("prefers-color-scheme: dark"))
    }

    /// The hash of the script as a browser computes it: over the text between the tags.
    private func scriptHash(_ response: Response) -> String? {
        ReadMarkup(response.body).text(of: "script").map { Data(Digest.sha256(Array($0.utf8))).base64EncodedString() }
    }
}
