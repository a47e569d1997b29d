import HTTPTypes
import Testing
import Wire

@testable import Okta

@Suite("In what form a page is answered") struct FormatTests {
    @Test(
        "JSON goes to those who prefer it",
        arguments: [
            ("application/json", OktaPageFormat.json), ("application/json, text/plain, */*", .json),
            ("Application/JSON;q=0.9, text/html;q=0.8", .json), ("application/*, text/html;q=0.5", .json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .html), ("*/*", .html), ("", .html),
            ("text/html, application/json", .html), ("application/json;q=0.5, text/html", .html),
            ("application/json;q=0, */*", .html), ("application/json; q=0", .html), ("image/png", .html),
            ("application/json;q=x", .html), (";;,=,", .html),
        ])
    func preference(_ accept: String, _ format: OktaPageFormat) {
        let request = Request(method: .get, target: "/login/login.htm", fields: ["Accept": accept])
        #expect(OktaPageFormat(preferredBy: request) == format)
    }

    @Test("without a preference it is HTML") func none() {
        #expect(OktaPageFormat(preferredBy: Request(method: .get, target: "/login/login.htm")) == .html)
    }
}
