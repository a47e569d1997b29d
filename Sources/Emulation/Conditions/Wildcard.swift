import JSON

/// A text in which `*` stands for any characters and `?` for one.
public struct Wildcard: Sendable {
    private let pattern: [Unicode.Scalar]

    /// The pattern that a text is.
    public init(_ text: String) {
        pattern = Array(text.unicodeScalars)
    }

    /// Whether the whole text fits.
    public func matches(_ text: String) -> Bool {
        var budget = WorkBudget(steps: .max)
        return matches(text, within: &budget)
    }

    /// Whether the whole text fits; takes at most the product of both lengths, and no more than the budget has.
    func matches(_ text: String, within budget: inout WorkBudget) -> Bool {
        guard budget.spend(onBytes: text.utf8.count) else { return false }
        let text = Array(text.unicodeScalars)
        var (position, place) = (0, 0)
        var star: (place: Int, position: Int)?
        while position < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[position] {
                place += 1
                position += 1
            } else if let last = star {
                // What fitted behind the star was looked at in vain.
                guard budget.spend(onBytes: place - last.place) else { return false }
                // The last star takes one character more.
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
