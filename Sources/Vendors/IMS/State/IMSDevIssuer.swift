import Emulation
import Synchronization
import Tokens

/// An issuer whose private keys this server holds: it signs for the issuer and publishes its public keys (ours).
///
/// Keys are parsed on first use: hardly any sandbox needs them, so starting must not pay for it.
final class IMSDevIssuer: Sendable {
    /// A key that has not been read yet.
    struct KeyFile: Sendable, Hashable {
        /// The path to show to people.
        let path: String
        let text: [UInt8]
        let id: String?

        func read() throws(MintRefusal) -> SigningKey {
            do throws(KeyError) {
                return try SigningKey.pem(String(decoding: text, as: UTF8.self), id: id)
            } catch {
                throw MintRefusal("\(path) is no private key in PEM: \(error)")
            }
        }
    }

    let name: String
    let key: KeyFile
    let spares: [KeyFile]
    /// The `Cache-Control` field of the published keys.
    let cacheControl: String
    private let keys = Mutex<IssuerKeys?>(nil)

    init(name: String, key: KeyFile, spares: [KeyFile], cacheControl: String) {
        self.name = name
        self.key = key
        self.spares = spares
        self.cacheControl = cacheControl
    }

    /// The initial keys.
    ///
    /// - Throws: which file holds no key.
    func initialKeys() throws(MintRefusal) -> IssuerKeys {
        if let known = keys.withLock({ $0 }) { return known }
        var pairs: [SigningKey] = []
        for spare in spares { pairs.append(try spare.read()) }
        let read = IssuerKeys(name: name, algorithm: .rs256, signing: try key.read(), spares: pairs)
        keys.withLock { $0 = read }
        return read
    }
}

extension IMS {
    /// The keys of a dev issuer in a sandbox; `nil` when there is no such issuer.
    ///
    /// - Throws: which file holds no key.
    func devKeys(of name: String, in state: IMSState) throws(MintRefusal) -> IssuerKeys? {
        try devKeys(of: name, among: state.devKeys)
    }

    /// The keys of a dev issuer, taken from the changed ones if they contain it.
    func devKeys(of name: String, among changed: [String: IssuerKeys]) throws(MintRefusal) -> IssuerKeys? {
        if let keys = changed[name] { return keys }
        return try accounts.devIssuer(name)?.initialKeys()
    }

    func issuers(in state: IMSState) -> [IssuerKeys] {
        // Minting reports a file without a key; here the issuer is skipped.
        accounts.devIssuers.compactMap { (try? devKeys(of: $0.name, in: state)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout IMSState) { state.store(keys) }

    func remoteKeys(in state: IMSState) -> [RemoteKeys] { state.issuers.all.compactMap(\.remote) }

    func store(_ keys: RemoteKeys, in state: inout IMSState) {
        guard let issuer = state.issuers.named(keys.issuer) else { return }
        state.issuers.store(IMSIssuer(issuer, remote: keys))
    }
}
