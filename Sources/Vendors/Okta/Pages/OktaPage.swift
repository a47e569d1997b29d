import HTTPTypes
import JSON
import Wire

/// A page, as HTML for people and as JSON for tests.
///
/// It knows nothing of routes and state: whoever answers fills it in and reads what its form sends.
protocol OktaPage: Sendable {
    /// Which page it is, in `data-page` and in JSON.
    var name: String { get }
    /// The title of the window, and of the page unless ``heading`` says more.
    var title: String { get }
    var heading: [OktaHTML] { get }
    /// What stands between the heading and the form.
    var introduction: [OktaHTML] { get }
    var status: HTTPResponse.Status { get }
    var alert: OktaPageAlert? { get }
    var request: OktaPageRequest? { get }
    var form: OktaForm? { get }
    /// After how many seconds the page is fetched again.
    var refresh: Int? { get }
    var policy: OktaContentPolicy { get }
    /// What stands below the form.
    func conclusion(_ links: OktaPageLinks) -> [OktaHTML]
    /// The page for a client that asked for JSON.
    var json: JSON { get }
}

extension OktaPage {
    var heading: [OktaHTML] { [.text(title)] }
    var introduction: [OktaHTML] { [] }
    var status: HTTPResponse.Status { .ok }
    var alert: OktaPageAlert? { nil }
    var request: OktaPageRequest? { nil }
    var form: OktaForm? { nil }
    var refresh: Int? { nil }
    var policy: OktaContentPolicy { OktaContentPolicy(forms: .own(andThen: request?.target)) }
    var json: JSON { members([]) }
    func conclusion(_ links: OktaPageLinks) -> [OktaHTML] { [] }

    /// The members that all pages have, around those of one.
    func members(_ own: [(String, JSON)]) -> JSON {
        var object: [(String, JSON)] = [("page", .string(name))]
        object += form?.hidden.map { ($0.name, .string($0.value)) } ?? []
        if let request { object += [("client", request.client), ("request", request.json)] }
        object += own
        if let form { object.append(("fields", .array(form.names.map(JSON.string)))) }
        return .object(JSONObject(object))
    }

    /// The answer to a request for that path.
    func response(at path: some StringProtocol, as format: OktaPageFormat = .html) -> Response {
        switch format {
        case .json:
            var response = alert.map { Response.json($0.json, status: .badRequest) } ?? .json(json, status: status)
            policy.apply(to: &response)
            return response
        case .html:
            let document = html(OktaPageLinks(from: path)).document
            var response = Response.page(.document, document, under: policy, status: status)
            if let refresh, let name = HTTPField.Name("Refresh") { response.fields[name] = String(refresh) }
            return response
        }
    }

    func html(_ links: OktaPageLinks) -> OktaHTML {
        .tag("html", ["lang": "en"]) {
            OktaHTML.tag("head") {
                OktaHTML.tag("meta", ["charset": "utf-8"])
                OktaHTML.tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                OktaHTML.tag("meta", ["name": "color-scheme", "content": "light dark"])
                OktaHTML.tag("title", "\(title) · Understudy")
                OktaHTML.tag("link", ["rel": "stylesheet", "href": links.style])
            }
            OktaHTML.tag("body") {
                OktaHTML.tag("header") { OktaHTML.tag("p", "Understudy — emulated Okta sign-in") }
                main(links)
            }
        }
    }

    private func main(_ links: OktaPageLinks) -> OktaHTML {
        .tag("main", ["data-page": name]) {
            OktaHTML.tag("section") {
                OktaHTML.tag("h1") { heading }
                introduction
                if let alert { alert.html }
                if let form { form.html(alert) }
                if let script = policy.script { OktaHTML.script(script) }
                conclusion(links)
            }
            if let request { request.html }
        }
    }
}
