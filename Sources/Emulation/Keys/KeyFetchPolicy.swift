/// How long published keys are kept, and how often they are asked for.
public struct KeyFetchPolicy: Sendable, Hashable {
    /// How long an attempt, good or bad, keeps the next one away that only an unknown key or a failure would cause.
    public var coolDown: Duration
    /// How long keys live whose answer does not say.
    public var standardLifetime: Duration
    /// The shortest lifetime; an answer that asks for less, or not to be kept at all, gets this.
    public var shortestLifetime: Duration
    /// The longest lifetime.
    public var longestLifetime: Duration
    /// How long keys are used beyond their lifetime while fresh ones cannot be had.
    public var staleTime: Duration

    /// A policy; every number that is left out is ours.
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
