/// Two texts side by side, line by line, as `diff -u` shows them.
enum TextDifference {
    /// Lines that stay the same around a change.
    private static let context = 3
    /// Longer texts are cut, since nobody reads more, and comparing takes the square of it.
    private static let maximumLines = 2000
    private static let maximumLineLength = 400

    /// Every line with `-` (expected alone), `+` (found alone) or a blank before it; `…` stands for lines that are the same.
    static func lines(expected: [String], found: [String]) -> [String] {
        let (expected, found) = (Array(expected.prefix(maximumLines)), Array(found.prefix(maximumLines)))
        let marked = merge(expected, found)
        let changes = marked.indices.filter { !marked[$0].hasPrefix(" ") }
        var lines: [String] = []
        var last = -1
        for index in marked.indices where changes.contains(where: { abs($0 - index) <= context }) {
            if index > last + 1 { lines.append(" …") }
            lines.append(cut(marked[index]))
            last = index
        }
        if last < marked.count - 1 { lines.append(" …") }
        return lines
    }

    private static func cut(_ line: String) -> String {
        line.count > maximumLineLength ? line.prefix(maximumLineLength) + "… (\(line.utf8.count) bytes)" : line
    }

    private static func merge(_ expected: [String], _ found: [String]) -> [String] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in found.difference(from: expected) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [String] = []
        var (old, new) = (0, 0)
        while old < expected.count || new < found.count {
            if removed.contains(old) {
                lines.append("-" + expected[old])
                old += 1
            } else if inserted.contains(new) {
                lines.append("+" + found[new])
                new += 1
            } else {
                lines.append(" " + expected[old])
                (old, new) = (old + 1, new + 1)
            }
        }
        return lines
    }
}
