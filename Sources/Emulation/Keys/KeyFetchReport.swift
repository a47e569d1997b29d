import Synchronization
public import Tokens

/// How a request for an issuer's keys went.
public struct KeyFetchReport: Sendable {
    /// Tells this report from all others.
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
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
    /// The report as a finding of the exchange that caused the request, or waited for it. Made once: thousands may wait.
    public let finding: Finding

    private static let numbers = Atomic(0)
    /// ours: so many names and phrases tell enough, and a set of thousands of keys must not fill every journal.
    private static let mostTold = 10

    init(
        url: String, moment: Moment, status: Int?, keys: [VerificationKey], skipped: [String],
        problem: KeyFetchProblem?, lifetime: CacheLifetime?
    ) {
        (self.url, self.moment, self.status, self.keys) = (url, moment, status, keys)
        (self.skipped, self.problem, self.lifetime) = (skipped, problem, lifetime)
        let names = keys.map { $0.id.map { String($0.prefix(100)) } ?? "without kid" }
        let summary =
            problem?.description
            ?? "\(status.map(String.init) ?? ""), \(keys.count) key\(keys.count == 1 ? "" : "s"): \(Self.list(names, ", "))"
        finding = Finding(
            "keys-fetched", problem == nil ? .passed : .noted, expected: .text("GET \(url): 200 and a usable key"),
            found: .text(summary), note: skipped.isEmpty ? nil : "Left out: \(Self.list(skipped, "; ")).")
    }

    private static func list(_ phrases: [String], _ separator: String) -> String {
        let told = phrases.prefix(mostTold).joined(separator: separator)
        return phrases.count > mostTold ? told + separator + "and \(phrases.count - mostTold) more" : told
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
