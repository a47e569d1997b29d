extension JSON {
    /// Whether both say the same, as RFC 9535 section 2.3.5.2.2 compares: numbers by value, so that `1` is `1.0`, and
    /// objects without regard to the order of their members.
    ///
    /// `==` is stricter, since a number's form and the order of members can decide what a client does.
    public func isEquivalent(to other: JSON) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own.isEquivalent(to: other)
        case (.string(let own), .string(let other)): own.hasSameBytes(as: other)
        case (.array(let own), .array(let other)):
            own.count == other.count && zip(own, other).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let own), .object(let other)):
            own.count == other.count
                && own.allSatisfy { member in other[member.name]?.isEquivalent(to: member.value) == true }
                && other.allSatisfy { member in own[member.name] != nil }
        default: self == other
        }
    }
}

extension JSONNumber {
    /// Whether both are the same number, however they are written.
    public func isEquivalent(to other: JSONNumber) -> Bool {
        // Integers beyond 2⁵³ differ although their nearest binary values may not.
        if let own = int, let other = other.int { return own == other }
        return double == other.double
    }

    /// Whether this number is the smaller one.
    public func isLess(than other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own < other }
        return double < other.double
    }
}
