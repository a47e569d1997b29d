/// Where a route, a failure or a rule comes from.
public enum Evidence: String, Sendable, CaseIterable {
    /// The vendor's documentation says so.
    case documented
    /// The vendor's clients, or tests against the vendor's servers, show it.
    case observed
    /// It follows from what is documented or observed.
    case inferred
    /// Nothing is known; it is Understudy's choice.
    case ours
}
