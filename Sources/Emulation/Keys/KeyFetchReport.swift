package import JSON
import Synchronization
package import Tokens

public struct KeyFetchReport: Sendable {
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    package let url: String
    /// When it was requested, by the sandbox's clock.
    package let moment: Moment
    package let status: Int?
    /// The usable keys, in the answer's order; of several with the same id, the first.
    package let keys: [VerificationKey]
    package let skipped: [SkippedKey]
    package let problem: KeyFetchProblem?
    /// The lifetime that the answer asks for, in seconds; `nil` when it states none.
    let lifetime: Int?
    /// Whether the exchange shares the result of another exchange's fetch.
    private(set) var isShared = false
    private let fetched: Finding
    private let awaited: Finding

    private static let numbers = Atomic(0)

    init(
        url: String, moment: Moment, status: Int?, keys: [VerificationKey], skipped: [SkippedKey],
        problem: KeyFetchProblem?, lifetime: Int?
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
enum CacheLifetime {
    /// The seconds that the values of `Cache-Control` allow; `nil` when no directive states a lifetime.
    ///
    /// An unreadable one is 0, since RFC 9111 section 4.2.1 asks to treat it as stale.
    static func seconds(_ values: [String]) -> Int? {
        let directives = values.flatMap { $0.split(separator: ",") }.map(directive)
        if directives.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) { return 0 }
        guard let directive = directives.first(where: { $0.name == "max-age" }) else { return nil }
        let argument = directive.argument.flatMap(unquoted) ?? ""
        guard !argument.isEmpty, argument.utf8.allSatisfy(\.isDigit) else { return 0 }
        // More digits than an integer holds mean a very long time.
        return Int(argument) ?? .max
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
    fileprivate func trimming(while isUnwanted: (Character) -> Bool) -> SubSequence {
        let start = firstIndex { !isUnwanted($0) } ?? endIndex
        let end = lastIndex { !isUnwanted($0) }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}

/// Reads a set of public keys, fetched or supplied: takes the usable ones, and reports the rest.
package struct PublishedKeysReader {
    let form: RemoteKeys.Form
    let algorithm: Algorithm

    /// The usable keys in the set's order; of several with the same id, the first.
    package private(set) var keys: [VerificationKey] = []
    /// Why others were left out; truncated for very large sets.
    package private(set) var skipped: [SkippedKey] = []
    package private(set) var repeatedID: String?
    /// Whether keys were left out only because there are too many.
    package private(set) var isOverfull = false

    /// ours: limits for one set; providers publish two or three keys.
    package static let mostKeys = 100
    private static let mostSkipped = 100

    package init(form: RemoteKeys.Form, algorithm: Algorithm) { (self.form, self.algorithm) = (form, algorithm) }

    mutating func read(_ body: [UInt8]) throws(KeyFetchProblem) {
        let value: JSON
        do { value = try JSON.parse(body) } catch { throw .notJSON("\(error)") }
        try read(value)
    }

    /// Reads a set that is already parsed. Throws ``KeyFetchProblem/otherForm(_:)`` or ``KeyFetchProblem/noUsableKey``.
    package mutating func read(_ value: JSON) throws(KeyFetchProblem) {
        switch form {
        case .keySet: try readKeySet(value)
        case .certificates: try readCertificates(value)
        }
        if keys.isEmpty { throw .noUsableKey }
    }

    private mutating func readKeySet(_ value: JSON) throws(KeyFetchProblem) {
        guard let set = try? KeySet(jwks: value) else { throw .otherForm("an object with an array “keys” (RFC 7517)") }
        for key in set.skipped { skip("\(key.name): \(key.reason)", isPrivate: key.reason == .privateKey) }
        for key in set.keys { take(key) }
    }

    private mutating func readCertificates(_ value: JSON) throws(KeyFetchProblem) {
        guard let members = value.object, members.allSatisfy({ $0.value.string != nil }) else {
            throw .otherForm("an object of key ids and PEM certificates")
        }
        for member in members {
            do throws(KeyError) {
                // Anything after the first certificate is its chain, which is not checked.
                let keys = try VerificationKey.pem(member.value.string ?? "", id: member.name)
                guard let key = keys.first else { continue }
                if key.validity == nil { skip("\(key): no certificate") } else { take(key) }
            } catch {
                skip("“\(member.name.prefix(100))”: \(error)", isPrivate: error == .privateKey)
            }
        }
    }

    package mutating func take(_ key: VerificationKey) {
        guard key.algorithms.contains(algorithm) else {
            skip("\(key): not for \(algorithm.rawValue)")
            return
        }
        if let id = key.id, keys.contains(where: { $0.id?.hasSameBytes(as: id) == true }) {
            if repeatedID == nil { repeatedID = id }
            skip("\(key): the name has been given already")
            return
        }
        guard keys.count < Self.mostKeys else {
            isOverfull = true
            skip("\(key): there are \(Self.mostKeys) before it")
            return
        }
        keys.append(key.limited(to: [algorithm]))
    }

    private mutating func skip(_ phrase: String, isPrivate: Bool = false) {
        // A private key is reported even after many others.
        if skipped.count < Self.mostSkipped || isPrivate && skipped.count < 2 * Self.mostSkipped {
            skipped.append(SkippedKey(phrase, isPrivate: isPrivate))
        }
    }
}

/// A member of a key set that is left out, and why.
///
/// Source: RFC 7517 section 5 asks to ignore unknown members; the publisher may want to know.
package struct SkippedKey: Sendable, Hashable, CustomStringConvertible {
    /// Whether it is a private key, which must not be published.
    package let isPrivate: Bool
    /// Its index or id, and why it is left out.
    package let description: String

    package init(_ description: String, isPrivate: Bool = false) {
        (self.description, self.isPrivate) = (description, isPrivate)
    }

    /// ours: this many phrases say enough, and a set of thousands of keys must not fill every journal.
    private static let mostListed = 10

    /// The texts joined by a separator, up to a limit, with the number of the rest.
    static func list(_ texts: [String], _ separator: String) -> String {
        let listed = texts.prefix(mostListed).joined(separator: separator)
        return texts.count > mostListed ? listed + separator + "and \(texts.count - mostListed) more" : listed
    }
}

extension Collection where Element == SkippedKey {
    /// The phrases joined, up to a limit, with the number of the rest; `nil` when nothing is left out.
    package var phrase: String? { isEmpty ? nil : "Left out: \(SkippedKey.list(map(\.description), "; "))." }
}
