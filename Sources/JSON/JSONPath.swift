/// A JSONPath query (RFC 9535).
///
/// Supported are the identifiers `$` and `@`, `.name`, `['name']`, `[0]`, `[-1]`, `[1:3]`, `[::2]`, `.*`, `[*]`, lists
/// such as `[0,'a']`, `..` before each of them, and filters: existence, comparison with `==`, `!=`, `<`, `<=`, `>`,
/// `>=`, `&&`, `||`, `!` and parentheses. Function extensions (section 2.4), such as `length(@.items)`, are rejected.
package struct JSONPath: Sendable, Hashable {
    /// The query as written.
    package let text: String

    private let query: JSONPathQuery

    /// The maximum length in characters (ours): a longer query could join more conditions than the stack can hold.
    static let maximumLength = 1000

    /// Parses a query.
    ///
    /// - Throws: where the text violates the grammar, and how.
    package init(_ text: String) throws(JSONPathError) {
        guard text.unicodeScalars.count <= Self.maximumLength else {
            throw JSONPathError(
                path: String(text.unicodeScalars.prefix(40)) + "…", position: Self.maximumLength + 1,
                found: "another character", expected: "a query has at most \(Self.maximumLength)")
        }
        var parser = JSONPathParser(text)
        query = try parser.document()
        self.text = text
    }

    /// A query for one member of the outermost object; the name may contain any characters.
    package init(member name: String) {
        query = JSONPathQuery(
            start: .root, segments: [JSONPathQuery.Segment(reachesDescendants: false, selectors: [.name(name)])])
        text = name
    }

    /// Whether the query can find at most one value (RFC 9535 section 2.3.5.1): it consists of names and indexes only.
    package var isSingular: Bool { query.isSingular }

    /// The values found, in the order of RFC 9535.
    ///
    /// Of members with the same name the first counts, as everywhere in this module. A query that would visit more than
    /// half a million values finds none (ours).
    package func values(in value: JSON) -> [JSON] {
        var budget = WorkBudget()
        return values(in: value, within: &budget)
    }

    /// The values found within a budget; none when it runs out, which the budget then says.
    package func values(in value: JSON, within budget: inout WorkBudget) -> [JSON] {
        let values = query.values(from: value, root: value, &budget)
        return budget.isSpent ? [] : values
    }
}

extension JSONPath: CustomStringConvertible {
    /// The query as written.
    package var description: String { text }
}
