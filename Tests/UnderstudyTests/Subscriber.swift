import Emulation
import HTTPTypes
import JSON
import Support
import Tokens
import Wire

/// A test vendor that verifies tokens with keys that another server publishes.
final class Subscriber: Vendor {
    enum Failure: String, RouteFailure {
        case routeNotFound = "nothing-here"
        case keyUnknown = "key-unknown"
        case keysUnavailable = "keys-unavailable"
        case signatureWrong = "signature-wrong"

        static let (methodNotAllowed, bodyTooLarge) = (routeNotFound, routeNotFound)
    }

    typealias Access = Void
    typealias AuthenticationContext = [RemoteKeys]

    struct State: Sendable {
        var keys: [RemoteKeys]
        var usesOfOneToken = 0
    }

    struct Switches: VendorSwitches {
        var coolDown = 30
        mutating func code(_ coder: inout SwitchCoder) {
            coder.count("cool-down", &coolDown, in: 0...3600, about: "seconds between two fetches", source: "tests")
        }
    }

    struct Credentials: Sendable {
        var token: CompactToken?
        var order: KeyRequirement?
    }

    static let identity = VendorIdentity(
        id: "subscriber", title: "Subscriber", prefixes: ["/subscriber"],
        repeatedSlashes: .collapse, ignoresTrailingSlash: true)

    static let checkers = [
        TokenChecker(
            name: "subscriber-app", of: "subscriber", about: "for tests", standardMargin: .seconds(60),
            rules: RuleList(TokenRule.structure(orFail: .routeNotFound)), facts: { ClientFacts(token: $0, margin: $2) }
        ) { facts, _ in ["margin": JSON(Int(facts.margin.inSeconds))] }
    ]

    struct ClientFacts: RuleFacts {
        typealias Failure = Subscriber.Failure

        let token: CompactToken
        let margin: Duration
        var compact: CompactToken? { token }
    }

    static let routes: [Route<Subscriber>] = [
        Route("read", .get("/subscriber/{issuer}"), access: (), evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in .json(["uses": JSON(state.usesOfOneToken)])
        },
        Route("ask", .post("/subscriber/{issuer}/ask"), access: (), evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in
            guard let index = state.keys.firstIndex(where: { $0.issuer == call.parameters["issuer"] }) else {
                throw Refusal(.routeNotFound)
            }
            guard let report = call.keyFetch else { return .fetchKeys(state.keys[index]) }
            state.keys[index].take(report, call.vendor.keyFetchPolicy(call.switches))
            return .json([
                "problem": JSON(report.problem?.description), "kids": .array(report.keys.map { JSON($0.id) }),
                "skipped": .array(report.skipped.map { .string($0.description) }),
            ])
        },
    ]

    let initialState: State

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        var keys: [RemoteKeys] = []
        for (name, url) in try fixtures.document("accounts.yaml").members() {
            keys.append(
                RemoteKeys(
                    issuer: name, url: try url.string(), form: name.hasPrefix("certificates") ? .certificates : .keySet,
                    algorithm: name.hasSuffix("rsa") ? .rs256 : .es256))
        }
        initialState = State(keys: keys)
    }

    func authenticationContext(in state: State) -> [RemoteKeys] { state.keys }
    func remoteKeys(in state: State) -> [RemoteKeys] { state.keys }
    func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy {
        KeyFetchPolicy(coolDown: .seconds(switches.coolDown))
    }

    func store(_ keys: RemoteKeys, in state: inout State) {
        if let index = state.keys.firstIndex(where: { $0.issuer == keys.issuer }) { state.keys[index] = keys }
    }

    func awaitedKeys(of credentials: Credentials) -> KeyRequirement? { credentials.order }

    func authenticate(_ arrival: Arrival<Subscriber>, _ findings: inout Findings<Failure>) -> Credentials {
        guard arrival.route.id == "read",
            let remote = arrival.authenticationContext.first(where: { $0.issuer == arrival.parameters["issuer"] }),
            let text = arrival.request.fields[.authorization]
        else { return Credentials() }
        let token = CompactToken(String(text.dropFirst("Bearer ".count)))
        let kid = token.header?["kid"]?.string
        if let fetch = arrival.keyFetch { findings.note(fetch.finding) }
        let policy = keyFetchPolicy(arrival.switches)
        let need =
            arrival.keyFetch == nil
            ? remote.need(naming: kid, at: arrival.moment, policy) : remote.keysInNeed(at: arrival.moment)
        switch need {
        case .fetch: return Credentials(token: token, order: KeyRequirement(of: remote.issuer, naming: kid))
        case .unavailable:
            findings.add(Finding("keys", .failed, source: "tests"), orFail: .keysUnavailable)
        case .use(let keys):
            guard let key = keys.first(where: { $0.id == kid }) else {
                findings.add(Finding("kid", .failed, source: "tests"), orFail: .keyUnknown)
                break
            }
            findings.add(token.signature(by: key, algorithm: remote.algorithm), orFail: .signatureWrong)
        }
        return Credentials(token: token)
    }

    func token(of credentials: Credentials) -> CompactToken? { credentials.token }

    func authorize(_ call: inout Call<Subscriber>, _ state: inout State) {
        if call.credentials.token != nil { state.usesOfOneToken += 1 }
    }

    func export(_ state: State, _ extent: StateExtent) -> JSON? { nil }

    func state(importing node: FixtureNode, _ extent: StateExtent, over current: State) throws(FixtureProblem) -> State
    { current }

    // MARK: - Fixtures

    static func fixtures(_ urls: [String: String]) throws -> TemporaryFolder {
        try TemporaryFolder([
            "notary/accounts.yaml": "motto: \"x\"\n",
            "notary/failures.yaml": failureSheet(Notary.statuses),
            "subscriber/accounts.yaml": urls.map { "\($0.key): \"\($0.value)\"\n" }.sorted().joined(),
            "subscriber/failures.yaml": failureSheet([
                "nothing-here": 404, "key-unknown": 401, "keys-unavailable": 503, "signature-wrong": 401,
            ]),
        ])
    }
}
