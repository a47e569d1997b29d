import JSON

/// The types of a project's events; each name is stored once, and events refer to it by number.
struct BloomreachEventTypes: Sendable {
    /// The maximum number of event types per project (ours); any further type counts as ``overflow``.
    static let capacity = 20_000
    /// The maximum length of a type's name in bytes (ours).
    static let longest = 256
    /// The name for event types beyond the capacity.
    static let overflow = "understudy_other_types"

    private var names = [Self.overflow]
    private var codes = [ExactText(Self.overflow): 0]

    /// The number of a type, newly assigned if needed.
    mutating func code(of name: String) -> Int {
        if let code = codes[ExactText(name)] { return code }
        guard names.count < Self.capacity else { return 0 }
        names.append(name)
        codes[ExactText(name)] = names.count - 1
        return names.count - 1
    }

    func name(of code: Int) -> String { names.indices.contains(code) ? names[code] : Self.overflow }
}
