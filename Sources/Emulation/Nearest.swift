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
        if let nearest = names(to: name, among: candidates, count: 1).first { return "; did you mean “\(nearest)”?" }
        return candidates.isEmpty ? "" : "; known are \(candidates.joined(separator: ", "))"
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
