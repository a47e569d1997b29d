public import JSON

/// A vendor whose tokens can be minted and explained, by control call and by command.
public protocol MintsTokens<State, Switches, Failure>: Vendor {
    static var tokenKinds: [TokenKind] { get }
    /// The facts that ``explain(_:knowing:in:)`` may need about the request that carries the token.
    static var requestFacts: [RequestFact] { get }

    func mint(_ order: MintRequest, in setting: TokenSetting<Self>) throws(MintRefusal) -> MintedToken

    /// Returns what this vendor would answer to a token, given without its request.
    func explain(_ token: String, knowing context: JSONObject, in setting: TokenSetting<Self>) -> TokenVerdict<Failure>

    /// The secrets shared with signers.
    var sharedSecrets: [SharedSecret] { get }

    /// Ids and public keys of the sample accounts, shown at startup; never a secret.
    var samples: [SampleCredential] { get }

    /// A request that works at that moment, shown as a curl command.
    ///
    /// - Parameter base: the server's public address, for requests with tokens that name it.
    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest
}

extension MintsTokens {
    /// By default, a vendor judges a token without its request.
    package static var requestFacts: [RequestFact] { [] }

    /// By default, a vendor shares no secrets.
    package var sharedSecrets: [SharedSecret] { [] }

    /// ``explain(_:knowing:in:)`` for a vendor known only by its protocol.
    func explain(
        _ token: String, knowing context: JSONObject, _ state: State, _ moment: Moment, _ switches: Switches,
        _ sandbox: SandboxIdentity
    ) -> TokenVerdict<Failure> {
        let setting = TokenSetting<Self>(state: state, moment: moment, switches: switches, sandbox: sandbox)
        return explain(token, knowing: context, in: setting)
    }

    package var tokenMinter: (any MintsTokens<State, Switches, Failure>)? { self }
}

/// An id or public key of a sample account.
public struct SampleCredential: Sendable {
    package let label: String
    package let value: String

    package init(label: String, value: String) {
        self.label = label
        self.value = value
    }
}

/// A request that a person can send right away.
public struct SampleRequest: Sendable {
    /// The method and path.
    package let endpoint: Endpoint
    package let fields: [(name: String, value: String)]
    package let body: String

    package init(endpoint: Endpoint, fields: [(name: String, value: String)], body: String) {
        self.endpoint = endpoint
        self.fields = fields
        self.body = body
    }
}
