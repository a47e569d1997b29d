/// A member of a key set that is left out, and why.
///
/// Source: RFC 7517 section 5 asks to ignore unknown members; the publisher may want to know.
package struct SkippedKey: Sendable, Hashable, CustomStringConvertible {
    /// Whether it is a private key, which must not be published.
    package let isPrivate: Bool
    /// Its index or id, and why it is left out.
    package let description: String

    /// Creates a member that is left out for that reason.
    package init(_ description: String, isPrivate: Bool = false) {
        self.description = description
        self.isPrivate = isPrivate
    }

    /// ours: this many phrases say enough, and a set of thousands of keys must not fill every journal.
    static let mostTold = 10
}

extension Collection where Element == SkippedKey {
    /// The phrases joined, up to a limit, with the number of the rest; `nil` when nothing is left out.
    package var phrase: String? {
        isEmpty ? nil : "Left out: \(SkippedKey.list(map(\.description), "; "))."
    }
}

extension SkippedKey {
    /// The texts joined by a separator, up to a limit, with the number of the rest.
    static func list(_ texts: [String], _ separator: String) -> String {
        let told = texts.prefix(mostTold).joined(separator: separator)
        return texts.count > mostTold ? told + separator + "and \(texts.count - mostTold) more" : told
    }
}
