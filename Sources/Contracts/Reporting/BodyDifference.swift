internal import JSON

/// How an answer's content differs from the expected one: JSON by member, other content by line.
struct BodyDifference {
    /// A summary in one line.
    let message: String
    /// Both side by side.
    let lines: [String]

    /// Compares two contents that are not equal.
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
    static func shown(_ bytes: [UInt8]) -> [String] {
        json(bytes).map(lines) ?? textLines(bytes)
    }

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
