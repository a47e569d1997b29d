/// How long published keys are cached, and how often they are fetched.
public struct KeyFetchPolicy: Sendable, Hashable {
    /// The pause after an attempt, successful or not, before an unknown key or a failure may cause the next.
    public var coolDown: Duration
    /// The lifetime of keys whose answer states none.
    public var standardLifetime: Duration
    /// The shortest lifetime; an answer that asks for less, or for no caching at all, gets this.
    public var shortestLifetime: Duration
    public var longestLifetime: Duration
    /// How long keys are used beyond their lifetime while fresh ones are unavailable.
    public var staleTime: Duration

    /// Creates a policy; the defaults are ours.
    public init(
        coolDown: Duration = .seconds(30), standardLifetime: Duration = .seconds(600),
        shortestLifetime: Duration = .seconds(30), longestLifetime: Duration = .seconds(86_400),
        staleTime: Duration = .seconds(86_400)
    ) {
        self.coolDown = coolDown
        self.standardLifetime = standardLifetime
        self.shortestLifetime = shortestLifetime
        self.longestLifetime = longestLifetime
        self.staleTime = staleTime
    }
}
