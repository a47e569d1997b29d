import JSON

/// How much one answer may be made of (ours): a value may be named many times and a list inside a list multiplies, and
/// both come with the request.
final class TemplateBudget {
    /// How many bytes the values in an answer of a rule may have together, with what sections repeat.
    static let mostBytes = 4 << 20
    /// The same for answers whose size the vendor bounds itself, below that.
    static let mostBytesOfVendor = 16 << 20
    /// How often sections may repeat.
    static let mostRepetitions = 10_000

    private let mostBytes: Int
    private var bytes: Int
    private var repetitions = mostRepetitions
    private var lookups = WorkBudget(steps: 1_000_000)
    /// What a section that repeats has besides values: the longest one of the template in hand.
    private var sectionLength = 0

    /// Which bound was met, in words; `nil` while none was. What was made since then is not all.
    private(set) var excess: String?

    /// A budget of so many bytes.
    init(bytes: Int = mostBytes) { (mostBytes, self.bytes) = (bytes, bytes) }

    /// Fills a template whose sections have so many bytes at most.
    func filling<Value>(sectionsOf length: Int, _ fill: () -> Value) -> Value {
        sectionLength = length
        return fill()
    }

    /// Whether a section may stand there once more.
    func canRepeat() -> Bool {
        if excess != nil { return false }
        repetitions -= 1
        if repetitions < 0 { excess = "its sections repeat more than \(Self.mostRepetitions) times" }
        take(sectionLength)
        return excess == nil
    }

    /// The member or element of that name.
    func member(_ name: String, of value: JSON) -> JSON? {
        guard excess == nil else { return nil }
        guard lookups.spend(onMemberOf: value) else {
            excess = "its tags look for names among too many"
            return nil
        }
        return value[name] ?? Int(name).flatMap { value[$0] }
    }

    /// The value as text, or nothing once there was too much of it.
    func text(of value: JSON) -> String {
        takeAll(of: value)
        return excess == nil ? value.string ?? value.text : ""
    }

    /// The value, or null once there was too much of it.
    func affordable(_ value: JSON) -> JSON {
        takeAll(of: value)
        return excess == nil ? value : .null
    }

    /// Counts what a value has as JSON, roughly, and stops where there is too much of it.
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
