import Emulation
import JSON
import Tokens

/// Tokens as Okta, its clients and its users' devices would sign them.
extension Okta {
    static let tokenKinds = OktaTokenKind.allCases.map {
        TokenKind(name: $0.rawValue, about: $0.about, members: $0.members, defects: $0.defects.map(\.rawValue))
    }

    func mint(_ order: MintRequest, in setting: TokenSetting<Okta>) throws(MintRefusal) -> MintedToken {
        guard let kind = OktaTokenKind(rawValue: order.kind) else {
            throw MintRefusal("Okta has no token of kind \(order.kind)")
        }
        var minter = OktaMinter(self, setting, order)
        let draft = try minter.draft(kind)
        let issuer = minter.issuer
        return try minter.reader.mint(draft, at: setting.moment, own: OktaDefect.init(rawValue:)) {
            (defect, token) throws(MintRefusal) in try defect.apply(to: &token, of: issuer)
        }
    }

    /// Clients authenticate with secrets, or sign with them.
    var sharedSecrets: [SharedSecret] {
        accounts.clients.all.compactMap { client in
            guard client.methods.contains(.secretJWT), let key = client.secretKey else { return nil }
            return SharedSecret(owner: "client \(client.id)", algorithm: .hs256, key: key)
        }
    }

    var samples: [SampleCredential] {
        accounts.servers.map { SampleCredential(label: "authorization server, its path", value: $0.path) }
            + accounts.clients.all.map { SampleCredential(label: "client “\($0.name)”, id", value: $0.id) }
            + accounts.users.map { SampleCredential(label: "user (\($0.status.rawValue)), login", value: $0.login) }
    }

    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        let sandbox = SandboxIdentity(name: SandboxName.standard, start: "00000000", publicBase: PublicBase(base))
        let setting = TokenSetting<Okta>(
            state: initialState, moment: moment, switches: .documented, sandbox: sandbox)
        let minted = try mint(MintRequest(kind: OktaTokenKind.access.rawValue), in: setting)
        let path = accounts.defaultServer.path
        return SampleRequest(
            endpoint: .get("\(path)/v1/userinfo"), fields: [("authorization", "Bearer \(minted.token)")], body: "")
    }
}

extension OktaAccounts {
    /// The server that is meant when nobody says which: the first custom one.
    var defaultServer: OktaServer { servers.first { !$0.isOrg } ?? servers[0] }
}

extension OktaClient {
    /// The secret as a key; `nil` without a secret.
    var secretKey: SigningKey? {
        guard let secret else { return nil }
        // Only an empty secret is no key.
        return try? SigningKey.secret(secret, id: id)
    }
}
