import HTTPEngine
import Synchronization

/// Limits how often a third party's URL is asked for keys, however many sandboxes want them.
///
/// Each sandbox has its own clock and its own cool-down, so forged tokens in many of them, or a clock that is moved
/// repeatedly, would cause as many requests to one provider. A key server on this machine is the user's own, and is
/// asked as often as they want.
package final class KeyFetchPace: Sendable {
    /// The pace of this process. ours: a few hundred sandboxes may each ask once at the same time, and a public
    /// provider does not notice the rate after that.
    package static let ofProcess = KeyFetchPace(burst: 300, interval: .milliseconds(100))

    private let burst: Int
    private let interval: Duration
    private let sparesThisMachine: Bool
    /// For each URL, the moment at which its full allowance is restored.
    private let recoveries = Mutex<[String: ContinuousClock.Instant]>([:])
    /// ours: this many URLs have their own allowance; the rest share one, so that the memory is bounded.
    private static let mostURLs = 1000

    /// Creates a pace.
    ///
    /// - Parameters:
    ///   - burst: how many requests a URL allows at once.
    ///   - interval: the time after which one more request is allowed; never zero.
    ///   - sparesThisMachine: whether URLs on this machine are unlimited.
    package init(burst: Int, interval: Duration, sparesThisMachine: Bool = true) {
        self.burst = burst
        self.interval = interval
        self.sparesThisMachine = sparesThisMachine
    }

    /// Counts a request for a URL; `false`, without counting it, when it exceeds the allowance.
    package func admits(_ url: String, at moment: ContinuousClock.Instant) -> Bool {
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

    /// Why a URL is not requested, in a phrase.
    var refusal: String {
        "this process asks a URL \(burst) times at once and then every \(interval) at most, all sandboxes together"
    }
}
