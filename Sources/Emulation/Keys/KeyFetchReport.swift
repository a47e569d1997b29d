public import Tokens

/// How a request for an issuer's keys went.
public struct KeyFetchReport: Sendable {
    /// What was asked.
    public let url: String
    /// When it was asked, by the sandbox's clock.
    public let moment: Moment
    /// The answer's status; `nil` without an answer.
    public let status: Int?
    /// The usable keys, in the answer's order, of several with one name the first.
    public let keys: [VerificationKey]
    /// What was left out, one phrase each.
    public let skipped: [String]
    /// Why there are no keys; `nil` when there are.
    public let problem: KeyFetchProblem?
    /// The lifetime that the answer asks for; `nil` when it says nothing of it.
    let lifetime: CacheLifetime?

    /// The report as a finding of the exchange that caused the request, or waited for it.
    public var finding: Finding {
        Finding(
            "keys-fetched", problem == nil ? .passed : .noted, expected: .text("GET \(url): 200 and a usable key"),
            found: .text(summary), note: skipped.isEmpty ? nil : "Left out: \(skipped.joined(separator: "; ")).")
    }

    /// What came, in a phrase.
    private var summary: String {
        if let problem { return problem.description }
        let names = keys.map { $0.id ?? "without kid" }.joined(separator: ", ")
        return "\(status.map(String.init) ?? ""), \(keys.count) key\(keys.count == 1 ? "" : "s"): \(names)"
    }
}

/// What an answer says of how long it may be kept (RFC 9111 section 5.2.2).
enum CacheLifetime: Sendable, Hashable {
    /// So many seconds.
    case seconds(Int)
    /// Not at all, or in a form that cannot be read, which RFC 9111 section 4.2.1 asks to take for stale.
    case none

    /// Reads the values of `Cache-Control`; `nil` when no directive speaks of a lifetime.
    init?(_ values: [String]) {
        let directives = values.flatMap { $0.split(separator: ",") }.map { $0.trimming(while: \.isWhitespace) }
        let names = directives.map { $0.prefix { $0 != "=" }.lowercased() }
        if names.contains("no-store") || names.contains("no-cache") {
            self = .none
            return
        }
        guard let index = names.firstIndex(of: "max-age") else { return nil }
        let argument = directives[index].dropFirst("max-age=".count).trimming { $0 == "\"" }
        guard !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            self = .none
            return
        }
        // More digits than an integer holds are a very long time.
        self = .seconds(Int(argument) ?? .max)
    }
}

extension StringProtocol {
    /// The text without such characters at either end.
    fileprivate func trimming(while isUnwanted: (Character) -> Bool) -> SubSequence {
        let start = firstIndex { !isUnwanted($0) } ?? endIndex
        let end = lastIndex { !isUnwanted($0) }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}
