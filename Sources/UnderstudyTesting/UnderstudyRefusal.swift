/// Why the emulator rejected what a test asked for: an unknown name, a wrong value, a broken fixture.
public struct UnderstudyRefusal: Error, Hashable, CustomStringConvertible {
    /// What was found, and what was expected.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
