import HTTPTypes
import JSON
import Tokens
import Wire

extension VendorLoader {
    package static let own = VendorLoader(OwnRoutes.self)
}

/// The calls of an app to its own backend, by `own/*.yaml`: a vendor whose routes are fixtures, which judges no token
/// and remembers nothing. Without such a file nobody sees it.
final class OwnRoutes: Vendor {
    enum Failure: String, RouteFailure {
        case routeNotFound = "no-such-route"
        case methodNotAllowed = "method-not-allowed"
        case bodyTooLarge = "content-too-large"
    }

    struct Switches: VendorSwitches {
        mutating func code(_ coder: inout SwitchCoder) {}
    }

    typealias Access = Void

    static let identity = VendorIdentity(
        id: "own", title: "Own routes", prefixes: [""], repeatedSlashes: .collapseLeading, ignoresTrailingSlash: true)
    static let routes: [Route<OwnRoutes>] = []

    let initialState: Void = ()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {}

    func export(_ state: Void, _ extent: StateExtent) -> JSON? { nil }

    func state(importing node: FixtureNode, _ extent: StateExtent, over current: Void) throws(FixtureProblem) {
        throw node.problem("own routes remember nothing")
    }

    /// Reads the token, so that conditions and templates have its claims; nobody judges it.
    func authenticate(_ arrival: Arrival<OwnRoutes>, _ findings: inout Findings<Failure>) -> CompactToken? {
        BearerToken(arrival.request.fields, scheme: .upToTwice).bytes.map {
            CompactToken(bytes: Array($0), encoding: .lenient)
        }
    }

    func token(of credentials: CompactToken?) -> CompactToken? { credentials }

    static func routes(in fixtures: VendorFixtures) throws(FixtureProblem) -> [Route<OwnRoutes>]? {
        var file = OwnRouteFile(fixtures)
        for name in fixtures.names(in: ".") where name.hasSuffix(".yaml") && name != "failures.yaml" {
            try file.read(fixtures.file(name))
        }
        return file.routes
    }
}

/// Reads files with own routes: `routes` by name, each with `method`, `path` and `respond`.
package struct OwnRouteFile {
    /// HEAD follows GET.
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private(set) var routes: [Route<OwnRoutes>] = []
    private var trie = RouteTrie()
    private let scope: InterventionScope

    package init(_ fixtures: VendorFixtures? = nil) {
        scope = InterventionScope(
            vendor: OwnRoutes.identity.id, routes: [], failures: [], actions: [], fixtures: fixtures)
    }

    package mutating func read(_ file: FixtureStore.File) throws(FixtureProblem) {
        for (id, node) in try FixtureNode(file: file).mapping("routes").required("routes").members() {
            try node.readRecord { node throws(FixtureProblem) in try add(id, node) }
        }
    }

    private mutating func add(_ id: String, _ node: FixtureNode) throws(FixtureProblem) {
        guard Self.isName(id[...]) else {
            throw node.nameProblem("found the name “\(id)”; expected letters, digits, dots and hyphens")
        }
        if routes.contains(where: { $0.id == id }) {
            throw node.nameProblem("found the name \(id) a second time; expected another")
        }
        let mapping = try node.mapping("method", "path", "respond")
        let path = try mapping.required("path")
        let endpoint = Endpoint(try Self.method(mapping.required("method")), try Self.pattern(path))
        if let other = trie.insert(endpoint, route: routes.count) {
            throw path.problem(
                "found \(endpoint), to which \(routes[other].id) answers; expected another method or path")
        }
        let template = try ResponseTemplate(mapping.required("respond"), scope)
        // Its place: a problem with it, without words.
        routes.append(Self.route(id, endpoint, template, at: String("\(path.problem(""))".dropLast(2))))
    }

    private static func route(
        _ id: String, _ endpoint: Endpoint, _ template: ResponseTemplate, at place: String
    ) -> Route<OwnRoutes> {
        Route(id, endpoint, access: (), evidence: .ours, source: place) {
            (call, _) throws(Refusal<OwnRoutes.Failure>) in
            // A template may read anything.
            call.arrival.acceptQuery()
            call.arrival.acceptContent()
            let context = MatchContext(
                request: call.request, parameters: call.parameters, claims: call.credentials?.claims,
                token: call.credentials, moment: call.moment)
            do throws(TemplateExcess) {
                return .respond(try template.response(TemplateValues(context)))
            } catch {
                throw Refusal(.bodyTooLarge, because: error.description)
            }
        }
    }

    private static func method(_ node: FixtureNode) throws(FixtureProblem) -> HTTPRequest.Method {
        let text = try node.string()
        guard methods.contains(text), let method = HTTPRequest.Method(text) else {
            throw node.problem("found the method “\(text)”; expected one of \(methods.joined(separator: ", "))")
        }
        return method
    }

    private static func pattern(_ node: FixtureNode) throws(FixtureProblem) -> String {
        let path = try node.string()
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if segments.first == "_understudy" || segments.first?.first == "~" {
            throw node.problem(
                "found /\(segments[0]), which is the control API's or a sandbox's; expected another path")
        }
        let parameters = segments.filter { $0.first == "{" }
        if Set(parameters).count < parameters.count {
            throw node.problem("found the same parameter twice in \(path); expected another name")
        }
        let wrong = segments.indices.first { index in
            let (segment, isLast) = (segments[index], index == segments.count - 1)
            if segment.first == "{", segment.last == "}" {
                let inner = segment.dropFirst().dropLast()
                let name = isLast && inner.hasSuffix("...") ? inner.dropLast(3) : inner
                return !isName(name) || name.utf8.contains(UInt8(ascii: "."))
            }
            return segment.contains { "{}?#%".contains($0) } || [".", ".."].contains(segment)
                || segment.isEmpty && !isLast
        }
        if !path.hasPrefix("/") || wrong != nil {
            throw node.problem(
                "found “\(wrong.map { String(segments[$0]) } ?? path)” in the path; expected one such as /api/basket/{id}, or /api/{rest...}, without query and escapes"
            )
        }
        return path
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.first != "."
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    }
}
