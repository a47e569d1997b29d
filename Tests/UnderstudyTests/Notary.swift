import Emulation
import HTTPTypes
import JSON
import Support
import Synchronization
import Tokens
import Wire

/// A vendor of the tests' own, with an issuer that publishes its keys, and with fixtures that its answers show.
final class Notary: Vendor {
    enum Failure: String, VendorFailure {
        case nothingHere = "nothing-here"
        case tokenWrong = "token-wrong"
        case keysBroken = "keys-broken"
    }

    enum Access: Sendable {
        case anybody
        case bearer
    }

    struct State: Sendable {
        var keys: [IssuerKeys]
        var motto: String
        var visits = 0
    }

    struct Switches: VendorSwitches {
        static let declarations: [SwitchDeclaration] = []
        init(_ values: SwitchValues) {}
    }

    struct Credentials: Sendable {
        var token: CompactToken?
        /// The motto of the vendor that judged them.
        var motto: String
    }

    static let identity = VendorIdentity(
        id: "notary", title: "Notary", prefixes: ["/notary"],
        pathRules: PathRules(repeatedSlashes: .collapse, ignoresTrailingSlash: true))
    static let unrouted = UnroutedFailures<Failure>(
        routeNotFound: .nothingHere, methodNotAllowed: .nothingHere, bodyTooLarge: .nothingHere)
    static let tokenKinds = [TokenKind(name: "seal", about: "for tests", members: [], defects: [])]

    static let routes: [Route<Notary>] = [
        Route("jwks", .get("/notary/{issuer}/jwks"), access: .anybody, evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in
            guard let index = state.keys.firstIndex(where: { $0.name == call.parameters["issuer"] }) else {
                throw Refusal(.nothingHere)
            }
            guard let keys = state.keys[index].fetch() else { throw Refusal(.keysBroken) }
            return .json(keys)
        },
        Route("whoami", .get("/notary/whoami"), access: .bearer, evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in .json(["kid": call.credentials.token?.header?["kid"] ?? nil])
        },
        Route("motto", .get("/notary/motto"), access: .anybody, evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in
            state.visits += 1
            let mottos = [call.credentials.motto, call.vendor.motto, state.motto]
            return .json(["mottos": .array(mottos.map(JSON.string)), "visits": JSON(state.visits)])
        },
    ]

    /// What is to happen while a request with that value of `x-hold` is being judged, once.
    static let holds = Mutex<[String: @Sendable () -> Void]>([:])

    let motto: String
    let initialState: State

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        motto = try fixtures.document("accounts.yaml").mapping("motto").required("motto").string()
        do throws(KeyError) {
            let spare = try SigningKey.generateEC(.p256, id: "spare")
            initialState = State(
                keys: [
                    IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first")),
                    IssuerKeys(
                        name: "announcing", algorithm: .es256, signing: try .generateEC(.p256, id: "first"),
                        next: try .generateEC(.p256, id: "second"), spares: [spare]),
                ], motto: motto)
        } catch {
            throw FixtureProblem(file: "keys", message: error.description)
        }
    }

    func export(_ state: State, _ extent: StateExtent) -> JSON? { ["visits": JSON(state.visits)] }

    func state(importing node: FixtureNode, _ extent: StateExtent, over current: State) throws(FixtureProblem) -> State
    {
        var state = current
        state.visits = try node.mapping("visits").required("visits").int()
        return state
    }

    func adopt(_ state: State, startedFrom old: Notary) -> State {
        var state = state
        state.motto = motto
        return state
    }

    func issuers(in state: State) -> [IssuerKeys] { state.keys }

    func store(_ keys: IssuerKeys, in state: inout State) {
        if let index = state.keys.firstIndex(where: { $0.name == keys.name }) { state.keys[index] = keys }
    }

    func authenticate(_ arrival: Arrival<Notary>, _ findings: inout Findings<Failure>) -> Credentials {
        if let hold = HTTPField.Name("x-hold").flatMap({ arrival.request.fields[$0] }) {
            Self.holds.withLock { $0.removeValue(forKey: hold) }?()
        }
        let text = arrival.request.fields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        return Credentials(token: text.map { CompactToken($0) }, motto: motto)
    }

    func claims(of credentials: Credentials) -> JSONObject? { credentials.token?.claims }

    func authorize(_ call: inout Call<Notary>, _ state: inout State) {
        guard case .bearer = call.route.access else { return }
        let token = call.credentials.token
        let key = token?.header?["kid"]?.string.flatMap { state.keys[0].key(withID: $0) }
        let isValid = key.map { key in
            token.map { token in
                key.verificationKey.isValid(
                    signature: token.signature ?? [], for: token.signingInput, algorithm: .es256)
            } ?? false
        }
        call.findings.add(
            Finding("seal", isValid == true ? .passed : .failed, source: "tests"), orFail: .tokenWrong)
    }

    func mint(_ order: MintOrder, in setting: TokenSetting<Notary>) throws(MintRefusal) -> MintedToken {
        let keys = setting.state.keys[0]
        let draft = TokenDraft(header: ["kid": JSON(keys.signing.id), "alg": "ES256"], claims: ["sub": "me"])
        return try MintedToken(draft, key: keys.signing, algorithm: .es256, defect: nil, at: setting.moment)
    }

    func explain(
        _ token: String, knowing context: JSONObject, in setting: TokenSetting<Notary>
    ) -> TokenVerdict<Failure> {
        TokenVerdict(kind: nil, account: nil, findings: Findings())
    }

    var samples: [SampleCredential] { [] }

    func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest {
        SampleRequest(endpoint: .get("/notary/motto"), fields: [], body: "")
    }

    // MARK: - Fixtures

    /// The fixtures of a notary with that motto, which its refusals say as well.
    static func fixtures(_ motto: String) throws -> TemporaryFolder {
        let failures = [("nothing-here", 404), ("token-wrong", 401), ("keys-broken", 500)].map { name, status in
            """
              \(name): { about: "x", status: \(status), body: { code: "\(name)", motto: "\(motto)" }, evidence: ours, source: "tests" }
            """
        }
        return try TemporaryFolder([
            "notary/accounts.yaml": "motto: \"\(motto)\"\n",
            "notary/failures.yaml": "failures:\n" + failures.joined(separator: "\n") + "\n",
        ])
    }
}
