/// A part of a text with Mustache tags.
indirect enum TemplatePart: Sendable {
    case text(String)
    /// A value as text; a raw one is not escaped.
    case value(TemplateName, isRaw: Bool)
    /// Content repeated for each element of a list, or shown once for a value other than `false`.
    case section(TemplateName, [TemplatePart])
    /// Content shown where the section of that name would be empty.
    case invertedSection(TemplateName, [TemplatePart])
}

struct TemplateName: Sendable {
    /// The member names and element indices, from the outside in; empty for the innermost value itself.
    let path: [String]
    /// Whether only the innermost value may have the first of them, not the values around it.
    let isInnermost: Bool
    /// The questions about the list position, last one first: `index` in `{{index()}}`.
    let questions: [String]

    /// - Returns: `nil` when brackets are not closed or misplaced.
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
