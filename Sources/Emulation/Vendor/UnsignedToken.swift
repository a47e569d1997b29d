package import Tokens

/// A token with its key, before it is signed.
package struct UnsignedToken: Sendable {
    /// The header and the claims.
    package var content: TokenDraft
    package var key: SigningKey
    package var algorithm: Algorithm
    /// The name of the general defect that signing gives it; `nil` for none.
    package var defect: String?

    /// Creates a token without a defect.
    package init(_ content: TokenDraft, key: SigningKey, algorithm: Algorithm) {
        self.content = content
        self.key = key
        self.algorithm = algorithm
    }

    package func signed(at moment: Moment) throws(MintRefusal) -> MintedToken {
        do {
            let defect = try defect.map { name throws(MintError) in try Defect(named: name) }
            return MintedToken(
                token: try content.mint(key: key, algorithm: algorithm, defect: defect, at: moment.unixSeconds))
        } catch {
            throw MintRefusal("\(error)")
        }
    }
}
