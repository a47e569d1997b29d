import JSON

/// Limits the size of one answer (ours): a value may be used many times and nested lists multiply, and both come with
/// the request.
final class TemplateBudget {
    /// The maximum total bytes of the values in a rule's answer, including repeated sections.
    static let mostBytes = 4 << 20
    /// The same for answers whose size the vendor limits itself, to less than that.
    static let mostBytesOfVendor = 16 << 20
    /// How often sections may repeat.
    static let mostRepetitions = 10_000

    private let mostBytes: Int
    private var bytes: Int
    private var repetitions = mostRepetitions
    private var lookups = WorkBudget(steps: 1_000_000)
    /// The cost of repeating a section besides its values: the longest section of the current template.
    private var sectionLength = 0

    /// Which limit was exceeded, in words; `nil` while none was. Anything made since then is incomplete.
    private(set) var excess: String?

    /// Creates a budget of that many bytes.
    init(bytes: Int = mostBytes) { (mostBytes, self.bytes) = (bytes, bytes) }

    /// Fills a template whose sections have at most that many bytes.
    func filling<Value>(sectionsOf length: Int, _ fill: () -> Value) -> Value {
        sectionLength = length
        return fill()
    }

    /// Whether a section may repeat once more.
    func canRepeat() -> Bool {
        if excess != nil { return false }
        repetitions -= 1
        if repetitions < 0 { excess = "its sections repeat more than \(Self.mostRepetitions) times" }
        take(sectionLength)
        return excess == nil
    }

    func member(_ name: String, of value: JSON) -> JSON? {
        guard excess == nil else { return nil }
        guard lookups.spend(onMemberOf: value) else {
            excess = "its tags look for names among too many"
            return nil
        }
        return value[name] ?? Int(name).flatMap { value[$0] }
    }

    /// The value as text, or empty once over budget.
    func text(of value: JSON) -> String {
        takeAll(of: value)
        return excess == nil ? value.string ?? value.text : ""
    }

    /// The value, or null once over budget.
    func affordable(_ value: JSON) -> JSON {
        takeAll(of: value)
        return excess == nil ? value : .null
    }

    /// Charges the approximate size of a value as JSON, stopping once over budget.
    private func takeAll(of value: JSON) {
        switch value {
        case .null, .bool: take(4)
        case .number(let number): take(number.literal.utf8.count + 1)
        case .string(let text): take(text.utf8.count + 3)
        case .array(let elements):
            take(2)
            for element in elements where excess == nil { takeAll(of: element) }
        case .object(let object):
            take(2)
            for member in object where excess == nil {
                take(member.name.utf8.count + 4)
                takeAll(of: member.value)
            }
        }
    }

    private func take(_ count: Int) {
        bytes -= count
        if bytes < 0, excess == nil { excess = "what its tags name has more than \(mostBytes) bytes" }
    }
}
