import HTTPTypes
import JSON
import Tokens
import Wire

/// What a rule does to an exchange: replaces its answer, performs an action, spoils tokens in the answer, moves the
/// clock, disturbs the wire, or none of these.
struct Effect: Sendable {
    enum Replacement: Sendable {
        case failure(String, JSONObject)
        case response(ResponseTemplate)
    }

    let replacement: Replacement?
    let action: ActionRequest?
    let wireFault: WireFault?
    let defects: [SpoiledToken]
    /// How far the sandbox's clock moves as the call is answered.
    let advance: Duration?

    static let members = ["fail", "parameters", "respond", "do", "fault", "defects", "advance"]

    /// Reads `fail` (a failure's name, with optional `parameters`) or `respond`, and optional `do`, `fault`, `defects`
    /// and `advance`.
    init(_ mapping: FixtureMapping, _ scope: InterventionScope) throws(FixtureProblem) {
        let given = try mapping.one(of: "fail", "respond")
        if let parameters = mapping["parameters"], mapping["fail"] == nil {
            throw parameters.nameProblem("parameters are for the body of a failure, and there is no fail")
        }
        if let defects = mapping["defects"], mapping["fail"] != nil {
            throw defects.nameProblem("defects are of tokens that the vendor hands out, and a failure has none")
        }
        switch given {
        case ("fail", let node)?:
            let parameters = try mapping["parameters"]?.json().object
            replacement = .failure(try scope.name(node, "failure", among: scope.failures), parameters ?? [:])
        case (_, let node)?: replacement = .response(try ResponseTemplate(node, scope))
        case nil: replacement = nil
        }
        action = try mapping["do"].map { node throws(FixtureProblem) in try ActionRequest(node, scope) }
        wireFault = try mapping["fault"].map(WireFault.init)
        defects = try mapping["defects"].map { node throws(FixtureProblem) in try SpoiledToken.all(node, scope) } ?? []
        advance = try mapping["advance"]?.duration()
    }

    var refuses: Bool {
        switch replacement {
        case .failure?: true
        case .response(let response)?: response.status.code >= 400
        case nil: false
        }
    }

    /// Whether the exchange continues as if there were no rule.
    var isNone: Bool { replacement == nil && action == nil && wireFault == nil && defects.isEmpty && advance == nil }

    var summary: String {
        var words: [String] = []
        switch replacement {
        case .failure(let name, _)?: words.append("fail \(name)")
        case .response(let response)?: words.append("respond \(response.status.code)")
        case nil: break
        }
        if let action { words.append("do \(action.name)") }
        if let wireFault { words.append("fault \(wireFault.summary)") }
        words += defects.map { "defect \($0.summary)" }
        if let advance { words.append("advance \(advance.text)") }
        return words.joined(separator: ", ")
    }
}

@usableFromInline
struct Intervention: Sendable {
    let effect: Effect
    /// Which rule decided what, for the journal.
    let summary: String
    let transmission: Transmission

    init(_ effect: Effect, by author: String, then expectation: String? = nil, _ dice: inout SplitMix64) {
        self.effect = effect
        let decision = effect.isNone ? author : "\(author): \(effect.summary)"
        summary = expectation.map { "\(decision); \($0)" } ?? decision
        transmission = effect.wireFault?.transmission(&dice) ?? .plain
    }
}

/// An action of a rule: its name, and members whose strings may refer to parts of the exchange.
struct ActionRequest: Sendable {
    let name: String
    private let members: BodyTemplate

    /// Reads `NAME`, or `{ NAME: { members } }`.
    init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let known = scope.actions.map(\.name)
        if try node.json().string != nil {
            name = try scope.name(node, "action", among: known)
            members = try BodyTemplate(FixtureNode(.object([:]), from: ""), roots: TemplateValues.roots)
            try Self.check([], of: name, at: node, scope)
            return
        }
        let entries = try node.members()
        guard let (name, value) = entries.first, entries.count == 1 else {
            throw node.problem("expected the name of an action, or a mapping of one name to its members")
        }
        guard known.contains(name) else {
            throw value.nameProblem("\(scope.vendor) has no action \(name)\(Nearest.hint(to: name, among: known))")
        }
        self.name = name
        try Self.check(try value.members().map(\.name), of: name, at: value, scope)
        members = try BodyTemplate(value, roots: TemplateValues.roots)
    }

    private static func check(
        _ names: [String], of action: String, at node: FixtureNode, _ scope: InterventionScope
    ) throws(FixtureProblem) {
        let listing = scope.actions.first { $0.name == action }
        if let problem = listing?.problem(with: names) { throw node.problem(problem) }
    }

    /// The members for an exchange. Throws which template limit they would exceed.
    func members(_ values: TemplateValues) throws(TemplateExcess) -> JSONObject {
        let budget = TemplateBudget()
        let body = members.body(values.values, within: budget)
        if let excess = budget.excess { throw TemplateExcess(description: excess) }
        return body.object ?? [:]
    }
}

extension ActionListing {
    /// What is wrong with a request that has these members; `nil` when nothing is.
    func problem(with names: [String]) -> String? {
        let known = members.map(\.name)
        if let unknown = names.first(where: { !known.contains($0) }) {
            return "action \(name) has no member \(unknown)\(Nearest.hint(to: unknown, among: known))"
        }
        if let missing = members.first(where: { $0.isRequired && !names.contains($0.name) }) {
            return "action \(name) needs the member \(missing.name): \(missing.about)"
        }
        return nil
    }
}

public struct InterventionScope: Sendable {
    let vendor: String
    let routes: [String]
    let failures: [String]
    let actions: [ActionListing]
    /// The names of the vendor's own defects of tokens, listed only when a rule has some.
    let defects: @Sendable () -> [String]
    /// The source of files that a response names; `nil` when it may name none.
    let fixtures: VendorFixtures?

    @usableFromInline
    init(
        vendor: String, routes: [String], failures: [String], actions: [ActionListing],
        defects: @escaping @Sendable () -> [String] = { [] }, fixtures: VendorFixtures? = nil
    ) {
        (self.vendor, self.routes, self.failures, self.actions) = (vendor, routes, failures, actions)
        (self.defects, self.fixtures) = (defects, fixtures)
    }

    package init(_ vendor: any AnyLoadedVendor, fixtures: VendorFixtures? = nil) {
        self.init(
            vendor: vendor.identity.id, routes: vendor.routes.map(\.id), failures: vendor.failureNames,
            actions: vendor.actions, defects: { vendor.tokenKinds.flatMap(\.defects) }, fixtures: fixtures)
    }

    /// Whether a name, or a pattern with `*`, matches a route of the vendor.
    package func hasRoute(_ name: String) -> Bool {
        let wildcard = Wildcard(name)
        return routes.contains { $0 == name || wildcard.matches($0) }
    }

    /// The names of routes: one, a list, or all that match a pattern with `*`.
    func routes(_ node: FixtureNode) throws(FixtureProblem) -> Set<String> {
        guard case .array = try node.json() else { return try matching(node) }
        var routes: Set<String> = []
        for element in try node.elements() { routes.formUnion(try matching(element)) }
        guard !routes.isEmpty else { throw node.problem("the list names no route") }
        return routes
    }

    private func matching(_ node: FixtureNode) throws(FixtureProblem) -> Set<String> {
        let pattern = try node.string()
        guard pattern.utf8.contains(UInt8(ascii: "*")) else { return [try name(node, "route", among: routes)] }
        let wildcard = Wildcard(pattern)
        let found = routes.filter(wildcard.matches)
        guard !found.isEmpty else {
            throw node.problem("no route of \(vendor) fits “\(pattern)”\(Nearest.hint(to: pattern, among: routes))")
        }
        return Set(found)
    }

    func name(_ node: FixtureNode, _ kind: String, among known: [String]) throws(FixtureProblem) -> String {
        let name = try node.string()
        guard known.contains(name) else {
            throw node.problem("\(vendor) has no \(kind) \(name)\(Nearest.hint(to: name, among: known))")
        }
        return name
    }
}

/// A token in an answer that a rule makes wrong in one way: it is signed anew, by the key that signed it.
struct SpoiledToken: Sendable {
    /// Where the token is: a member of the answer's JSON, or a header field.
    let name: String
    private let path: JSONPath
    private let claims: JSONObject
    private let defect: String?

    /// Reads a mapping of members, each a JSONPath or a name, to a defect, or to `defect` and `claims` as a mint request
    /// has them.
    static func all(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) -> [SpoiledToken] {
        let tokens = try node.members().map { (member) throws(FixtureProblem) in
            try SpoiledToken(member.name, member.value, scope)
        }
        guard !tokens.isEmpty else { throw node.problem("defects names no member of the answer") }
        return tokens
    }

    private init(_ name: String, _ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        self.name = name
        path = try ExchangeCondition.path(name, node)
        if try node.json().string != nil {
            (claims, defect) = ([:], try Self.defect(node, scope))
            return
        }
        let mapping = try node.mapping("defect", "claims")
        guard !mapping.members.isEmpty else {
            throw node.problem("found nothing that is wrong with the token; expected defect or claims")
        }
        defect = try mapping["defect"].map { node throws(FixtureProblem) in try Self.defect(node, scope) }
        guard let claims = try (mapping["claims"]?.json() ?? [:]).object else {
            throw node.problem("claims is not a mapping of names to values")
        }
        self.claims = claims
    }

    private static func defect(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) -> String {
        let name = try node.string()
        // That a general one may be unknown is no error: it may be the vendor's.
        let isKnown = (try? Defect(named: name)) != nil || scope.defects().contains(name)
        guard isKnown else {
            throw node.problem(
                "“\(name)” is not a defect\(Nearest.hint(to: name, among: Defect.names + scope.defects()))")
        }
        return name
    }

    var summary: String {
        ([name, defect].compactMap(\.self) + claims.map { "claim \($0.name)" }).joined(separator: " ")
    }

    func token(in response: Response) -> CompactToken? {
        // An answer that is not JSON has no members.
        let members = (try? JSON.parse(response.body)).map { path.values(in: $0).compactMap(\.string) } ?? []
        let field = HTTPField.Name(name).flatMap { response.fields[$0] }
        // Some vendors write the scheme before it in JSON, too.
        guard let text = (members.first ?? field)?.split(separator: " ").last.map(String.init) else { return nil }
        let token = CompactToken(text)
        return token.isWellFormed && token.claims != nil ? token : nil
    }

    /// The token as it is signed next, and the vendor's own defect for it; `nil` when no key has signed it.
    func unsigned(_ token: CompactToken, among keys: [SigningKey]) -> (token: UnsignedToken, own: String?)? {
        guard let algorithm = token.namedAlgorithm(among: Algorithm.allCases), let header = token.header,
            let claims = token.claims,
            let key = keys.first(where: { token.isSigned(by: $0.verificationKey, algorithm: algorithm) })
        else { return nil }
        var unsigned = UnsignedToken(TokenDraft(header: header, claims: claims), key: key, algorithm: algorithm)
        for member in self.claims { unsigned.content.claims[member.name] = member.value }
        // A name that is not general is the vendor's, as was checked on reading.
        guard let defect, (try? Defect(named: defect)) == nil else {
            unsigned.defect = defect
            return (unsigned, nil)
        }
        return (unsigned, defect)
    }
}

extension SandboxedVendor {
    /// Signs tokens of an answer anew, each wrong in its way, and returns what was not possible and why.
    func spoil(
        _ tokens: [SpoiledToken], in response: inout Response, of exchange: Exchange, by loaded: LoadedVendor<V>
    ) -> [String] {
        let state = snapshot().state
        let setting = TokenSetting<V>(
            state: state, moment: exchange.moment, switches: switches, sandbox: exchange.sandbox.identity)
        var notes: [String] = []
        for spoiled in tokens {
            do throws(ControlRefusal) {
                let token = try ControlRefusal.require(spoiled.token(in: response), "the answer has no such token")
                let keys = loaded.vendor.keys(for: token, in: setting)
                var (unsigned, own) = try ControlRefusal.require(
                    spoiled.unsigned(token, among: keys), "no key of \(V.identity.title) has signed it")
                if let own, try !loaded.vendor.spoil(&unsigned, own, in: state) {
                    throw ControlRefusal("it is no token for the defect \(own)")
                }
                let text = try unsigned.signed(at: exchange.moment)
                response.replace(token.text, with: text)
            } catch {
                notes.append("\(spoiled.name) was left as it is: \(error)")
            }
        }
        return notes
    }
}

extension Response {
    /// Replaces a token wherever it stands; no text has one by chance.
    fileprivate mutating func replace(_ token: String, with other: String) {
        body = Array(String(decoding: body, as: UTF8.self).replacing(token, with: other).utf8)
        fields = HTTPFields(fields.map { HTTPField(name: $0.name, value: $0.value.replacing(token, with: other)) })
    }
}
