import Emulation
import HTTPTypes
import JSON
import Synchronization
import Tokens
import Wire

/// A test vendor whose answers show its fixtures: all that a vendor needs. Its keys: `Notary+Keys.swift`.
final class Notary: Vendor {
    enum Failure: String, RouteFailure {
        case routeNotFound = "nothing-here"
        case tokenWrong = "token-wrong"
        case keysBroken = "keys-broken"

        static let (methodNotAllowed, bodyTooLarge) = (routeNotFound, routeNotFound)
    }

    enum Access: Sendable {
        case anybody, bearer
    }

    struct State: Sendable {
        var keys: [IssuerKeys]
        var motto: String
        var visits = 0
    }

    struct Switches: VendorSwitches {
        mutating func code(_ coder: inout SwitchCoder) {}
    }

    struct Credentials: Sendable {
        var token: CompactToken?
        /// The motto of the vendor that judged the credentials.
        var motto: String
    }

    static let identity = VendorIdentity(
        id: "notary", title: "Notary", prefixes: ["/notary"],
        repeatedSlashes: .collapse, ignoresTrailingSlash: true)

    static let routes: [Route<Notary>] = [
        keySetRoute,
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

    /// Work to run once while a request with this value of `x-hold` is being judged.
    static let holds = Mutex<[String: @Sendable () -> Void]>([:])

    let motto: String
    let initialState: State

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        motto = try fixtures.document("accounts.yaml").mapping("motto").required("motto").string()
        initialState = State(keys: try Self.keys(), motto: motto)
    }

    static func security(of access: Access) -> [[SecurityScheme]] {
        access == .bearer ? [[.authorization("bearer")]] : []
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

    func authenticate(_ arrival: Arrival<Notary>, _ findings: inout Findings<Failure>) -> Credentials {
        if let hold = HTTPField.Name("x-hold").flatMap({ arrival.request.fields[$0] }) {
            Self.holds.withLock { $0.removeValue(forKey: hold) }?()
        }
        let text = arrival.request.fields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        return Credentials(token: text.map { CompactToken($0) }, motto: motto)
    }

    func token(of credentials: Credentials) -> CompactToken? { credentials.token }

    func authorize(_ call: inout Call<Notary>, _ state: inout State) {
        guard case .bearer = call.route.access else { return }
        let token = call.credentials.token
        let key = token?.header?["kid"]?.string.flatMap { state.keys[0].key(withID: $0) }
        let isValid = key?.verificationKey.isValid(
            signature: token?.signature ?? [], for: token?.signingInput ?? [], algorithm: .es256)
        call.findings.add(Finding("seal", isValid == true ? .passed : .failed, source: "tests"), orFail: .tokenWrong)
    }
}
