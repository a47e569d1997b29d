/// Something that a test asked of the emulator cannot be: an unknown name, a wrong value, a broken fixture.
public struct UnderstudyRefusal: Error, Hashable, CustomStringConvertible {
    /// What was found, and what would be right.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
