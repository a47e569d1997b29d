/// A part of a text with Mustache tags.
indirect enum TemplatePart: Sendable {
    case text(String)
    /// A value as text; in its raw form nothing is escaped.
    case value(TemplateName, isRaw: Bool)
    /// What stands there once for each element of a list, or once where there is a value that is not `false`.
    case section(TemplateName, [TemplatePart])
    /// What stands there where the section of that name would have nothing.
    case invertedSection(TemplateName, [TemplatePart])
}

/// What a tag names.
struct TemplateName: Sendable {
    /// The names of members and the numbers of elements, from the outside in; none for the innermost value itself.
    let path: [String]
    /// Whether only the innermost value may have the first of them, and none around it.
    let isInnermost: Bool
    /// What is asked of the place in a list, the last one first: `index` in `{{index()}}`.
    let questions: [String]

    /// - Returns: `nil` where brackets are not closed, or stand elsewhere.
    init?(_ text: Substring) {
        let parts = text.split(separator: "(", omittingEmptySubsequences: false)
        guard let last = parts.last else { return nil }
        let name = last.prefix { $0 != ")" }
        guard last[name.endIndex...].allSatisfy({ $0 == ")" }), last.count - name.count == parts.count - 1,
            !parts.dropLast().contains(where: { $0.contains(")") })
        else { return nil }
        path = name.split(separator: ".").map(String.init)
        isInnermost = name.first == "."
        questions = parts.dropLast().map(String.init)
    }
}
