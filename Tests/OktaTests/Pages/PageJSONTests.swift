import HTTPTypes
import JSON
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
        #expect(
            try text(page) == """
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
        #expect(try text(page(nil)) == head + #","waiting":false,"fields":["tx","csrf","factor","passcode","action"]}"#)
        #expect(
            try text(page(.init(number: "95"))) == head
                + #","waiting":true,"number":"95","fields":["tx","csrf","factor","action"]}"#)
    }

    @Test("consent") func consent() throws {
        let page = OktaPage.consent(
            ticket, request, login: "ada@example.test",
            scopes: [.init(name: "openid", text: "Know you", isRequired: true), .init(name: "email", text: "Mail")])
        #expect(
            try text(page) == """
                {"page":"consent","tx":"T","csrf":"C",\(asked),"user":"ada@example.test",\
                "scopes":[{"name":"openid","text":"Know you","required":true},\
                {"name":"email","text":"Mail","required":false}],"fields":["tx","csrf","scope","action"]}
                """)
    }

    @Test("activate and done") func device() throws {
        #expect(
            try text(.activate(ticket, userCode: "MHXTFRPK"))
                == #"{"page":"activate","tx":"T","csrf":"C","user_code":"MHXTFRPK","fields":["tx","csrf","user_code","action"]}"#
        )
        #expect(
            try text(.deviceActivated)
                == #"{"page":"done","title":"Device activated","text":"Follow the instructions on your device for next steps","success":true}"#
        )
    }

    @Test("a page for a device says that there is no redirect") func noRedirect() throws {
        var request = request
        request.redirectURI = nil
        #expect(request.target == nil)
        #expect(try text(.consent(ticket, request, login: "x", scopes: [])).contains(#""redirect_uri":null"#))
    }

    @Test("an alert is the failure's name with 400, unless it has an answer of its own") func alert() throws {
        let page = OktaPage.signIn(
            ticket, request, users: [], alert: OktaPageAlert(failure: "login-wrong", text: "Unable to sign in"))
        #expect(try page.response(at: "/login/login.htm").status == .ok)
        #expect(try page.response(at: "/login/login.htm", as: .json).status == .badRequest)
        #expect(try text(page) == #"{"failure":"login-wrong"}"#)
        let wrongCode = OktaPage.activate(ticket, alert: .invalidUserCode)
        #expect(try wrongCode.response(at: "/activate", as: .json).status == .badRequest)
        #expect(
            try text(wrongCode)
                == #"{"error":"invalid_user_code","error_description":"The user code is invalid or has expired."}"#)
    }

    @Test("an error page has the status of the refusal") func error() throws {
        let page = OktaPage.error(
            .unauthorized, failure: "client-unknown", error: "invalid_client", description: "D")
        #expect(try page.response(at: "/x").status == .unauthorized)
    }

    @Test("JSON is no less private than the page") func fields() throws {
        let response = try PageSamples(text: "x").signIn.response(at: "/login/login.htm", as: .json)
        #expect(response.fields[.contentType] == "application/json; charset=utf-8")
        #expect(response.fields[.cacheControl] == "no-store")
        #expect(response.fields[.xContentTypeOptions] == "nosniff")
    }
}
