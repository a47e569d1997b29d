/// A query for values inside a JSON value, written as RFC 9535 defines it.
///
/// Understood are the identifiers `$` and `@`, `.name`, `['name']`, `[0]`, `[-1]`, `[1:3]`, `[::2]`, `.*`, `[*]`, lists such as
/// `[0,'a']`, `..` before each of them, and filters: existence, comparison with `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||`,
/// `!` and parentheses. Function extensions (section 2.4), such as `length(@.items)`, are refused.
public struct JSONPath: Sendable, Hashable {
    /// The query as it was written.
    public let text: String

    private let query: JSONPathQuery

    /// The longest query in characters (ours); a longer one could join more conditions than the stack can hold.
    static let maximumLength = 1000

    /// Reads a query.
    ///
    /// - Throws: what stands in the text that is no such query, and where.
    public init(_ text: String) throws(JSONPathError) {
        guard text.unicodeScalars.count <= Self.maximumLength else {
            throw JSONPathError(
                path: String(text.unicodeScalars.prefix(40)) + "…", position: Self.maximumLength + 1,
                found: "another character", expected: "a query has at most \(Self.maximumLength)")
        }
        var parser = JSONPathParser(text)
        query = try parser.document()
        self.text = text
    }

    /// The query for a member of the outermost object, whatever characters its name has.
    public init(member name: String) {
        query = JSONPathQuery(
            start: .root, segments: [JSONPathQuery.Segment(reachesDescendants: false, selectors: [.name(name)])])
        text = name
    }

    /// Whether the query finds at most one value, whatever it is asked about (RFC 9535 section 2.3.5.1): it holds names and
    /// indexes alone.
    public var isSingular: Bool { query.isSingular }

    /// The values that the query finds, in the order of RFC 9535; none where nothing fits.
    ///
    /// Of members with one name the first counts, as everywhere in this module. A query that would have to look at more
    /// than half a million values finds none (ours).
    public func values(in value: JSON) -> [JSON] {
        var budget = WorkBudget()
        return values(in: value, within: &budget)
    }

    /// The same with what is left of a budget; none where it does not suffice, and the budget says so.
    public func values(in value: JSON, within budget: inout WorkBudget) -> [JSON] {
        let values = query.values(from: value, root: value, &budget)
        return budget.isSpent ? [] : values
    }
}

extension JSONPath: CustomStringConvertible {
    /// The query as it was written.
    public var description: String { text }
}
