public import Synchronization
public import Tokens

/// How the signature of one token came out by a key, and the mistake that explains one which does not fit.
///
/// One place, since nearly every token meets one key only. Neither depends on anything but the token and the key, so both are
/// found once, however often the token comes and its findings are read.
public final class SignatureMemory<Key: AnyObject & Sendable>: Sendable {
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        @usableFromInline let outcome: Finding.Outcome
        /// `nil` while nobody has looked for it.
        @usableFromInline var mistake: SignatureDiagnosis??

        @inlinable
        init(key: Key, outcome: Finding.Outcome, mistake: SignatureDiagnosis?? = nil) {
            (self.key, self.outcome, self.mistake) = (key, outcome, mistake)
        }
    }

    @usableFromInline let entry = Mutex<Entry?>(nil)

    /// Nothing is known yet.
    public init() {}

    /// The outcome by that key; judged again where there is a finding to tell.
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

    /// The mistake that explains a signature which does not fit that key.
    public func mistake(by key: Key, _ find: () -> SignatureDiagnosis?) -> SignatureDiagnosis? {
        if let known = entry.withLock({ $0?.key === key ? $0?.mistake : nil }) { return known }
        let mistake = find()
        entry.withLock { $0 = Entry(key: key, outcome: .failed, mistake: .some(mistake)) }
        return mistake
    }
}
