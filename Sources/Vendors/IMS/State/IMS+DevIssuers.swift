import Emulation
import Tokens

extension IMS {
    /// The keys of a dev issuer in a sandbox; `nil` when there is no such issuer.
    ///
    /// - Throws: which file holds no key.
    func devKeys(of name: String, in state: State) throws(MintRefusal) -> IssuerKeys? {
        try devKeys(of: name, among: state.devKeys)
    }

    /// The keys of a dev issuer, taken from the changed ones if they contain it.
    func devKeys(of name: String, among changed: [String: IssuerKeys]) throws(MintRefusal) -> IssuerKeys? {
        if let keys = changed[name] { return keys }
        return try accounts.devIssuer(name)?.initialKeys()
    }

    func issuers(in state: State) -> [IssuerKeys] {
        // Minting reports a file without a key; here the issuer is skipped.
        accounts.devIssuers.compactMap { (try? devKeys(of: $0.name, in: state)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout State) { state.store(keys) }

    func remoteKeys(in state: State) -> [RemoteKeys] { state.issuers.all.compactMap(\.remote) }

    func store(_ keys: RemoteKeys, in state: inout State) {
        guard let issuer = state.issuers.named(keys.issuer) else { return }
        state.issuers.store(IMSIssuer(issuer, remote: keys))
    }
}
