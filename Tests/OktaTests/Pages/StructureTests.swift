import Expectations
import Foundation
import HTTPTypes
import JSON
import Testing

@testable import Okta

@Suite("The pages of the emulated Okta") struct StructureTests {
    private let samples = PageSamples(text: "x")

    @Test("each page has a language, one heading, one main part with its name, and the label of the emulator")
    func frame() throws {
        for page in samples.all {
            let response = try page.response(at: "/login/login.htm")
            let read = ReadMarkup(response.body)
            expect(String(decoding: response.body.prefix(16), as: UTF8.self), is: "<!DOCTYPE html>\n")
            expect(read.all("html").map { $0["lang"] }, is: ["en"], "\(page.name)")
            #expect(read.all("h1").count == 1 && read.all("h2").count <= 1, "\(page.name)")
            expect(read.all("main").map { $0["data-page"] }, is: [page.name])
            #expect(read.texts.contains("Understudy — emulated Okta sign-in"))
            expect(read.all("title", "h1").count, is: 2)
        }
    }

    @Test("every element that is opened is closed, in the order of nesting") func nesting() throws {
        for page in samples.all {
            var open: [String] = []
            for tag in try ReadMarkup(page.response(at: "/x").body).tags {
                if tag.name.hasPrefix("/") {
                    expect(open.popLast(), is: String(tag.name.dropFirst()), "\(page.name)")
                } else if !["!DOCTYPE", "meta", "link", "input"].contains(tag.name) {
                    open.append(tag.name)
                }
            }
            #expect(open.isEmpty, "\(page.name)")
        }
    }

    @Test("every field has a label, and every label, description and heading that is named exists once")
    func labels() throws {
        for page in samples.all {
            let read = try ReadMarkup(page.response(at: "/x").body)
            let ids = read.tags.compactMap { $0["id"] }
            expect(Set(ids).count, is: ids.count, "\(page.name)")
            let labels = read.all("label").compactMap { $0["for"] }
            for field in read.all("input", "select", "textarea") where !["hidden", "checkbox"].contains(field["type"]) {
                expect(labels.filter { $0 == field["id"] }.count, is: 1, "\(page.name) \(field.shape)")
                #expect(field.name == "select" || field["autocomplete"] != nil, "\(page.name) \(field.shape)")
                let notes = field["aria-describedby"]?.split(separator: " ").map(String.init) ?? []
                #expect(notes.allSatisfy(ids.contains), "\(page.name) \(notes)")
            }
            #expect(read.tags.compactMap { $0["aria-labelledby"] }.allSatisfy(ids.contains))
        }
    }

    @Test("the JSON of a page lists the very names that its form sends") func fields() throws {
        var seen = 0
        for page in samples.all {
            let read = try ReadMarkup(page.response(at: "/x").body)
            guard let fields = page.json["fields"]?.array else { continue }
            let names = read.all("input", "select", "textarea", "button").compactMap { $0["name"] }
            expect(fields.compactMap(\.string), is: names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
            expect(read.all("form").map { $0["action"] }, is: [nil], "a form goes to its own page")
            seen += 1
        }
        expect(seen, is: 5)
    }

    @Test("the Return key signs in, verifies, allows: the first button is the main one, and the acts are stable")
    func acts() throws {
        func acts(_ page: OktaPage) throws -> [String?] {
            try ReadMarkup(page.response(at: "/x").body).all("button").filter { $0["name"] == "action" }.map {
                $0["value"]
            }
        }
        for page in [samples.signIn, samples.secondFactor, samples.push, samples.consent, samples.activate] {
            let buttons = try ReadMarkup(page.response(at: "/x").body).all("button")
            #expect(buttons.first?["class"] == "main" && buttons.first?["name"] == "action", "\(page.name)")
        }
        expect(try acts(samples.signIn), is: ["sign-in", "refuse"])
        for page in [samples.secondFactor, samples.push] { expect(try acts(page), is: ["verify", "send", "cancel"]) }
        expect(try acts(samples.consent), is: ["allow", "deny"])
    }

    @Test("an alert is said, names its failure and marks the fields that it is about") func alert() throws {
        var page = samples.signIn
        page.alert = OktaPageAlert(failure: "login-wrong", text: "Unable to sign in", fields: ["username", "password"])
        let read = try ReadMarkup(page.response(at: "/x").body)
        let isAlert = { (tag: ReadMarkup.Tag) in tag["role"] == "alert" && tag["data-failure"] == "login-wrong" }
        expect(read.text(of: "p", where: isAlert), is: "Unable to sign in")
        let invalid = read.tags.filter { $0["aria-invalid"] == "true" }
        expect(invalid.map { $0["name"] }, is: ["username", "password"])
        expect(invalid.map { $0["aria-describedby"] }, is: ["alert", "alert"])
        page.alert = nil
        let calm = try ReadMarkup(page.response(at: "/x").body)
        #expect(!calm.tags.contains { $0["role"] == "alert" || $0["aria-invalid"] != nil })
    }

    @Test("a password is never in the page, and what else was typed is") func typed() throws {
        let read = try ReadMarkup(samples.signIn.response(at: "/x").body)
        expect(read.tags.first { $0["name"] == "password" }?["value"], is: "")
        expect(read.tags.first { $0["name"] == "username" }?["value"], is: "x")
        expect(read.all("details").map { $0["open"] }, is: ["", nil], "what is filled in is in sight")
    }

    @Test("a required scope is checked and fixed, another one can be taken out") func consent() throws {
        let boxes = try ReadMarkup(samples.consent.response(at: "/x").body).all("input").filter {
            $0["type"] == "checkbox"
        }
        expect(boxes.map { $0["disabled"] }, is: ["", nil])
        #expect(boxes.allSatisfy { $0["checked"] != nil && $0["name"] == "scope" && $0["value"] == "x" })
    }

    @Test(
        "links are relative to the page, so that a sandbox's prefix is kept",
        arguments: [
            ("/login/login.htm", "../"), ("/activate", ""), ("/oauth2/default/v1/authorize", "../../../"),
            ("/oauth2/v1/authorize?x=/a/b", "../../"), ("/", ""), ("", ""),
        ])
    func links(_ path: String, _ up: String) throws {
        let read = try ReadMarkup(samples.error.response(at: path).body)
        expect(read.all("link").map { $0["href"] }, is: ["\(up)login/page.css"])
        expect(read.all("a").map { $0["href"] }, is: ["\(up)_understudy/#/journal?failure=x"])
    }

    @Test("the activation page in full") func golden() throws {
        let page = OktaPage.activate(.init(tx: "T", csrf: "C"), userCode: "AAAAAAAA", alert: .invalidUserCode)
        expect(String(decoding: try page.response(at: "/activate").body, as: UTF8.self), is: Self.activation)
    }

    private static let activation = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Activate your device · Understudy</title>
        <link rel="stylesheet" href="login/page.css">
        </head>
        <body>
        <header>
        <p>Understudy — emulated Okta sign-in</p>
        </header>
        <main data-page="activate">
        <section>
        <h1>Activate your device</h1>
        <p class="lead">Follow the instructions on your device to get an activation code</p>
        <p role="alert" id="alert" class="alert" data-failure="user-code-invalid">Invalid code. Try again.</p>
        <form method="post" accept-charset="utf-8">
        <input type="hidden" name="tx" value="T">
        <input type="hidden" name="csrf" value="C">
        <div class="field">
        <label for="user_code">Activation Code</label>
        <input type="text" id="user_code" name="user_code" value="AAAAAAAA" autocomplete="off" \
        autocapitalize="characters" spellcheck="false" autofocus="" aria-invalid="true" aria-describedby="alert">
        </div>
        <button name="action" value="next" class="main">Next</button>
        </form>
        </section>
        </main>
        </body>
        </html>

        """
}

@Suite("The colours of the pages") struct StyleTests {
    /// The custom properties of the light theme and, where they differ, of the dark one.
    private func themes() throws -> [[String: String]] {
        String(decoding: try OktaPage.style().body, as: UTF8.self).components(separatedBy: ":root").dropFirst().map {
            block in
            let pairs = block.prefix { $0 != "}" }.matches(of: /--([a-z-]+): (#[0-9a-f]+);/)
            return Dictionary(pairs.map { (String($0.1), String($0.2)) }, uniquingKeysWith: { _, last in last })
        }
    }

    @Test(
        "text stands out from its ground, in both themes",
        arguments: [
            ("text", "ground"), ("text", "card"), ("text", "soft"), ("quiet", "ground"), ("quiet", "card"),
            ("quiet", "soft"), ("accent", "card"), ("accent", "soft"), ("on-accent", "accent"), ("on-accent", "hover"),
            ("refused", "refused-ground"), ("amber", "amber-ground"), ("amber", "card"), ("amber", "soft"),
            ("fine", "card"), ("fine", "soft"),
        ])
    func text(_ text: String, _ ground: String) throws {
        expect(try themes().count, is: 2)
        for theme in try themes() {
            #expect(try contrast(theme, text, ground) >= 4.5, "\(theme[text] ?? "") on \(theme[ground] ?? "")")
        }
    }

    @Test("the edge of a field can be seen, in both themes") func edges() throws {
        for theme in try themes() { #expect(try contrast(theme, "edge", "card") >= 3) }
    }

    @Test("the measure is right") func measure() throws {
        expect(try contrast(["a": "#000", "b": "#fff"], "a", "b"), is: 21)
        // The grey that just fails 4.5:1 on white.
        #expect(abs(try contrast(["a": "#777777", "b": "#fff"], "a", "b") - 4.48) < 0.01)
    }

    /// The contrast ratio of WCAG 2.2.
    private func contrast(_ theme: [String: String], _ one: String, _ other: String) throws -> Double {
        let lights = try [luminance(#require(theme[one])), luminance(#require(theme[other]))].sorted()
        return (lights[1] + 0.05) / (lights[0] + 0.05)
    }

    private func luminance(_ colour: String) throws -> Double {
        var digits = Array(colour.dropFirst())
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        let parts = try [0, 2, 4].map { start in
            let value = try Double(#require(Int(String(digits[start...start + 1]), radix: 16))) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}

@Suite("Values in the pages of the emulated Okta") struct EscapingTests {
    @Test("a hostile value changes no tag of any page", arguments: PageSamples.hostile)
    func shape(_ hostile: String) throws {
        for (page, plain) in zip(PageSamples(text: hostile).all, PageSamples(text: "plain").all) {
            let read = try ReadMarkup(page.response(at: "/login/login.htm").body)
            let expected = try ReadMarkup(plain.response(at: "/login/login.htm").body)
            expect(read.tags.map(\.shape), is: expected.tags.map(\.shape), "\(page.name)")
        }
    }

    @Test(
        "a value comes back from a hidden field, a field, a button and a text as it was", arguments: PageSamples.hostile
    )
    func values(_ hostile: String) throws {
        let read = try ReadMarkup(PageSamples(text: hostile).signIn.response(at: "/login/login.htm").body)
        func value(_ name: String) -> String? { read.tags.first { $0["name"] == name }?["value"] }
        for name in ["tx", "username", "user"] { expect(value(name).map(bytes), is: bytes(hostile), name) }
        expect(read.text(of: "strong").map(bytes), is: bytes(hostile))
        // A parser drops the first line break of a text area.
        expect(read.text(of: "textarea").map(bytes), is: bytes("\n" + hostile))
        expect(read.tags.first { $0["role"] == "alert" }?["data-failure"].map(bytes), is: bytes(hostile))
    }

    @Test("an answer that is posted comes back as it was", arguments: PageSamples.hostile)
    func posted(_ hostile: String) throws {
        let page = OktaPage.formPost(to: "https://app.example.com/cb?a=1&b=\"2", of: "x", [(hostile, hostile)])
        let read = try ReadMarkup(page.response(at: "/x").body)
        let field = try #require(read.all("input").first)
        expect(field["name"].map(bytes), is: bytes(hostile))
        expect(field["value"].map(bytes), is: bytes(hostile))
        expect(read.all("form").first?["action"], is: "https://app.example.com/cb?a=1&b=\"2")
    }

    @Test("a message is JSON in a script that it cannot leave", arguments: PageSamples.hostile)
    func message(_ hostile: String) throws {
        let page = OktaPage.postMessage(to: "https://app.example.com/cb", of: "x", [("state", hostile)])
        let script = try #require(ReadMarkup(page.response(at: "/x").body).text(of: "script"))
        let (head, tail) = ("(window.opener || window.parent).postMessage(", ");")
        #expect(script.hasPrefix(head) && script.hasSuffix(tail))
        #expect(!script.unicodeScalars.contains { "<>&\u{2028}\u{2029}\r\n\0".unicodeScalars.contains($0) })
        let sent = try JSON.parse(Array("[\(script.dropFirst(head.count).dropLast(tail.count))]".utf8))
        expect(sent, is: [["state": .string(hostile)], "https://app.example.com"])
    }

    @Test("NUL is no character of a document") func zero() throws {
        let read = try ReadMarkup(PageSamples(text: "a\0b").done.response(at: "/x").body)
        expect(read.text(of: "h1"), is: "a\u{FFFD}b")
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
