import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Wire

@testable import Okta

@Suite("The pages as JSON") struct PageJSONTests {
    private let request = OktaPageRequest(
        clientID: "0oa1", clientName: "Trips", issuer: "http://localhost/oauth2/default",
        redirectURI: "com.example.app:/callback", scopes: ["openid", "email"], prompt: nil,
        acrValues: ["urn:okta:loa:2fa:any"], isPushed: true)

    private let ticket = OktaPage.Ticket(tx: "T", csrf: "C")

    private func text(_ page: OktaPage) throws -> String {
        String(decoding: try page.response(at: "/login/login.htm", as: .json).body, as: UTF8.self)
    }

    private let asked = """
        "client":{"id":"0oa1","name":"Trips"},\
        "request":{"issuer":"http://localhost/oauth2/default","redirect_uri":"com.example.app:/callback",\
        "scopes":["openid","email"],"prompt":null,"acr_values":["urn:okta:loa:2fa:any"],"pushed":true}
        """

    @Test("sign-in") func signIn() throws {
        let page = OktaPage.signIn(
            ticket, request,
            users: [.init(login: "ada@example.test", name: "Ada L", status: "ACTIVE", factors: ["push"])])
        expect(
            try text(page),
            is: """
                {"page":"sign-in","tx":"T","csrf":"C",\(asked),\
                "users":[{"login":"ada@example.test","name":"Ada L","status":"ACTIVE","factors":["push"]}],\
                "fields":["tx","csrf","username","password","action","user","subject","id_claims","access_claims",\
                "error"]}
                """)
    }

    @Test("second factor, with and without a push") func secondFactor() throws {
        func page(_ push: OktaPage.Push?) -> OktaPage {
            .secondFactor(
                ticket, request, login: "ada@example.test",
                factors: [.init(id: "ost1", type: "token:software:totp", text: "App")], chosen: "ost1", push: push)
        }
        let head = """
            {"page":"second-factor","tx":"T","csrf":"C",\(asked),"user":"ada@example.test",\
            "factors":[{"id":"ost1","type":"token:software:totp","text":"App"}],"chosen":"ost1"
            """
        expect(
            try text(page(nil)), is: head + #","waiting":false,"fields":["tx","csrf","factor","passcode","action"]}"#)
        expect(
            try text(page(.init(number: "95"))),
            is: head + #","waiting":true,"number":"95","fields":["tx","csrf","factor","action"]}"#)
    }

    @Test("consent") func consent() throws {
        let page = OktaPage.consent(
            ticket, request, login: "ada@example.test",
            scopes: [.init(name: "openid", text: "Know you", isRequired: true), .init(name: "email", text: "Mail")])
        expect(
            try text(page),
            is: """
                {"page":"consent","tx":"T","csrf":"C",\(asked),"user":"ada@example.test",\
                "scopes":[{"name":"openid","text":"Know you","required":true},\
                {"name":"email","text":"Mail","required":false}],"fields":["tx","csrf","scope","action"]}
                """)
    }

    @Test("activate and done") func device() throws {
        expect(
            try text(.activate(ticket, userCode: "MHXTFRPK")),
            is:
                #"{"page":"activate","tx":"T","csrf":"C","user_code":"MHXTFRPK","fields":["tx","csrf","user_code","action"]}"#
        )
        expect(
            try text(.deviceActivated),
            is:
                #"{"page":"done","title":"Device activated","text":"Follow the instructions on your device for next steps","success":true}"#
        )
    }

    @Test("a page for a device says that there is no redirect") func noRedirect() throws {
        var request = request
        request.redirectURI = nil
        expect(request.target, is: nil)
        #expect(try text(.consent(ticket, request, login: "x", scopes: [])).contains(#""redirect_uri":null"#))
    }

    @Test("an alert is the failure's name with 400, unless it has an answer of its own") func alert() throws {
        let page = OktaPage.signIn(
            ticket, request, users: [], alert: OktaPageAlert(failure: "login-wrong", text: "Unable to sign in"))
        expect(try page.response(at: "/login/login.htm").status, is: .ok)
        expect(try page.response(at: "/login/login.htm", as: .json).status, is: .badRequest)
        expect(try text(page), is: #"{"failure":"login-wrong"}"#)
        let wrongCode = OktaPage.activate(ticket, alert: .invalidUserCode)
        expect(try wrongCode.response(at: "/activate", as: .json).status, is: .badRequest)
        expect(
            try text(wrongCode),
            is: #"{"error":"invalid_user_code","error_description":"The user code is invalid or has expired."}"#)
    }

    @Test("an error page has the status of the refusal") func error() throws {
        let page = OktaPage.error(.unauthorized, failure: "client-unknown", error: "invalid_client", description: "D")
        expect(try page.response(at: "/x").status, is: .unauthorized)
    }

    @Test("JSON is no less private than the page") func fields() throws {
        let response = try PageSamples(text: "x").signIn.response(at: "/login/login.htm", as: .json)
        expect(response.fields[.contentType], is: "application/json; charset=utf-8")
        expect(response.fields[.cacheControl], is: "no-store")
        expect(response.fields[.xContentTypeOptions], is: "nosniff")
    }
}

extension OktaPage {
    private static let pages = Result { try OktaPages(VendorFixtures(store: Repository.fixtures, folder: "okta")) }

    func response(at path: String, as format: OktaPageFormat = .html) throws -> Response {
        let accept = format == .html ? "text/html" : "application/json"
        return try Self.pages.get().response(self, to: Request(method: .get, target: path, fields: ["Accept": accept]))
    }

    static func style() throws -> Response { try pages.get().style }
}

/// Every page there is, with one text in all the places that a value can take.
struct PageSamples {
    var text: String
    var redirectURI = "https://app.example.com/cb"

    var request: OktaPageRequest {
        OktaPageRequest(
            clientID: text, clientName: text, issuer: text, redirectURI: redirectURI, scopes: [text, text],
            prompt: text, acrValues: [text], isPushed: true)
    }
    var alert: OktaPageAlert {
        OktaPageAlert(failure: text, text: text, fields: ["username", "passcode", "user_code"])
    }

    private var ticket: OktaPage.Ticket { .init(tx: text, csrf: text) }

    var signIn: OktaPage {
        .signIn(
            ticket, request,
            users: [
                .init(login: text, name: text, status: text, factors: [text, text]),
                .init(login: text, name: text, status: "ACTIVE"),
            ],
            entered: .init(username: text, subject: text, idClaims: text, accessClaims: text), alert: alert)
    }

    private func secondFactor(_ push: OktaPage.Push?, _ alert: OktaPageAlert?) -> OktaPage {
        .secondFactor(
            ticket, request, login: text,
            factors: [.init(id: text, type: text, text: text), .init(id: "f2", type: "push", text: "Push")],
            chosen: text, push: push, alert: alert)
    }

    var secondFactor: OktaPage { secondFactor(nil, alert) }
    var push: OktaPage { secondFactor(.init(number: text), nil) }

    var consent: OktaPage {
        .consent(
            ticket, request, login: text,
            scopes: [.init(name: text, text: text, isRequired: true), .init(name: text, text: text)], alert: alert)
    }

    var activate: OktaPage { .activate(ticket, userCode: text, alert: alert) }
    var done: OktaPage { .done(text, text) }
    var error: OktaPage { .error(failure: text, error: text, description: text) }
    var formPost: OktaPage { .formPost(to: redirectURI, of: text, [("code", text), ("state", text)]) }
    var postMessage: OktaPage { .postMessage(to: redirectURI, of: text, [("code", text), ("state", text)]) }

    var all: [OktaPage] { [signIn, secondFactor, push, consent, activate, done, error, formPost, postMessage] }

    /// Texts that would be markup, script, another attribute or another field if they could.
    static let hostile = [
        "<script>alert(1)</script>", "\" onfocus=\"alert(1)", "' onfocus='alert(1)",
        "</title></textarea></script><img src=x>", "&lt;b&gt;&quot;&#39;&amp;amp;", "--><!--<script>",
        "a\r\nb\nc\rd", "\nfirst", "\u{2028}\u{2029}\u{202E}x", "\\\"\\u003c\\", "']]>`${x}`",
        "\u{1}\u{7F}\u{85}é😀", "javascript:alert(1)", "; script-src *",
    ]
}

/// Markup as a parser reads it, as far as our pages go: a second pair of eyes on what the writer wrote.
struct ReadMarkup {
    struct Tag: Equatable {
        var name: String
        var attributes: [[String]]

        subscript(attribute: String) -> String? { attributes.first { $0[0] == attribute }?[1] }
        var shape: String { ([name] + attributes.map { $0[0] }).joined(separator: " ") }
    }

    /// Start and end tags in order; the name of an end tag begins with a slash.
    private(set) var tags: [Tag] = []
    private(set) var texts: [String] = []

    init(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...].dropFirst()
            var tag = Tag(name: String(Self.take(&rest) { $0 != " " && $0 != ">" }), attributes: [])
            while rest.first == " " {
                rest.removeFirst()
                let name = String(Self.take(&rest) { $0 != "=" && $0 != " " && $0 != ">" })
                var value = ""
                if rest.starts(with: "=\"".unicodeScalars) {
                    rest.removeFirst(2)
                    value = Self.decoded(Self.take(&rest) { $0 != "\"" })
                    rest.removeFirst()
                }
                tag.attributes.append([name, value])
            }
            rest = rest.dropFirst()
            // Only its own end tag ends a script, and nothing in it is decoded (HTML, section 13.2.5.4).
            let text = tag.name == "script" ? Self.script(&rest) : Self.decoded(Self.take(&rest) { $0 != "<" })
            tags.append(tag)
            texts.append(text)
        }
    }

    func text(of name: String, where isMeant: (Tag) -> Bool = { _ in true }) -> String? {
        tags.firstIndex { $0.name == name && isMeant($0) }.map { texts[$0] }
    }

    func all(_ names: String...) -> [Tag] { tags.filter { names.contains($0.name) } }

    private static func take(
        _ rest: inout Substring.UnicodeScalarView, _ isPart: (Unicode.Scalar) -> Bool
    ) -> Substring.UnicodeScalarView {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return part
    }

    private static func script(_ rest: inout Substring.UnicodeScalarView) -> String {
        var text = ""
        while let first = rest.first, !String(rest.prefix(8)).lowercased().hasPrefix("</script") {
            text.unicodeScalars.append(first)
            rest.removeFirst()
        }
        return text
    }

    private static let references = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'", "#13": "\r"]

    private static func decoded(_ text: Substring.UnicodeScalarView) -> String {
        var decoded = ""
        var rest = text
        while let first = rest.popFirst() {
            if first == "&", let end = rest.firstIndex(of: ";"), let character = references[String(rest[..<end])] {
                decoded += character
                rest = rest[end...].dropFirst()
            } else {
                decoded.unicodeScalars.append(first)
            }
        }
        return decoded
    }
}
