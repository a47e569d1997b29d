import JSON
import Testing

@testable import Okta

@Suite("Values in the pages of the emulated Okta") struct EscapingTests {
    @Test("a hostile value changes no tag of any page", arguments: PageSamples.hostile)
    func shape(_ hostile: String) throws {
        for (page, plain) in zip(PageSamples(text: hostile).all, PageSamples(text: "plain").all) {
            let read = try ReadMarkup(page.response(at: "/login/login.htm").body)
            let expected = try ReadMarkup(plain.response(at: "/login/login.htm").body)
            #expect(read.tags.map(\.shape) == expected.tags.map(\.shape), "\(page.name)")
        }
    }

    @Test(
        "a value comes back from a hidden field, a field, a button and a text as it was", arguments: PageSamples.hostile
    )
    func values(_ hostile: String) throws {
        let read = try ReadMarkup(PageSamples(text: hostile).signIn.response(at: "/login/login.htm").body)
        func value(_ name: String) -> String? { read.tags.first { $0["name"] == name }?["value"] }
        #expect(value("tx").map(bytes) == bytes(hostile))
        #expect(value("username").map(bytes) == bytes(hostile))
        #expect(value("user").map(bytes) == bytes(hostile))
        #expect(read.text(of: "strong").map(bytes) == bytes(hostile))
        // A parser drops the first line break of a text area.
        #expect(read.text(of: "textarea").map(bytes) == bytes("\n" + hostile))
        #expect(read.tags.first { $0["role"] == "alert" }?["data-failure"].map(bytes) == bytes(hostile))
    }

    @Test("an answer that is posted comes back as it was", arguments: PageSamples.hostile)
    func posted(_ hostile: String) throws {
        let page = OktaPage.formPost(
            to: "https://app.example.com/cb?a=1&b=\"2", of: "x", [(hostile, hostile)])
        let read = try ReadMarkup(page.response(at: "/x").body)
        let field = try #require(read.all("input").first)
        #expect(field["name"].map(bytes) == bytes(hostile))
        #expect(field["value"].map(bytes) == bytes(hostile))
        #expect(read.all("form").first?["action"] == "https://app.example.com/cb?a=1&b=\"2")
    }

    @Test("a message is JSON in a script that it cannot leave", arguments: PageSamples.hostile)
    func message(_ hostile: String) throws {
        let page = OktaPage.postMessage(to: "https://app.example.com/cb", of: "x", [("state", hostile)])
        let script = try #require(ReadMarkup(page.response(at: "/x").body).text(of: "script"))
        let (head, tail) = ("(window.opener || window.parent).postMessage(", ");")
        #expect(script.hasPrefix(head) && script.hasSuffix(tail))
        #expect(!script.unicodeScalars.contains { "<>&\u{2028}\u{2029}\r\n\0".unicodeScalars.contains($0) })
        let sent = try JSON.parse(Array("[\(script.dropFirst(head.count).dropLast(tail.count))]".utf8))
        #expect(sent == [["state": .string(hostile)], "https://app.example.com"])
    }

    @Test("NUL is no character of a document") func zero() throws {
        let read = try ReadMarkup(PageSamples(text: "a\0b").done.response(at: "/x").body)
        #expect(read.text(of: "h1") == "a\u{FFFD}b")
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
