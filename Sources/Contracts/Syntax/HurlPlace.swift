/// A place in a Hurl file.
public struct HurlPlace: Sendable, Hashable {
    /// The line, from 1.
    public let line: Int
    /// The column, in Unicode scalars from 1.
    public let column: Int

    /// The place at that line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
