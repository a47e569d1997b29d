/// A request for tokens by a client that authenticated itself.
struct OktaTokenRequest: Sendable {
    let server: OktaServer
    let client: OktaClient
    let parameters: OktaParameters
    /// The thumbprint of the key that a DPoP proof showed, to which the tokens are bound; `nil` without one.
    var proofKey: String?
}
