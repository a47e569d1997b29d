import Emulation
import Tokens

extension Okta {
    /// The keys of a server in a sandbox; `nil` when there is no such server.
    ///
    /// - Throws: which file holds no key.
    func keys(of server: String, in state: OktaState) throws(MintRefusal) -> IssuerKeys? {
        try keys(of: server, among: state.changedKeys)
    }

    /// The keys of a server, taken from the changed ones if they contain it.
    func keys(of server: String, among changed: [String: IssuerKeys]) throws(MintRefusal) -> IssuerKeys? {
        if let keys = changed[server] { return keys }
        return try accounts.server(server)?.keys.initialKeys()
    }

    func issuers(in state: OktaState) -> [IssuerKeys] {
        // Minting reports a file without a key; here the server is skipped.
        accounts.servers.compactMap { (try? keys(of: $0.id, in: state)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout OktaState) { state.changedKeys[keys.name] = keys }
}
