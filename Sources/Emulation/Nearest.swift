import Wire

/// Suggests what a mistyped name may have meant.
package enum Nearest {
    private static let longest = 64

    /// The candidates close to a name, closest first, at most `count`.
    package static func names(to name: String, among candidates: some Sequence<String>, count: Int = 3) -> [String] {
        candidates.map { (candidate: $0, distance: distance(name, $0)) }
            .filter {
                $0.distance <= max(2, min(name.count, longest) / 3) && $0.distance < max(name.count, $0.candidate.count)
            }
            .sorted { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
            .prefix(count).map(\.candidate)
    }

    /// `; did you mean “x”?`, or the candidates themselves when none is close.
    package static func hint(to name: String, among candidates: [String]) -> String {
        let same = slip(name, among: candidates)
        if !same.isEmpty { return same }
        if let nearest = names(to: name, among: candidates, count: 1).first { return "; did you mean “\(nearest)”?" }
        return candidates.isEmpty ? "" : "; known are \(candidates.joined(separator: ", "))"
    }

    /// `; did you mean “x”? Only capitals differ`, for the first candidate that people take for the same; otherwise empty.
    package static func slip(_ found: String, among candidates: some Sequence<String>) -> String {
        for candidate in candidates {
            if let difference = difference(found, candidate) { return "; did you mean “\(candidate)”? \(difference)" }
        }
        return ""
    }

    /// `; known are x, y, z and 3 more`, naming the first few, or a note that there are none; for ids of data, which
    /// can number thousands.
    package static func known(_ candidates: some Collection<String>) -> String {
        candidates.isEmpty ? "; none is known" : "; known are \(list(candidates))"
    }

    /// `x, y, z and 3 more`: the first five of the names.
    package static func list(_ names: some Collection<String>) -> String {
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return names.prefix(5).map(\.shown).joined(separator: ", ") + more
    }

    /// What little tells two texts apart that people take for the same, in a sentence without a full stop; `nil` when it is
    /// more than that.
    package static func difference(_ found: String, _ expected: String) -> String? {
        // Most texts differ in a letter, and forms take long.
        let isEncoded = found.utf8.contains(UInt8(ascii: "%")) || expected.utf8.contains(UInt8(ascii: "%"))
        guard isEncoded || (letters(in: found) ^ letters(in: expected)) & ~overlooked == 0,
            !found.hasSameBytes(as: expected), !areOtherWords(found, expected)
        else { return nil }
        func simplified(_ text: String, without skipped: Int? = nil) -> String {
            forms.indices.reduce(text) { $1 == skipped ? $0 : forms[$1].simplified($0) }
        }
        guard simplified(found) == simplified(expected) else { return nil }
        let names = forms.indices.filter { simplified(found, without: $0) != simplified(expected, without: $0) }
            .map { forms[$0].name }
        guard let last = names.last else { return "Only details differ" }
        if names.count > 1 { return "Only \(names.dropLast().joined(separator: ", ")) and \(last) differ" }
        return "Only \(last) \(last.hasSuffix("s") ? "differ" : "differs")"
    }

    /// Whether texts that are no addresses differ in more than capitals, blanks and quotes: of ids, thousands are compared.
    private static func areOtherWords(_ found: String, _ expected: String) -> Bool {
        func core(_ text: String) -> [UInt8]? {
            var core: [UInt8] = []
            for byte in text.utf8 {
                switch byte {
                case 0x09...0x0D, 0x20, UInt8(ascii: "\""), UInt8(ascii: "'"): continue
                case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "%"), 0x80...: return nil
                case 0x41...0x5A: core.append(byte | 0x20)
                default: core.append(byte)
                }
            }
            return core.starts(with: "localhost".utf8) ? nil : core
        }
        guard let found = core(found), let expected = core(expected) else { return false }
        return found != expected
    }

    /// Those of schemes and of this machine's name may be missing.
    private static let overlooked = letters(in: "https localhost")

    /// Which letters occur, whatever their case.
    private static func letters(in text: String) -> UInt32 {
        text.utf8.reduce(0) { found, byte in
            let letter = byte | 0x20
            return (0x61...0x7A).contains(letter) ? found | 1 << UInt32(letter - 0x61) : found
        }
    }

    /// What people overlook, each with how to make it equal.
    private static let forms: [(name: String, simplified: @Sendable (String) -> String)] = [
        ("the percent-encoding", { PercentEncoding.decode($0[...]).map { String($0) } ?? $0 }),
        ("blanks or quotes", { $0.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" } }),
        ("capitals", { $0.lowercased() }),
        ("the scheme", { text in text.firstRange(of: "://").map { String(text[$0.upperBound...]) } ?? text }),
        ("the port", { $0.replacing(/:[0-9]+/, with: "") }),
        ("the host's name", { $0.replacing("localhost", with: "127.0.0.1").replacing("[::1]", with: "127.0.0.1") }),
        ("a doubled slash", { $0.replacing(/\/\/+/, with: "/") }),
        ("a final slash", { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }),
    ]

    /// The number of insertions, deletions and replacements that turn one string, or one list of bytes, into the other.
    ///
    /// Names are short; of longer ones only the beginnings are compared, since the time grows with both lengths.
    package static func distance<Element: Equatable>(
        _ left: some Collection<Element>, _ right: some Collection<Element>
    ) -> Int {
        let left = left.prefix(longest)
        let right = Array(right.prefix(longest))
        var row = Array(0...right.count)
        for (i, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in right.indices {
                let replaced = diagonal + (character == right[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}

extension String {
    /// The text as shown in a reason: at most 100 characters, or a description if it is empty.
    package var shown: String { isEmpty ? "an empty text" : String(prefix(100)) }
}
