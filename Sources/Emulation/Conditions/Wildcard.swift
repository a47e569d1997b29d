import JSON

/// A pattern in which `*` stands for any characters and `?` for one.
package struct Wildcard: Sendable {
    private let pattern: [Unicode.Scalar]

    /// Creates the pattern that the text spells.
    package init(_ text: String) {
        pattern = Array(text.unicodeScalars)
    }

    /// Whether the whole text matches.
    package func matches(_ text: String) -> Bool {
        var budget = WorkBudget(steps: .max)
        return matches(text, within: &budget)
    }

    /// Whether the whole text matches; costs at most the product of both lengths, within the budget.
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
                // The characters matched after the star were examined in vain.
                guard budget.spend(onBytes: place - last.place) else { return false }
                // Let the last star take one more character.
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
