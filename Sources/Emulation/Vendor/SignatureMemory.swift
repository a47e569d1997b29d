public import Synchronization
public import Tokens

/// The outcome of verifying one token's signature with a key, and the mistake behind a wrong one.
///
/// It holds a single entry, since nearly every token meets only one key. Both depend only on the token and the key, so
/// they are computed once, however often the token is sent and its findings are read.
public final class SignatureMemory<Key: AnyObject & Sendable>: Sendable {
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        @usableFromInline let outcome: Finding.Outcome
        /// `nil` until it is computed.
        @usableFromInline var mistake: SignatureDiagnosis??

        @inlinable
        init(key: Key, outcome: Finding.Outcome, mistake: SignatureDiagnosis?? = nil) {
            (self.key, self.outcome, self.mistake) = (key, outcome, mistake)
        }
    }

    @usableFromInline let entry = Mutex<Entry?>(nil)

    /// Creates an empty memory.
    public init() {}

    /// The outcome for that key; judged again when a finding is requested.
    @inlinable
    public func outcome(
        by key: Key, _ finding: inout Finding?, _ judge: (inout Finding?) -> Finding.Outcome
    ) -> Finding.Outcome {
        if finding != nil { return judge(&finding) }
        if let known = entry.withLock({ $0?.key === key ? $0?.outcome : nil }) { return known }
        let outcome = judge(&finding)
        entry.withLock { $0 = Entry(key: key, outcome: outcome) }
        return outcome
    }

    /// The mistake that explains a signature that does not match that key.
    public func mistake(by key: Key, _ find: () -> SignatureDiagnosis?) -> SignatureDiagnosis? {
        if let known = entry.withLock({ $0?.key === key ? $0?.mistake : nil }) { return known }
        let mistake = find()
        entry.withLock { $0 = Entry(key: key, outcome: .failed, mistake: .some(mistake)) }
        return mistake
    }
}
