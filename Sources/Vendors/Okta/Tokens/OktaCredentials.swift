import Emulation
import JSON
import Tokens

/// What a request presents, and what its authentication found.
struct OktaCredentials: Sendable {
    /// The parameters of the query or form, read once.
    var parameters = OktaParameters()
    /// The client that authenticated itself.
    var client: OktaClient?
    var method: OktaClient.Method?
    /// What the rules for clients judged; `nil` on routes that need none.
    var clientFacts: OktaClientFacts?
    /// The presented token of a server, or the one that the request is about.
    var token: OktaTokenFacts?
    /// The presented token or assertion, trusted or not.
    var compact: CompactToken?
    /// The proof of possession, where one is read.
    var proof: OktaProofCheck?
    var device: OktaDeviceFacts?

    var claims: JSONObject? { compact?.claims }
}

extension Okta {
    /// The changed keys of servers are all of the state that authentication sees.
    func authenticationContext(in state: OktaState) -> [String: IssuerKeys] { state.changedKeys }

    func token(of credentials: OktaCredentials) -> CompactToken? { credentials.compact }

    /// Judges what needs no more of the state than the servers' keys; each kind of caller has a file of its own.
    func authenticate(_ arrival: OktaArrival, _ findings: inout Findings<OktaFailure>) -> OktaCredentials {
        var credentials = OktaCredentials(parameters: OktaParameters(of: arrival.request))
        switch arrival.route.access {
        case .open: break
        case .client: authenticateClient(arrival, &credentials, &findings)
        case .bearer: authenticateBearer(arrival, &credentials, &findings)
        case .api: authenticateAPI(arrival, &credentials, &findings)
        case .device: authenticateDevice(arrival, &credentials, &findings)
        }
        judgeProof(of: arrival, &credentials)
        return credentials
    }

    /// Judges what needs the state: what was revoked or used before, and whose it is.
    func authorize(_ call: inout OktaCall, _ state: inout OktaState) {
        countRequest(&call, &state)
        switch call.route.access {
        case .open: break
        case .client: authorizeClient(&call, &state)
        case .bearer: authorizeBearer(&call, &state)
        case .api: authorizeAPI(&call, &state)
        case .device: authorizeDevice(&call, &state)
        }
        judgeOrigin(&call, &state)
        judgeProof(&call, &state)
    }
}
