import HTTPEngine
import Synchronization

/// How often a URL of others is asked for keys, however many sandboxes want them.
///
/// Each sandbox has its own clock and its own cool-down, so forged tokens in many of them, or a clock that is moved again
/// and again, would have one provider asked as often. A key server on this machine is the user's own, and
/// is asked as often as they want.
public final class KeyFetchPace: Sendable {
    /// The pace of this process. ours: some hundred sandboxes may each ask once at the same time, and a public provider
    /// does not notice what goes on after that.
    public static let ofProcess = KeyFetchPace(burst: 300, interval: .milliseconds(100))

    private let burst: Int
    private let interval: Duration
    private let sparesThisMachine: Bool
    /// For each URL the moment at which nothing of its allowance would be used up.
    private let recoveries = Mutex<[String: ContinuousClock.Instant]>([:])
    /// ours: so many URLs have an allowance of their own; what goes beyond shares one, so that the memory is bounded.
    private static let mostURLs = 1000

    /// A pace.
    ///
    /// - Parameters:
    ///   - burst: how often a URL may be asked at once.
    ///   - interval: after what time it may be asked once more; never nothing.
    ///   - sparesThisMachine: whether URLs of this machine are asked without a bound.
    public init(burst: Int, interval: Duration, sparesThisMachine: Bool = true) {
        self.burst = burst
        self.interval = interval
        self.sparesThisMachine = sparesThisMachine
    }

    /// Counts a request for a URL; false when it would be one too many, which counts for nothing.
    public func admits(_ url: String, at moment: ContinuousClock.Instant) -> Bool {
        if sparesThisMachine, HTTPClient.staysOnThisMachine(url) { return true }
        return recoveries.withLock { recoveries in
            if recoveries[url] == nil, recoveries.count >= Self.mostURLs {
                recoveries = recoveries.filter { $0.value > moment }
            }
            let isOneTooMany = recoveries[url] == nil && recoveries.count >= Self.mostURLs
            let place = isOneTooMany ? "" : url
            let recovery = max(recoveries[place] ?? moment, moment) + interval
            guard moment.duration(to: recovery) <= interval * burst else { return false }
            recoveries[place] = recovery
            return true
        }
    }

    /// Why a URL is not asked, in a phrase.
    var refusal: String {
        "this process asks a URL \(burst) times at once and then every \(interval) at most, all sandboxes together"
    }
}
