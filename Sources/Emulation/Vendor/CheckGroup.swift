public import Tokens

/// Several checks of which it is known whether one failed before anybody reads what each of them found.
///
/// Nearly every token passes, and nearly nobody reads why. So a vendor whose calls are many tells the outcome first;
/// a group that holds is kept as it is, and its findings are made for whoever opens the journal.
///
/// A group holds what decides the checks, none of which changes any more: a token, a key, some rules. It is an object, since
/// lists of findings are copied about, and what may be any value is costly to copy.
public protocol CheckGroup: AnyObject, Sendable {
    /// Whether none of ``findings`` failed; `false` also where that is not known without them.
    var holds: Bool { get }
    /// What each check found, in the vendor's order; always the same.
    var findings: [Finding] { get }
    /// An estimate of the memory that the group keeps, in bytes.
    var byteCount: Int { get }
}
