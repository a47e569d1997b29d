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

    private func text(_ page: some OktaPage) -> String {
        String(decoding: page.response(at: "/login/login.htm", as: .json).body, as: UTF8.self)
    }

    private let asked = """
        "client":{"id":"0oa1","name":"Trips"},\
        "request":{"issuer":"http://localhost/oauth2/default","redirect_uri":"com.example.app:/callback",\
        "scopes":["openid","email"],"prompt":null,"acr_values":["urn:okta:loa:2fa:any"],"pushed":true}
        """

    @Test("sign-in") func signIn() {
        let page = OktaSignInPage(
            tx: "T", csrf: "C", request: request,
            users: [OktaPageUser(login: "ada@example.test", name: "Ada L", status: "ACTIVE", factors: ["push"])])
        #expect(
            text(page) == """
                {"page":"sign-in","tx":"T","csrf":"C",\(asked),\
                "users":[{"login":"ada@example.test","name":"Ada L","status":"ACTIVE","factors":["push"]}],\
                "fields":["tx","csrf","username","password","action","user","subject","id_claims","access_claims",\
                "error"]}
                """)
    }

    @Test("second factor, with and without a push") func secondFactor() {
        var page = OktaSecondFactorPage(
            tx: "T", csrf: "C", request: request, login: "ada@example.test",
            factors: [.init(id: "ost1", type: "token:software:totp", text: "App")], chosen: "ost1")
        let head = """
            {"page":"second-factor","tx":"T","csrf":"C",\(asked),"user":"ada@example.test",\
            "factors":[{"id":"ost1","type":"token:software:totp","text":"App"}],"chosen":"ost1"
            """
        #expect(text(page) == head + #","waiting":false,"fields":["tx","csrf","factor","passcode","action"]}"#)
        page.push = .init(number: "95")
        #expect(text(page) == head + #","waiting":true,"number":"95","fields":["tx","csrf","factor","action"]}"#)
    }

    @Test("consent") func consent() {
        let page = OktaConsentPage(
            tx: "T", csrf: "C", request: request, login: "ada@example.test",
            scopes: [.init(name: "openid", text: "Know you", isRequired: true), .init(name: "email", text: "Mail")])
        #expect(
            text(page) == """
                {"page":"consent","tx":"T","csrf":"C",\(asked),"user":"ada@example.test",\
                "scopes":[{"name":"openid","text":"Know you","required":true},\
                {"name":"email","text":"Mail","required":false}],"fields":["tx","csrf","scope","action"]}
                """)
    }

    @Test("activate and done") func device() {
        #expect(
            text(OktaActivatePage(tx: "T", csrf: "C", userCode: "MHXTFRPK"))
                == #"{"page":"activate","tx":"T","csrf":"C","user_code":"MHXTFRPK","fields":["tx","csrf","user_code","action"]}"#
        )
        #expect(
            text(OktaDonePage.deviceActivated)
                == #"{"page":"done","title":"Device activated","text":"Follow the instructions on your device for next steps","success":true}"#
        )
    }

    @Test("a page for a device says that there is no redirect") func noRedirect() {
        var request = request
        request.redirectURI = nil
        #expect(request.json["redirect_uri"] == .null)
        #expect(request.target == nil)
    }

    @Test("an alert is the failure's name with 400, unless it has an answer of its own") func alert() {
        var page = OktaSignInPage(tx: "T", csrf: "C", users: [])
        page.alert = OktaPageAlert(failure: "login-wrong", text: "Unable to sign in")
        #expect(page.response(at: "/login/login.htm").status == .ok)
        #expect(page.response(at: "/login/login.htm", as: .json).status == .badRequest)
        #expect(text(page) == #"{"failure":"login-wrong"}"#)
        let wrongCode = OktaActivatePage(tx: "T", csrf: "C", alert: OktaActivatePage.invalidCode)
        #expect(wrongCode.response(at: "/activate", as: .json).status == .badRequest)
        #expect(
            text(wrongCode)
                == #"{"error":"invalid_user_code","error_description":"The user code is invalid or has expired."}"#)
    }

    @Test("an error is the OAuth error, with the same status") func error() {
        let page = OktaErrorPage(
            status: .unauthorized, failure: "client-unknown", error: "invalid_client", description: "D")
        for format in [OktaPageFormat.html, .json] {
            #expect(page.response(at: "/x", as: format).status == .unauthorized)
        }
        #expect(text(page) == #"{"error":"invalid_client","error_description":"D"}"#)
    }

    @Test("JSON is no less private than the page") func fields() {
        let response = PageSamples(text: "x").signIn.response(at: "/login/login.htm", as: .json)
        #expect(response.fields[.contentType] == "application/json; charset=utf-8")
        #expect(response.fields[.cacheControl] == "no-store")
        #expect(response.fields[.xContentTypeOptions] == "nosniff")
    }
}
