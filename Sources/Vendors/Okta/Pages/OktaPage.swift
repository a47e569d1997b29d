import Emulation
import HTTPTypes
import JSON
import Wire

/// A page, as HTML for people and as JSON for programs.
///
/// It knows nothing of routes and state: whoever answers fills it in and reads what its form sends. A form goes to the
/// address of its own page, query included, so that reloading leads back to the same sign-in.
struct OktaPage: Sendable {
    /// Which page it is: in `data-page`, in JSON, and as a section of the template.
    let name: String
    /// The title of the window.
    let title: String
    /// What both programs and the template get.
    var members: JSONObject = [:]
    /// What only the template needs.
    var shown: JSONObject = [:]
    var alert: OktaPageAlert?
    var status = HTTPResponse.Status.ok
    /// After how many seconds the page is fetched again.
    var refresh: Int?
    var policy = OktaContentPolicy()

    /// The page for a client that asked for JSON.
    var json: JSON {
        var object: JSONObject = ["page": .string(name)]
        for member in members { object.append(member.name, member.value) }
        return .object(object)
    }
}

/// The template and the stylesheet of all pages.
struct OktaPages: Sendable {
    private let template: Deferred<TextTemplate>
    let style: Response

    private static let names = [
        "sign-in", "second-factor", "consent", "activate", "done", "error", "form-post", "okta-post-message",
    ]

    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let file = try fixtures.file("pages/page.html")
        template = try Deferred(file) { () throws(FixtureProblem) in
            try TextTemplate(
                String(decoding: file.bytes, as: UTF8.self),
                roots: Self.names + ["page", "title", "up", "script", "request"],
                escaping: .html, at: FixtureNode(.null, from: file.path))
        }
        style = .page(.style, try fixtures.file("pages/page.css").bytes, under: OktaContentPolicy(forms: .client(nil)))
    }

    /// The page in the form that the request prefers.
    func response(_ page: OktaPage, to request: Request) -> Response {
        guard OktaPageFormat(preferredBy: request) == .html else {
            var response =
                page.alert.map { .json($0.json, status: .badRequest) }
                ?? Response.json(page.json, status: page.status)
            page.policy.apply(to: &response)
            return response
        }
        var response = Response.page(
            .document, Array(markup(of: page, at: request.path).utf8), under: page.policy, status: page.status)
        if let refresh = page.refresh, let name = HTTPField.Name("Refresh") { response.fields[name] = String(refresh) }
        return response
    }

    private func markup(of page: OktaPage, at path: Substring) -> String {
        var values = page.members
        for member in page.shown { values[member.name] = member.value }
        if let alert = page.alert {
            values["alert"] = ["failure": .string(alert.failure), "text": .string(alert.text)]
            values["wrong"] = .object(JSONObject(alert.fields.map { ($0, true) }))
        }
        (values["page"], values["title"], values[page.name]) = (.string(page.name), .string(page.title), true)
        // Relative links keep a prefix that selects a sandbox, and the path of a proxy, of which a page knows nothing.
        let folders = path.utf8.prefix { $0 != UInt8(ascii: "?") }.count { $0 == UInt8(ascii: "/") } - 1
        values["up"] = .string(String(repeating: "../", count: max(0, folders)))
        values["script"] = JSON(page.policy.script)
        // Read before, at the start or by a test.
        return (try? template.get())?.text(values) ?? ""
    }
}

/// Why a page is shown again.
struct OktaPageAlert: Sendable {
    var failure: String
    /// What the user reads.
    var text: String
    /// The fields to correct, by name.
    var fields: [String] = []
    /// What a client gets that asks for JSON, with status 400; `nil` means `{"failure": …}`.
    var answer: JSON?

    var json: JSON { answer ?? ["failure": .string(failure)] }

    /// The code of a device for which nobody waits. A client that asked for JSON gets the OAuth error.
    static let invalidUserCode = OktaPageAlert(
        failure: "user-code-invalid", text: "Invalid code. Try again.", fields: ["user_code"],
        answer: [
            "error": "invalid_user_code", "error_description": "The user code is invalid or has expired.",
        ])
}

/// In what form a page is answered.
enum OktaPageFormat: Sendable {
    case html
    case json

    /// The form that the `Accept` of a request prefers; HTML when it has no preference.
    init(preferredBy request: Request) {
        let ranges = request.fields.values(of: .accept).flatMap { $0.split(separator: ",") }.map(Self.range)
        /// The weight of a type, and how closely the range describes it; the closest range counts (RFC 9110 section
        /// 12.5.1).
        func preference(for type: String, _ group: String) -> (Double, Int) {
            for (closeness, name) in [(2, type), (1, group), (0, "*/*")] {
                guard let range = ranges.first(where: { $0.type == name }) else { continue }
                return range.weight > 0 ? (range.weight, closeness) : (0, 0)
            }
            return (0, 0)
        }
        // Scripts say `application/json, */*`: of equal weights, the type that is named wins.
        let isJSON = preference(for: "application/json", "application/*") > preference(for: "text/html", "text/*")
        self = isJSON ? .json : .html
    }

    /// A media range in small letters, and its weight: 1, unless `q` says less.
    private static func range(_ text: Substring) -> (type: String, weight: Double) {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
        return (parts.first ?? "", weight ?? 1)
    }
}
