import JSON
import Synchronization
import Tokens

/// Keys by name, kept without a lifetime until they fail.
///
/// A name that is not there empties the cache of its issuer before the fetch. Concurrent look-ups of one name share one
/// fetch. Validators may share a cache; in the observed profile the keys of all issuers are then told apart by `kid`
/// alone.
///
/// Source: documented, validator page, Default usage.
public final class OktaKeyCache: Sendable {
    struct Place: Hashable, Sendable {
        let issuer: ExactText?
        let kid: ExactText
    }

    struct Entry: Sendable {
        let key: VerificationKey
        /// Tells a key from the one that replaces it.
        let number: Int
    }

    private struct Content {
        var entries: [Place: Entry] = [:]
        var fetches: [Place: Task<Result<VerificationKey, OktaKeyProblem>, Never>] = [:]
        var lastNumber = 0

        mutating func keep(_ key: VerificationKey, at place: Place) {
            if entries.count >= OktaKeyCache.mostKeys { entries = [:] }
            lastNumber += 1
            entries[place] = Entry(key: key, number: lastNumber)
        }
    }

    private let content = Mutex(Content())

    /// ours: an issuer publishes two or three keys; with more than this the cache starts anew.
    static let mostKeys = 1000

    /// Creates an empty cache.
    public init() {}

    func entry(at place: Place) -> Entry? { content.withLock { $0.entries[place] } }

    func keep(_ key: VerificationKey, at place: Place) { content.withLock { $0.keep(key, at: place) } }

    /// The key at a place, fetched unless somebody else has fetched it meanwhile.
    ///
    /// - Parameters:
    ///   - failed: the entry that failed, which is removed.
    ///   - dropsIssuer: whether a missing key empties the cache of its issuer.
    func key(
        at place: Place, insteadOf failed: Entry?, dropsIssuer: Bool,
        fetch: @escaping @Sendable () async throws(OktaKeyProblem) -> VerificationKey
    ) async throws(OktaKeyProblem) -> VerificationKey {
        let step = content.withLock { content -> Step in
            if let entry = content.entries[place], entry.number != failed?.number { return .known(entry.key) }
            if let running = content.fetches[place] { return .running(running) }
            if failed != nil {
                content.entries[place] = nil
            } else if dropsIssuer {
                content.entries = content.entries.filter { $0.key.issuer != place.issuer }
            }
            let task = Task { await self.result(of: fetch, at: place) }
            content.fetches[place] = task
            return .running(task)
        }
        switch step {
        case .known(let key): return key
        case .running(let task): return try await task.value.get()
        }
    }

    private enum Step {
        case known(VerificationKey)
        case running(Task<Result<VerificationKey, OktaKeyProblem>, Never>)
    }

    private func result(
        of fetch: @Sendable () async throws(OktaKeyProblem) -> VerificationKey, at place: Place
    ) async -> Result<VerificationKey, OktaKeyProblem> {
        let result: Result<VerificationKey, OktaKeyProblem>
        do throws(OktaKeyProblem) {
            result = .success(try await fetch())
        } catch {
            result = .failure(error)
        }
        content.withLock { content in
            content.fetches[place] = nil
            if case .success(let key) = result { content.keep(key, at: place) }
        }
        return result
    }
}
