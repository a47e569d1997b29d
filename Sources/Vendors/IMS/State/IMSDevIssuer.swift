import Emulation
import Synchronization
import Tokens

/// An issuer whose private keys are at hand: this server signs for it and publishes its public keys (ours).
///
/// The keys are read from their text when somebody needs them: a start has no time for what hardly any sandbox uses.
final class IMSDevIssuer: Sendable {
    /// A key that has not been read yet.
    struct KeyFile: Sendable, Hashable {
        /// The path for people.
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
    /// The field `Cache-Control` of what is published.
    let cacheControl: String
    private let keys = Mutex<IssuerKeys?>(nil)

    init(name: String, key: KeyFile, spares: [KeyFile], cacheControl: String) {
        self.name = name
        self.key = key
        self.spares = spares
        self.cacheControl = cacheControl
    }

    /// The keys to begin with.
    ///
    /// - Throws: which file holds none.
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
    /// The keys of a dev issuer as a sandbox has them; `nil` when there is no such issuer.
    ///
    /// - Throws: which file holds none.
    func devKeys(of name: String, in state: IMSState) throws(MintRefusal) -> IssuerKeys? {
        try devKeys(of: name, among: state.devKeys)
    }

    /// The keys of a dev issuer, where those are the ones that something happened to.
    func devKeys(of name: String, among changed: [String: IssuerKeys]) throws(MintRefusal) -> IssuerKeys? {
        if let keys = changed[name] { return keys }
        return try accounts.devIssuer(name)?.initialKeys()
    }

    func issuers(in state: IMSState) -> [IssuerKeys] {
        // A file that holds no key is told to whoever mints with it; here it is not there.
        accounts.devIssuers.compactMap { (try? devKeys(of: $0.name, in: state)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout IMSState) { state.store(keys) }

    func remoteKeys(in state: IMSState) -> [RemoteKeys] { state.issuers.all.compactMap(\.remote) }

    func store(_ keys: RemoteKeys, in state: inout IMSState) {
        guard let issuer = state.issuers.named(keys.issuer) else { return }
        state.issuers.store(IMSIssuer(issuer, remote: keys))
    }
}
