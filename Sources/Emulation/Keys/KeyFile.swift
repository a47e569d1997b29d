import Synchronization
package import Tokens

/// A private key in a file of the fixtures, parsed on first use.
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
    /// - Parameter takesThumbprint: whether a key without a `kid` gets its thumbprint (RFC 7638) as one.
    package convenience init(
        _ node: FixtureNode, _ fixtures: VendorFixtures, takesThumbprint: Bool = true
    ) throws(FixtureProblem) {
        try self.init(try node.mapping("file", "kid"), fixtures, takesThumbprint: takesThumbprint)
    }

    /// The same from members that stand among others.
    package init(
        _ entry: FixtureMapping, _ fixtures: VendorFixtures, takesThumbprint: Bool = true
    ) throws(FixtureProblem) {
        self.takesThumbprint = takesThumbprint
        let file = try fixtures.file(named: try entry.required("file"))
        path = file.path
        text = file.bytes
        id = try entry["kid"]?.string()
        guard text.holdsPrivateKey else {
            throw FixtureProblem(file: file.path, message: "is not a private key in PEM")
        }
        guard text.isBase64InPEM else {
            throw FixtureProblem(file: file.path, message: "has something other than base64 in its PEM block")
        }
    }

    /// The key.
    ///
    /// - Throws: which file holds no key.
    package func read() throws(MintRefusal) -> SigningKey {
        if let known = key.withLock({ $0 }) { return known }
        do throws(KeyError) {
            var read = try SigningKey.pem(String(decoding: text, as: UTF8.self), id: id)
            if id == nil, takesThumbprint { read.id = read.thumbprint }
            key.withLock { $0 = read }
            return read
        } catch {
            throw MintRefusal("\(path) is not a private key in PEM: \(error)")
        }
    }
}
