import Emulation
import HTTPTypes
import JSON
import Synchronization
import Wire

/// A control call, with the sandbox that it selects.
final class ControlCall: Sendable {
    let request: Request
    let parameters: PathParameters
    let emulator: Emulator
    /// The vendors' port; `nil` when it is that of the call.
    let vendorPort: Int?
    let sandboxName: String
    private let selectedBy: SandboxSelector
    private let found: Mutex<Sandbox?>
    /// The query parameters, each at most once and declared by the operation.
    let query: Fields<ControlFields>

    /// Creates a call of its operation.
    ///
    /// - Throws: a problem when the query has a parameter that the operation does not declare, or has one twice.
    init(
        _ request: Request, at operation: ControlOperation, _ parameters: PathParameters, in sandbox: String,
        by selector: SandboxSelector, of emulator: Emulator, vendorPort: Int?
    ) throws(ControlProblem) {
        (self.request, self.parameters, self.emulator, self.vendorPort) = (request, parameters, emulator, vendorPort)
        (sandboxName, selectedBy) = (sandbox, selector)
        let existing = emulator.sandboxes.existing(sandbox)
        // A test that only reads the journal, or mints, uses its sandbox, too; a probe does not.
        if !operation.traits.contains(.open) { existing?.touch() }
        found = Mutex(existing)
        var names: Set<String> = []
        for (name, _) in request.queryItems {
            _ = try ControlProblem.place(of: name, among: operation.query, "there is no query parameter")
            guard names.insert(name).inserted else { throw .invalid("query parameter \(name) occurs twice") }
        }
        query = Fields(queryOf: request)
    }

    /// The sandbox that the request selects, created if needed; the same one for the duration of the call. A call that
    /// will be refused, or that concerns no sandbox, should not read it.
    var sandbox: Sandbox { found.once { emulator.sandboxes.sandbox(sandboxName) } }

    /// The sandbox that the request selects; `nil` if it does not exist.
    var existingSandbox: Sandbox? { found.withLock(\.self) }

    /// How the call named it, with the vendors' address if the sandbox's base follows requests.
    var selector: SandboxSelector { emulator.placed(selectedBy, of: request, at: vendorPort, in: sandbox) }

    /// The server's address as the client wrote it, with the path that selects the sandbox if the call has one.
    ///
    /// - Parameter port: another port of the server; `nil` for that of the call.
    func address(of port: Int? = nil) -> String {
        let base = request.origin(port: port) ?? emulator.sandboxes.publicBase.text
        return selectedBy.form == .path ? "\(base)/~\(sandboxName)" : base
    }

    /// The content, which must be a JSON object without repeated members.
    func object(maximumDepth: Int = JSON.defaultMaximumDepth) throws(ControlProblem) -> JSONObject {
        let object = try Fields<ControlFields>(bodyOf: request, maximumDepth: maximumDepth).object
        if let duplicate = object.duplicateNames.first { throw .invalid("member \(duplicate) occurs twice") }
        return object
    }

    /// The content, which must be a JSON object with only these members.
    func body(_ allowed: String...) throws(ControlProblem) -> Fields<ControlFields> {
        let object = try object()
        try check(object, allowed)
        return Fields(object)
    }

    func check(_ object: JSONObject, _ allowed: [String]) throws(ControlProblem) {
        try Fields<ControlFields>(object).read { $0.refuseUnknown(allowed) }
    }

    func vendor(_ id: String, _ status: HTTPResponse.Status = .notFound) throws(ControlProblem) -> Int {
        try ControlProblem.place(
            of: id, among: emulator.vendors.map(\.identity.id), "no vendor is called", status,
            status == .notFound ? "no-such-vendor" : "invalid")
    }

    /// The vendor that the content names, if any.
    func namedVendor(_ body: JSONObject, _ status: HTTPResponse.Status = .notFound) throws(ControlProblem) -> Int? {
        guard let name = body["vendor"] else { return nil }
        return try vendor(name.string ?? name.text, status)
    }

    func read<Value>(
        _ value: JSON, _ read: (FixtureNode) throws(FixtureProblem) -> Value
    ) throws(ControlProblem) -> Value {
        do {
            return try read(FixtureNode(value, from: "the content"))
        } catch {
            throw .invalid(error.message)
        }
    }

    /// An answer that is made on a thread that may take its time.
    func reading(_ make: @escaping @Sendable () throws(ControlProblem) -> Response) -> Answer {
        .deferred { await self.emulator.readings.run { ControlProblem.response(of: make) } }
    }
}

extension Request {
    /// Scheme, host and port as the client wrote them; `nil` from one of HTTP/1.0 that names no host.
    ///
    /// - Parameter port: a port in place of the client's.
    func origin(port: Int? = nil) -> String? {
        guard let authority else { return nil }
        let scheme = connection.isSecure ? "https" : "http"
        guard let port else { return "\(scheme)://\(authority)" }
        // A colon inside brackets belongs to an IPv6 address.
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return "\(scheme)://\(host):\(port)"
    }
}

/// How contents and queries of control calls are read.
enum ControlFields: FieldDialect {
    static func refusal(of problems: [FieldProblem]) -> ControlProblem {
        let (problem, name) = (problems[0], problems[0].path)
        if let reason = problem.reason(of: "The content", expected: nil, whenEmpty: "is empty; expected a JSON object")
        {
            return ControlProblem(.badRequest, "body-malformed", reason + ".")
        }
        let found = problem.isInQuery ? "“\(problem.found?.string ?? "")”" : problem.found?.text ?? ""
        return switch problem.kind {
        case .missing: .invalid("member \(name) is missing; expected \(problem.expected)")
        case .unknown(let name, let known): .unknown("there is no member", name, among: known)
        case .other(let reason): .invalid(reason)
        default: .invalid("\(name) is \(found); expected \(problem.expected)")
        }
    }
}

extension FieldReader {
    /// A non-negative number in a query.
    mutating func count(_ name: String) -> Int? {
        value(name, expecting: "a whole number") { $0.string.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
    }

    mutating func flag(_ name: String) -> Bool? { value(name, expecting: "true or false") { Bool($0.string ?? "") } }
}

/// Why a control call, or a request that reaches no vendor, is refused; in a neutral format, independent of vendors.
struct ControlProblem: Error {
    let status: HTTPResponse.Status
    /// A stable kebab-case name.
    let code: String
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// The refusal of a value: what was found and what would be right.
    static func invalid(_ message: String) -> ControlProblem { ControlProblem(.badRequest, "invalid", message) }

    /// The refusal of a name, with a similar one that is known.
    ///
    /// - Parameter reason: what the name ends, such as “no vendor is called”.
    static func unknown(
        _ reason: String, _ name: String, among known: [String], _ status: HTTPResponse.Status = .badRequest,
        _ code: String = "invalid"
    ) -> ControlProblem {
        ControlProblem(status, code, "\(reason) \(name)\(Nearest.hint(to: name, among: known))")
    }

    /// The place of a name among those that are known, or the refusal of another.
    static func place(
        of name: String, among known: [String], _ reason: String, _ status: HTTPResponse.Status = .badRequest,
        _ code: String = "invalid"
    ) throws(ControlProblem) -> Int {
        guard let place = known.firstIndex(of: name) else { throw .unknown(reason, name, among: known, status, code) }
        return place
    }

    /// `{"error":{"code":…,"message":…}}`.
    var response: Response { .json(["error": ["code": .string(code), "message": .string(message)]], status: status) }

    /// The response that is made, or the problem with it.
    static func response(of make: () throws(ControlProblem) -> Response) -> Response {
        do { return try make() } catch { return error.response }
    }
}

extension Answer {
    static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Answer {
        .ready(.json(value, status: status))
    }
}

extension Response {
    func masked(by redactor: Redactor) -> Response {
        var response = self
        response.body = redactor.answer(body)
        return response
    }
}

extension HTTPField.Name {
    /// Where a request comes from, according to the browser; no script can set it. Fetch Metadata Request Headers,
    /// section 2.4.
    fileprivate static let fetchSite = Self("Sec-Fetch-Site") ?? .origin
}

/// Who may make a control call: no web page on another origin, and no one without the token.
///
/// People who run a server on a laptop also open web pages there, and a page can send requests to any server that its
/// browser reaches. Decision `0013` explains each rule. Vendors' calls are not affected: an app may use any name that
/// leads here, and pages call vendors by the vendors' own rules.
struct ControlAccess: Sendable {
    /// The required bearer token; `nil` for none.
    let token: String?
    /// Names of this server besides those that every server has.
    private let hostNames: Set<String>

    init(token: String?, hostNames: Set<String>) {
        self.token = token
        self.hostNames = Set(hostNames.map { Self.plain($0.lowercased()[...]) })
    }

    /// Refuses requests that a page on another origin could have sent.
    func check(_ request: Request) throws(ControlProblem) {
        try checkHost(request.authority)
        try checkSite(request)
        try checkContentType(request)
    }

    /// Whether ``check(_:)`` passes; its refusal says why once the request is complete.
    func admits(_ request: Request) -> Bool { (try? check(request)) != nil }

    func hasToken(_ request: Request) -> Bool {
        guard let token else { return true }
        return BearerToken(request.fields).bytes?.elementsEqual(token.utf8) == true
    }
}

// MARK: - Host

extension ControlAccess {
    /// A page whose name was changed after loading to lead here shares the origin of its requests; only the name
    /// reveals it. Such a name is never an address, never ends in `localhost`, and always has a dot.
    private func checkHost(_ authority: String?) throws(ControlProblem) {
        // HTTP/1.0 clients may omit it, but no browser does.
        guard let authority, !isOwn(authority) else { return }
        let name = Self.plain(authority.lowercased().prefix { $0 != ":" })
        throw ControlProblem(
            .forbidden, "foreign-host",
            """
            Host is \(authority), which is not a name of this server; control calls accept an IP address, localhost, \
            NAME.localhost, a name without a dot, or one allowed with --allow-host \(name).
            """)
    }

    /// Compared as bytes: nearly every host is an address or `localhost`, and each call is checked.
    func isOwn(_ authority: String) -> Bool {
        let bytes = authority.utf8
        guard bytes.first != UInt8(ascii: "[") else { return true }
        let name = bytes.prefix { $0 != UInt8(ascii: ":") }
        // No top-level domain is a number, so every resolver treats this as an address.
        let isAddress = name.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        guard !isAddress, name.contains(UInt8(ascii: ".")) else { return true }
        let text = Self.plain(Substring(name).lowercased()[...])
        return !text.utf8.contains(UInt8(ascii: ".")) || text.hasSuffix(".localhost") || hostNames.contains(text)
    }

    /// A name without its optional final dot.
    private static func plain(_ name: Substring) -> String { String(name.hasSuffix(".") ? name.dropLast() : name) }
}

// MARK: - Origin

extension ControlAccess {
    private func checkSite(_ request: Request) throws(ControlProblem) {
        let site = request.fields[.fetchSite]
        if let site, site != "same-origin", site != "none" {
            throw ControlProblem(
                .forbidden, "foreign-site",
                """
                Sec-Fetch-Site is \(site); only this server's own web pages may make control calls (same-origin). \
                A typed address (none) and clients other than browsers are accepted.
                """)
        }
        guard let origin = request.fields[.origin], !Self.isOwn(origin, of: request, from: site) else { return }
        throw ControlProblem(
            .forbidden, "foreign-origin",
            """
            Origin is \(origin), not that of this server, \(Self.scheme(of: request))://\(request.authority ?? ""); \
            only this server's own web pages may make control calls.
            """)
    }

    private static func scheme(of request: Request) -> String { request.connection.isSecure ? "https" : "http" }

    /// Whether the origin is the one that the request's host names.
    ///
    /// Behind a proxy that terminates TLS the scheme differs, and only a browser that says `same-origin` confirms the
    /// origin.
    private static func isOwn(_ origin: String, of request: Request, from site: String?) -> Bool {
        guard let authority = request.authority?.lowercased() else { return false }
        for (scheme, port) in [("http", ":80"), ("https", ":443")]
        where site == "same-origin" || scheme == self.scheme(of: request) {
            let host = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
            if origin.lowercased() == "\(scheme)://\(host)" { return true }
        }
        return false
    }
}

// MARK: - Content type

extension ControlAccess {
    /// Any page's form can be sent here without a preflight, and older browsers do not name its origin.
    private func checkContentType(_ request: Request) throws(ControlProblem) {
        guard request.method != .get, request.method != .head, let value = request.fields[.contentType] else { return }
        let type = value.prefix { $0 != ";" && $0 != "," && $0 != " " && $0 != "\t" }.lowercased()
        guard Self.isForm(type), !Self.isUsual(type, of: request) else { return }
        throw ControlProblem(
            .forbidden, "form-content",
            """
            Content-Type is \(type), which a form of any web page can send; a control call's content is \
            application/json, or of no type at all.
            """)
    }

    /// The types that a page may send to other origins without a preflight. Fetch standard, section 2.2.2.
    private static func isForm(_ type: String) -> Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(type)
    }

    /// Whether some non-browser clients use that type for JSON by default.
    private static func isUsual(_ type: String, of request: Request) -> Bool {
        let agent = request.fields[.userAgent] ?? ""
        return switch type {
        // curl -d, wget, URLSession, Java's HttpURLConnection, Ruby, and PowerShell, whose agent begins like a
        // browser's.
        case "application/x-www-form-urlencoded":
            request.fields[.origin] == nil && request.fields[.fetchSite] == nil && request.fields[.referer] == nil
                && (!agent.hasPrefix("Mozilla/") || agent.firstRange(of: "PowerShell/") != nil)
        // Their fetch uses this type for every string. A page cannot use their names: setting the agent requires a
        // preflight.
        case "text/plain": ["node", "undici", "Deno/", "Bun/"].contains { agent.hasPrefix($0) }
        default: false
        }
    }
}
