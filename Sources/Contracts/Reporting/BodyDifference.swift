internal import JSON

/// How the content of an answer differs from the expected one: JSON member by member, all else line by line.
struct BodyDifference {
    /// What differs, in one line.
    let message: String
    /// Both side by side.
    let lines: [String]

    /// The difference between two contents that are not the same.
    init(expected: [UInt8], found: [UInt8]) {
        let values = (Self.json(expected), Self.json(found))
        guard let wanted = values.0, let received = values.1 else {
            message = "the content is another one"
            lines = TextDifference.lines(expected: Self.shown(expected), found: Self.shown(found))
            return
        }
        if wanted == received {
            message = "the content is the same JSON in another spelling (blanks or escapes)"
            lines = TextDifference.lines(expected: Self.textLines(expected), found: Self.textLines(found))
        } else {
            message =
                wanted.isEquivalent(to: received)
                ? "the content is the same JSON, but the order of members or the form of a number is another one"
                : "the content is another one"
            lines = TextDifference.lines(expected: Self.lines(of: wanted), found: Self.lines(of: received))
        }
    }

    /// A content for people: JSON with a line for each member.
    static func shown(_ bytes: [UInt8]) -> [String] {
        json(bytes).map(lines) ?? textLines(bytes)
    }

    private static func json(_ bytes: [UInt8]) -> JSON? {
        // What is no JSON is compared as text.
        try? JSON.parse(bytes)
    }

    private static func lines(of value: JSON) -> [String] {
        value.prettyText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func textLines(_ bytes: [UInt8]) -> [String] {
        if bytes.isEmpty { return [] }
        // By bytes: as `Character` “\r\n” is another one than “\n”.
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
