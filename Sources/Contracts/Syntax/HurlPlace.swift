/// A place in a Hurl file.
package struct HurlPlace: Sendable, Hashable {
    /// The line, from 1.
    package let line: Int
    /// The column, in Unicode scalars from 1.
    package let column: Int

    /// The place at that line and column.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
