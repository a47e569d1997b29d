import Emulation
import JSON
import Tokens

/// A token that is presented to the server that should have issued it.
struct OktaTokenFacts: RuleFacts {
    typealias Failure = OktaFailure

    /// What only explains failures.
    private struct Setting {
        let vendor: Okta
        let server: OktaServer
        let sandbox: SandboxIdentity
        let changedKeys: [String: IssuerKeys]
    }

    let moment: Moment
    /// Released if there are no failures.
    private var setting: Setting?
    /// Where the token was sent; `nil` for one that is not in `Authorization`.
    var bearer: BearerToken?
    private(set) var token: OktaToken?
    /// The published key that the token names.
    private(set) var key: SigningKey?
    /// Whether `iss` is the server's, in any form of the sandbox's address.
    private(set) var isOwn = false
    /// Whether it was revoked; `nil` until the state is asked.
    var isRevoked: Bool?

    var compact: CompactToken? { token?.compact }

    /// The facts about a token at a server.
    ///
    /// - Parameter base: the form of the address in which the client names the sandbox; others are tried after it.
    init(
        _ vendor: Okta, _ token: OktaToken?, at server: OktaServer, _ changedKeys: [String: IssuerKeys],
        in sandbox: SandboxIdentity, named base: String, _ moment: Moment
    ) {
        self.moment = moment
        self.token = token
        setting = Setting(vendor: vendor, server: server, sandbox: sandbox, changedKeys: changedKeys)
        guard let token else { return }
        // A file without a key is reported when it is asked to sign.
        let keys = (try? vendor.keys(of: server.id, among: changedKeys)) ?? nil
        key = token.keyID.flatMap { keys?.key(withID: $0) }
        guard let issuer = token.issuer else { return }
        isOwn =
            server.isIssuer(issuer, at: base)
            || sandbox.publicBase.addresses(of: sandbox.name).contains { server.isIssuer(issuer, at: $0) }
    }

    /// The facts about a token that a request brings.
    init(_ token: OktaToken?, _ arrival: OktaArrival, at server: OktaServer) {
        self.init(
            arrival.vendor, token, at: server, arrival.authenticationContext, in: arrival.sandbox,
            named: arrival.base, arrival.moment)
    }

    mutating func dropExplanations() { setting = nil }
}

// MARK: - Explanations

extension OktaTokenFacts {
    /// The server's issuer in each form.
    var issuers: [String] {
        guard let setting else { return [] }
        return setting.sandbox.publicBase.addresses(of: setting.sandbox.name).map(setting.server.issuer)
    }

    /// The ids of the keys that the server publishes.
    var keyIDs: [String] { setting.map { keyIDs(of: $0.server, $0) } ?? [] }

    var keyMistake: String? {
        guard let setting, let id = token?.keyID else { return nil }
        let owner = setting.vendor.accounts.servers.first {
            keyIDs(of: $0, setting).contains { $0.hasSameBytes(as: id) }
        }
        return owner.map { "It is a key of server \($0.id); this endpoint is that of server \(setting.server.id)." }
            ?? "The key was never published here, or it has left since."
    }

    /// Where the token seems to come from.
    var issuerMistake: String? {
        guard let setting, let issuer = token?.issuer else { return nil }
        let bases = setting.sandbox.publicBase.addresses(of: setting.sandbox.name)
        for server in setting.vendor.accounts.servers where bases.contains(where: { server.isIssuer(issuer, at: $0) }) {
            return "It is the issuer of server \(server.id); this endpoint is that of server \(setting.server.id)."
        }
        return
            "An issuer is the address of this server, which --public-base sets, in the form in which the client named "
            + "its sandbox when it got the token; then the path of the authorization server."
    }

    private func keyIDs(of server: OktaServer, _ setting: Setting) -> [String] {
        let keys = (try? setting.vendor.keys(of: server.id, among: setting.changedKeys)) ?? nil
        return keys?.published.compactMap(\.key.id) ?? []
    }
}
