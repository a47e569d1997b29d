import JSON

/// The types of a project's events, each written once and elsewhere a number.
struct BloomreachEventTypes: Sendable {
    /// The most types that a project's events may have (ours); all further ones count as ``overflow``.
    static let capacity = 20_000
    /// The longest name of a type in bytes (ours).
    static let longest = 256
    /// What an event is called whose type found no place any more.
    static let overflow = "understudy_other_types"

    private var names = [Self.overflow]
    private var codes = [ExactText(Self.overflow): 0]

    /// The number of a type, which is new perhaps.
    mutating func code(of name: String) -> Int {
        if let code = codes[ExactText(name)] { return code }
        guard names.count < Self.capacity else { return 0 }
        names.append(name)
        codes[ExactText(name)] = names.count - 1
        return names.count - 1
    }

    /// The number of a type; `nil` when no event had it.
    func knownCode(of name: String) -> Int? { codes[ExactText(name)] }

    /// The type of that number.
    func name(of code: Int) -> String { names.indices.contains(code) ? names[code] : Self.overflow }
}
