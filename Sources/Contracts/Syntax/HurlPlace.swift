package struct HurlPlace: Sendable, Hashable {
    /// The line, from 1.
    package let line: Int
    /// The column, in Unicode scalars from 1.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
