import JSON

/// Two texts compared by line, as `diff -u` shows them.
enum TextDifference {
    /// A line and its side: `-` (expected only), `+` (found only) or a blank (both).
    private struct Line {
        let mark: Character
        let text: String
        /// The scalar at which it differs from its counterpart; a longer line is cut around it.
        var focus = 0
    }

    /// Unchanged lines shown around a change.
    private static let context = 3
    /// Longer differences are cut: nobody reads them, and comparing takes quadratic time.
    private static let maximumLines = 2000
    private static let maximumLineLength = 400

    /// Every line with its mark; `…` stands for omitted lines.
    static func lines(expected: [String], found: [String]) -> [String] {
        // Equal lines at both ends are skipped cheaply, so a change after many of them is found too.
        let start = zip(expected, found).prefix { isSame($0, $1) }.count
        let rest = zip(expected[start...].reversed(), found[start...].reversed())
        let end = rest.prefix { isSame($0, $1) }.count
        let (old, new) = (expected[start..<expected.count - end], found[start..<found.count - end])
        let isCut = max(old.count, new.count) > maximumLines
        let before = expected[..<start].suffix(context)
        let behind = isCut ? [] : expected[(expected.count - end)...].prefix(context)
        let marked =
            before.map { Line(mark: " ", text: $0) }
            + merge(Array(old.prefix(maximumLines)), Array(new.prefix(maximumLines)))
            + behind.map { Line(mark: " ", text: $0) }
        let shown = excerpt(marked, isCut: isCut || behind.count < end)
        return (before.count < start ? [" …"] : []) + shown
    }

    private static func isSame(_ one: String, _ other: String) -> Bool { one.hasSameBytes(as: other) }

    private static func excerpt(_ marked: [Line], isCut: Bool) -> [String] {
        let changes = marked.indices.filter { marked[$0].mark != " " }
        var lines: [String] = []
        var last = -1
        for index in marked.indices where changes.contains(where: { abs($0 - index) <= context }) {
            if index > last + 1 { lines.append(" …") }
            lines.append(String(marked[index].mark) + cut(marked[index]))
            last = index
        }
        if isCut || last < marked.count - 1 { lines.append(" …") }
        return lines
    }

    private static func cut(_ line: Line) -> String {
        let scalars = Array(line.text.unicodeScalars)
        guard scalars.count > maximumLineLength else { return line.text }
        // Center the difference, unless the beginning shows it.
        let start = line.focus < maximumLineLength ? 0 : line.focus - maximumLineLength / 2
        let piece = scalars[start...].prefix(maximumLineLength)
        let text = String(String.UnicodeScalarView(piece))
        return
            "\(start > 0 ? "…" : "")\(text)\(piece.endIndex < scalars.count ? "…" : "") (\(line.text.utf8.count) bytes)"
    }

    private static func merge(_ expected: [String], _ found: [String]) -> [Line] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in found.difference(from: expected, by: isSame) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (old, new) = (0, 0)
        while old < expected.count || new < found.count {
            let (firstOld, firstNew) = (old, new)
            while removed.contains(old) { old += 1 }
            while inserted.contains(new) { new += 1 }
            lines += change(expected[firstOld..<old], found[firstNew..<new])
            guard old < expected.count else { continue }
            lines.append(Line(mark: " ", text: expected[old]))
            (old, new) = (old + 1, new + 1)
        }
        return lines
    }

    /// Replaced lines; the first corresponds to the first, and so on.
    private static func change(_ old: ArraySlice<String>, _ new: ArraySlice<String>) -> [Line] {
        let focuses = zip(old, new).map { old, new in
            zip(old.unicodeScalars, new.unicodeScalars).prefix { $0 == $1 }.count
        }
        let rest = repeatElement(0, count: abs(old.count - new.count))
        let removed = zip(old, focuses + rest).map { Line(mark: "-", text: $0, focus: $1) }
        return removed + zip(new, focuses + rest).map { Line(mark: "+", text: $0, focus: $1) }
    }
}

/// How an answer's content differs from the expected one: JSON by member, other content by line.
struct BodyDifference {
    let message: String
    let lines: [String]

    init(expected: [UInt8], found: [UInt8]) {
        let values = (Self.json(expected), Self.json(found))
        guard let wanted = values.0, let received = values.1 else {
            message = "the content differs"
            lines = TextDifference.lines(expected: Self.shown(expected), found: Self.shown(found))
            return
        }
        if wanted == received {
            message = "the content is the same JSON in another spelling (blanks or escapes)"
            lines = TextDifference.lines(expected: Self.textLines(expected), found: Self.textLines(found))
        } else {
            message =
                wanted.isEquivalent(to: received)
                ? "the content is the same JSON, but the order of members or the form of a number differs"
                : "the content differs"
            lines = TextDifference.lines(expected: Self.lines(of: wanted), found: Self.lines(of: received))
        }
    }

    /// A content for people: JSON with one line per member.
    static func shown(_ bytes: [UInt8]) -> [String] { json(bytes).map(lines) ?? textLines(bytes) }

    private static func json(_ bytes: [UInt8]) -> JSON? {
        // Other content is compared as text.
        try? JSON.parse(bytes)
    }

    private static func lines(of value: JSON) -> [String] {
        value.prettyText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func textLines(_ bytes: [UInt8]) -> [String] {
        if bytes.isEmpty { return [] }
        // By bytes: as a `Character`, “\r\n” is not “\n”.
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
