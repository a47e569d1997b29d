/// A member of a set of keys that is left out, and why.
///
/// Source: RFC 7517 section 5 asks to ignore what one does not understand; whoever publishes the set may want to know.
public struct SkippedKey: Sendable, Hashable, CustomStringConvertible {
    /// Whether it is a private key, which nobody should publish.
    public let isPrivate: Bool
    /// Its place or name, and why it is left out.
    public let description: String

    /// A member that is left out for that reason.
    public init(_ description: String, isPrivate: Bool = false) {
        self.description = description
        self.isPrivate = isPrivate
    }

    /// ours: so many phrases tell enough, and a set of thousands of keys must not fill every journal.
    static let mostTold = 10
}

extension Collection where Element == SkippedKey {
    /// The phrases one after another, of many the first ones and the number of the others; `nil` when nothing is left out.
    public var phrase: String? {
        isEmpty ? nil : "Left out: \(SkippedKey.list(map(\.description), "; "))."
    }
}

extension SkippedKey {
    /// Texts with a separator between them, of many the first ones and the number of the others.
    static func list(_ texts: [String], _ separator: String) -> String {
        let told = texts.prefix(mostTold).joined(separator: separator)
        return texts.count > mostTold ? told + separator + "and \(texts.count - mostTold) more" : told
    }
}
