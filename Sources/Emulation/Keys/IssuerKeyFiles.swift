import Synchronization
import Tokens

/// The keys of an issuer for which this server signs, in files of the fixtures.
///
/// They are parsed on first use: hardly any sandbox needs them, so starting must not pay for it.
package final class IssuerKeyFiles: Sendable {
    /// The issuer's name in control calls.
    package let name: String
    /// The `Cache-Control` field of the published keys, where the fixtures say it.
    package let cacheControl: String?
    private let key: KeyFile
    private let next: KeyFile?
    private let spares: [KeyFile]
    private let naming: IssuerKeys.Naming
    private let keys = Mutex<IssuerKeys?>(nil)

    /// Reads which files an issuer has: `key`, perhaps `next`, `spares` and `cache_control`.
    ///
    /// - Parameter naming: how drills name further keys.
    package init(
        name: String, _ entry: FixtureMapping, _ fixtures: VendorFixtures, naming: IssuerKeys.Naming = .random
    ) throws(FixtureProblem) {
        let takesThumbprint = naming == .thumbprint
        func file(_ node: FixtureNode) throws(FixtureProblem) -> KeyFile {
            try KeyFile(node, fixtures, takesThumbprint: takesThumbprint)
        }
        var spares: [KeyFile] = []
        try entry["spares"]?.forEachRecord { (node) throws(FixtureProblem) in spares.append(try file(node)) }
        self.name = name
        self.naming = naming
        self.spares = spares
        key = try file(try entry.required("key"))
        next = try entry["next"].map { (node) throws(FixtureProblem) in try file(node) }
        cacheControl = try entry["cache_control"]?.string()
    }

    /// The initial keys.
    ///
    /// - Throws: which file holds no key.
    package func initialKeys() throws(MintRefusal) -> IssuerKeys {
        if let known = keys.withLock({ $0 }) { return known }
        var pairs: [SigningKey] = []
        for spare in spares { pairs.append(try spare.read()) }
        let next = try next.map { (file) throws(MintRefusal) in try file.read() }
        let read = IssuerKeys(
            name: name, algorithm: .rs256, signing: try key.read(), next: next, spares: pairs, naming: naming)
        keys.withLock { $0 = read }
        return read
    }
}
