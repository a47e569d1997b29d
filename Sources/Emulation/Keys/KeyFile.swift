import JSON
import Synchronization
package import Tokens

/// A private key in a file of the fixtures. One that tests have judged is parsed on first use.
package final class KeyFile: Sendable {
    /// The path to show to people.
    private let path: String
    private let text: [UInt8]
    /// The `kid`; `nil` where the fixtures name none.
    private let id: String?
    private let takesThumbprint: Bool
    private let key = Mutex<SigningKey?>(nil)

    /// Reads which `file` holds a key, and perhaps its `kid`.
    ///
    /// - Parameters:
    ///   - takesThumbprint: whether a key without a `kid` gets its thumbprint (RFC 7638) as one.
    ///   - isRSA: whether it is for RS256, which no other kind of key can sign.
    package convenience init(
        _ node: FixtureNode, _ fixtures: VendorFixtures, takesThumbprint: Bool = true, isRSA: Bool = false
    ) throws(FixtureProblem) {
        try self.init(try node.mapping("file", "kid"), fixtures, takesThumbprint: takesThumbprint, isRSA: isRSA)
    }

    /// The same from members that occur among others.
    package init(
        _ entry: FixtureMapping, _ fixtures: VendorFixtures, takesThumbprint: Bool = true, isRSA: Bool = false
    ) throws(FixtureProblem) {
        self.takesThumbprint = takesThumbprint
        let file = try fixtures.file(named: try entry.required("file"))
        path = file.path
        text = file.bytes
        id = try entry["kid"]?.string()
        if file.isJudged { return }
        let read: SigningKey
        do throws(KeyError) { read = try parsed() } catch {
            throw FixtureProblem(file: path, message: error.inPEM)
        }
        if isRSA, !read.kind.algorithms.contains(.rs256) {
            throw FixtureProblem(file: path, message: "found an \(read.kind); expected an RSA key, as RS256 needs")
        }
    }

    private func parsed() throws(KeyError) -> SigningKey {
        if let known = key.withLock({ $0 }) { return known }
        var read = try SigningKey.pem(String(decoding: text, as: UTF8.self), id: id)
        if id == nil, takesThumbprint { read.id = read.thumbprint }
        key.withLock { $0 = read }
        return read
    }

    /// The key.
    ///
    /// - Throws: which file holds no key.
    package func read() throws(MintRefusal) -> SigningKey {
        do throws(KeyError) { return try parsed() } catch {
            throw MintRefusal("\(path): \(error.inPEM)")
        }
    }
}

/// The keys of an issuer for which this server signs, in files of the fixtures.
///
/// They are parsed on first use: hardly any sandbox needs them, so starting must not pay for it.
package final class IssuerKeyFiles: Sendable {
    /// The issuer's name in control calls.
    package let name: String
    /// The `Cache-Control` field of the published keys, if the fixtures set it.
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
            try KeyFile(node, fixtures, takesThumbprint: takesThumbprint, isRSA: true)
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

extension [UInt8] {
    /// Whether the text has a PEM line that mentions a private key.
    package var holdsPrivateKey: Bool {
        let words = Array("PRIVATE KEY-----".utf8)
        var rest = self[...]
        while let start = rest.place(of: words[0]) {
            if rest[start...].prefix(words.count).elementsEqual(words) { return true }
            rest = rest[(start + 1)...]
        }
        return false
    }
}

/// A secret that a vendor shares with signers, described without revealing it.
public struct SharedSecret: Sendable {
    package let owner: String
    package let algorithm: Algorithm
    /// Its length in bytes.
    package let byteCount: Int

    /// Describes a secret of that owner; only the length of the key is kept.
    package init(owner: String, algorithm: Algorithm, key: SigningKey) {
        self.owner = owner
        self.algorithm = algorithm
        byteCount =
            switch key.kind {
            case .secret(let byteCount): byteCount
            case .rsa, .ec, .ed25519: 0
            }
    }
}
