import Synchronization
package import Tokens

/// How a request for an issuer's keys went.
public struct KeyFetchReport: Sendable {
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    /// The URL that was requested.
    package let url: String
    /// When it was requested, by the sandbox's clock.
    package let moment: Moment
    /// The answer's status; `nil` without an answer.
    package let status: Int?
    /// The usable keys, in the answer's order; of several with the same id, the first.
    package let keys: [VerificationKey]
    /// The keys that were left out.
    package let skipped: [SkippedKey]
    /// Why there are no keys; `nil` when there are some.
    package let problem: KeyFetchProblem?
    /// The lifetime that the answer asks for; `nil` when it states none.
    let lifetime: CacheLifetime?
    /// Whether the exchange shares the result of another exchange's fetch.
    private(set) var isShared = false
    private let fetched: Finding
    private let awaited: Finding

    private static let numbers = Atomic(0)

    init(
        url: String, moment: Moment, status: Int?, keys: [VerificationKey], skipped: [SkippedKey],
        problem: KeyFetchProblem?, lifetime: CacheLifetime?
    ) {
        (self.url, self.moment, self.status, self.keys) = (url, moment, status, keys)
        (self.skipped, self.problem, self.lifetime) = (skipped, problem, lifetime)
        let names = keys.map { $0.id.map { String($0.prefix(100)) } ?? "without kid" }
        let summary =
            problem?.description
            ?? "\(status.map(String.init) ?? ""), \(keys.count) key\(keys.count == 1 ? "" : "s"): \(SkippedKey.list(names, ", "))"
        let note = skipped.phrase
        // Created once: thousands may wait.
        fetched = Finding(
            "keys-fetched", problem == nil ? .passed : .noted, expected: .text("GET \(url): 200 and a usable key"),
            found: .text(summary), note: note)
        awaited = Finding(
            "keys-awaited", fetched.outcome, expected: fetched.expected, found: fetched.found,
            note: ["Another request fetched the keys, and this one waited for them.", note]
                .compactMap(\.self).joined(separator: " "))
    }

    /// The report as a finding of the exchange that fetched the keys, or waited for them.
    package var finding: Finding { isShared ? awaited : fetched }

    /// Whether the URL was requested at all.
    var wasAsked: Bool {
        if case .notAsked? = problem { return false }
        return true
    }

    func shared() -> KeyFetchReport {
        var report = self
        report.isShared = true
        return report
    }
}

/// How long an answer may be cached (RFC 9111 section 5.2.2).
enum CacheLifetime: Sendable, Hashable {
    /// That many seconds.
    case seconds(Int)
    /// Not at all, or unreadable, which RFC 9111 section 4.2.1 asks to treat as stale.
    case none

    /// Reads the values of `Cache-Control`; `nil` when no directive states a lifetime.
    init?(_ values: [String]) {
        let directives = values.flatMap { $0.split(separator: ",") }.map(Self.directive)
        if directives.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) {
            self = .none
            return
        }
        guard let directive = directives.first(where: { $0.name == "max-age" }) else { return nil }
        let argument = directive.argument.flatMap(Self.unquoted) ?? ""
        guard !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            self = .none
            return
        }
        // More digits than an integer holds mean a very long time.
        self = .seconds(Int(argument) ?? .max)
    }

    /// A directive's name in lower case, and its argument. ours: RFC 9111 section 5.2 allows no blanks around `=`, but
    /// the meaning is clear.
    private static func directive(_ text: Substring) -> (name: String, argument: Substring?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimming(while: \.isWhitespace) }
        return (parts.first?.lowercased() ?? "", parts.count > 1 ? parts[1] : nil)
    }

    /// A token unchanged, or the text between quotation marks; `nil` when one of them is missing.
    private static func unquoted(_ text: Substring) -> Substring? {
        guard text.hasPrefix("\"") || text.hasSuffix("\"") else { return text }
        return text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"") ? text.dropFirst().dropLast() : nil
    }
}

extension StringProtocol {
    /// The text without unwanted characters at either end.
    fileprivate func trimming(while isUnwanted: (Character) -> Bool) -> SubSequence {
        let start = firstIndex { !isUnwanted($0) } ?? endIndex
        let end = lastIndex { !isUnwanted($0) }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}
