package import JSON

/// How a kind of token is minted and used, and the effects of its defects.
package struct TokenCase: Sendable, CustomStringConvertible {
    /// The kind's name.
    package let kind: String
    /// Each defect with its failure; `nil` if the vendor tolerates it.
    package let defects: [(name: String, failure: String?)]
    /// Defects that need another key, secret or account than those of the usual order.
    package let refused: [String]
    /// The reason's words for the vendor's own defects, where they differ from the general ones.
    package let words: [String: String]
    /// Mints a token with the members of an order, and sends it where a valid one is accepted.
    package let use: @Sendable (World, JSONObject) async throws -> ReceivedAnswer

    /// A kind of token.
    package init(
        _ kind: String, defects: [(String, String?)], refused: [String], words: [String: String] = [:],
        use: @escaping @Sendable (World, JSONObject) async throws -> ReceivedAnswer
    ) {
        self.kind = kind
        self.defects = defects.map { (name: $0.0, failure: $0.1) }
        (self.refused, self.words, self.use) = (refused, words, use)
    }

    /// The kind's name.
    package var description: String { kind }
}

/// A defect of a kind of token.
package struct DefectCase: Sendable, CustomStringConvertible {
    let token: TokenCase
    let name: String
    let failure: String?

    /// The kind and the defect.
    package var description: String { "\(token.kind) \(name)" }
}
