import Wire

/// How a vendor reads the path of a request.
public struct PathRules: Sendable {
    /// The treatment of empty segments, caused by repeated slashes.
    package enum RepeatedSlashes: Sendable {
        /// They count as one slash anywhere.
        case collapse
        /// They count as one slash only at the start of the path.
        case collapseLeading
    }

    /// The treatment of repeated slashes.
    package let repeatedSlashes: RepeatedSlashes
    package let ignoresTrailingSlash: Bool
    /// Rewrites the decoded segments before route lookup: replaces spellings that clients are known to send by those of
    /// the route table.
    let rewrite: (@Sendable (inout [Substring]) -> Void)?

    package init(
        repeatedSlashes: RepeatedSlashes, ignoresTrailingSlash: Bool,
        rewrite: (@Sendable (inout [Substring]) -> Void)? = nil
    ) {
        self.rewrite = rewrite
        self.repeatedSlashes = repeatedSlashes
        self.ignoresTrailingSlash = ignoresTrailingSlash
    }
}

/// The segments of a path, split at literal slashes and then decoded once each.
struct TargetPath {
    /// The decoded segments; `a//b/` has an empty one in the middle and one at the end.
    let segments: [Substring]

    init(_ path: Substring) {
        segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // A segment with a broken escape stays as sent, so it matches only a parameter.
            .map { PercentEncoding.decode(Substring($0)) ?? Substring($0) }
    }

    /// Whether it contains a NUL, which RFC 3986 section 7.3 warns of: code that treats a segment as a C string would
    /// see another path.
    var holdsNUL: Bool { segments.contains { $0.utf8.contains(0) } }

    /// The segments as a vendor reads them.
    func segments(by rules: PathRules) -> [Substring] {
        let repeated = self.segments.contains(where: \.isEmpty) ? rules.repeatedSlashes : nil
        var segments =
            switch repeated {
            case .collapse where rules.ignoresTrailingSlash: self.segments.filter { !$0.isEmpty }
            case .collapse: self.segments.dropLast().filter { !$0.isEmpty } + self.segments.suffix(1)
            case .collapseLeading: Array(self.segments.drop { $0.isEmpty })
            case nil: self.segments
            }
        if rules.ignoresTrailingSlash, segments.last?.isEmpty == true { segments.removeLast() }
        rules.rewrite?(&segments)
        return segments
    }
}
