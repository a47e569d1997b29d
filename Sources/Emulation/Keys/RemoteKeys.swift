public import HTTPTypes
import JSON
import Synchronization
public import Tokens

/// An issuer's published keys, as cached by one sandbox: kept for their lifetime, and fetched again when needed.
///
/// A value type: a vendor keeps it in its state. It decides when to fetch; the pipeline fetches once for all waiters.
public struct RemoteKeys: Sendable {
    public enum Form: String, Sendable, CaseIterable {
        /// A JWKS (RFC 7517 section 5).
        case keySet
        /// A JSON object whose members are key ids and PEM certificates.
        case certificates
    }

    public let issuer: String
    /// The URL of the published keys; may begin with ``KeyRequest/ownServer``.
    public let url: String
    public let form: Form
    /// The algorithm to verify with; keys that cannot are left out.
    public let algorithm: Algorithm
    /// The usable keys of the last answer that had any.
    public private(set) var keys: [VerificationKey] = []
    package private(set) var fetchedAt: Moment?
    package private(set) var expiresAt: Moment?
    public private(set) var lastReport: KeyFetchReport?
    package private(set) var fetchCount = 0
    var fetch: KeyFetch?

    package init(issuer: String, url: String, form: Form, algorithm: Algorithm) {
        (self.issuer, self.url, self.form, self.algorithm) = (issuer, url, form, algorithm)
    }

    package var request: KeyRequest { KeyRequest(url: url) }

    // MARK: Whether to fetch

    /// What verifying a signature requires.
    public enum Need: Sendable {
        /// Use these keys; the one that the token names may be missing.
        case use([VerificationKey])
        case fetch
        /// Go without: there are no keys, and it is too early to fetch again.
        case unavailable
    }

    /// What to do to verify the signature of a token that names that key, or none.
    public func need(naming keyID: String?, at moment: Moment, _ policy: KeyFetchPolicy) -> Need {
        if isFresh(at: moment) {
            let isKnown = keyID.map { id in keys.contains { $0.id?.hasSameBytes(as: id) == true } } ?? true
            return isKnown || isCoolingDown(at: moment, policy) ? .use(keys) : .fetch
        }
        let mayAsk = lastReport?.problem == nil || !isCoolingDown(at: moment, policy)
        return mayAsk ? .fetch : keysInNeed(at: moment)
    }

    /// What to do when a fetch has failed: the old keys serve for a while beyond their lifetime.
    public func keysInNeed(at moment: Moment) -> Need {
        guard let fetchedAt, let expiresAt else { return .unavailable }
        // The difference matters, not the order: a clock set back by years leaves the keys just as outdated.
        let isNear = fetchedAt.unixSeconds - moment.unixSeconds < KeyFetchPolicy.staleTime.inSeconds
        return isNear && moment < expiresAt + KeyFetchPolicy.staleTime ? .use(keys) : .unavailable
    }

    /// ours: requests may begin this long before the keys arrive, be judged afterwards, and find them fresh. An earlier
    /// moment means that the clock was set back; the keys' age is then unknown and not to be trusted.
    private static let longestRequest = Duration.seconds(30)

    private func isFresh(at moment: Moment) -> Bool {
        guard let fetchedAt, let expiresAt else { return false }
        return moment < expiresAt && fetchedAt.unixSeconds - moment.unixSeconds <= Self.longestRequest.inSeconds
    }

    /// Why an unknown key was not fetched, and when it may be; `nil` when nothing prevents a fetch.
    ///
    /// - Parameter setting: what determines the length of the pause, in words.
    package func pause(at moment: Moment, _ policy: KeyFetchPolicy, setBy setting: String) -> String? {
        guard let last = lastReport?.moment, isCoolingDown(at: moment, policy) else { return nil }
        return
            "No key was fetched for this call: the last attempt was at \(last.rfc3339), and the next one may be at \((last + policy.coolDown).rfc3339), after \(JSONNumber(policy.coolDown.inSeconds)) s (\(setting))."
    }

    /// The difference matters, not the order: a clock set back also ends the cool-down.
    private func isCoolingDown(at moment: Moment, _ policy: KeyFetchPolicy) -> Bool {
        guard let last = lastReport?.moment else { return false }
        return abs(moment.unixSeconds - last.unixSeconds) < policy.coolDown.inSeconds
    }

    // MARK: Results

    package func report(of answer: KeyAnswer, at moment: Moment) -> KeyFetchReport {
        var reader = PublishedKeysReader(form: form, algorithm: algorithm)
        var (status, lifetime): (Int?, Int?)
        var problem: KeyFetchProblem?
        do throws(KeyFetchProblem) {
            switch answer {
            case .failed(let problem): throw problem
            case .answered(let answered, let cacheControl, let body):
                status = answered.code
                if answered.kind == .redirection { throw .redirected(answered.code) }
                guard answered == .ok else { throw .status(answered.code) }
                lifetime = CacheLifetime.seconds(cacheControl)
                try reader.read(body)
            }
        } catch {
            problem = error
        }
        return KeyFetchReport(
            url: url, moment: moment, status: status, keys: problem == nil ? reader.keys : [],
            skipped: reader.skipped, problem: problem, lifetime: lifetime)
    }

    /// Takes over the result of an attempt; a failed one leaves the keys unchanged.
    ///
    /// A report for another URL, or one already taken, changes nothing.
    package mutating func take(_ report: KeyFetchReport, _ policy: KeyFetchPolicy) {
        guard report.url.hasSameBytes(as: url), report.number != lastReport?.number else { return }
        if report.wasAsked { fetchCount += 1 }
        lastReport = report
        guard report.problem == nil else { return }
        keys = report.keys
        fetchedAt = report.moment
        expiresAt = report.moment + policy.lifetime(of: report.lifetime)
    }

    /// The report for callers that waited for keys that are gone now.
    func reportOfNothing(at moment: Moment) -> KeyFetchReport {
        report(of: .failed(.unreachable("the issuer was replaced while its keys were being fetched")), at: moment)
    }
}

extension KeyFetchPolicy {
    func lifetime(of seconds: Int?) -> Duration {
        seconds.map { min(max(.seconds($0), Self.shortestLifetime), Self.longestLifetime) } ?? standardLifetime
    }
}

/// A running fetch of published keys, and the callers that wait for it.
final class KeyFetch: Sendable {
    private let gate = Gate()
    private let ending = Mutex<(report: KeyFetchReport, isTaken: Bool)?>(nil)

    /// The result, once the fetch has ended, and whether the requesting keys took it over: they do not if they were
    /// replaced in the meantime.
    func outcome() async -> (report: KeyFetchReport, isTaken: Bool)? {
        await gate.passage()
        return ending.withLock { $0 }
    }

    func complete(with report: KeyFetchReport, isTaken: Bool) {
        ending.withLock { $0 = (report, isTaken) }
        gate.open()
    }
}

public struct KeyFetchPolicy: Sendable, Hashable {
    /// The pause after an attempt, successful or not, before an unknown key or a failure may cause the next.
    public var coolDown: Duration
    public var standardLifetime: Duration
    /// ours, as the next two: an answer that asks for less, or for no caching at all, gets this.
    static let shortestLifetime = Duration.seconds(30)
    static let longestLifetime = Duration.seconds(86_400)
    /// How long keys are used beyond their lifetime while fresh ones are unavailable.
    static let staleTime = Duration.seconds(86_400)

    /// Creates a policy (ours: the defaults).
    public init(coolDown: Duration = .seconds(30), standardLifetime: Duration = .seconds(600)) {
        (self.coolDown, self.standardLifetime) = (coolDown, standardLifetime)
    }
}

public struct KeyRequirement: Sendable, Hashable {
    public let issuer: String
    public let keyID: String?

    public init(of issuer: String, naming keyID: String?) { (self.issuer, self.keyID) = (issuer, keyID) }
}

/// A request for the keys that an issuer publishes.
///
/// Only the pipeline sends it: vendors state what they need, and never open a connection.
public struct KeyRequest: Sendable, Hashable {
    /// The prefix of a URL that points at this server, in the sandbox of the caller.
    package static let ownServer = "{self}"
    /// The time limit for the whole answer, by the machine's clock.
    public static let timeLimit = Duration.seconds(5)
    /// The largest content of an answer, in bytes.
    public static let longestBody = 256 * 1024

    /// An absolute URL, or a path on this server after ``ownServer``.
    public let url: String

    public init(url: String) { self.url = url }

    /// The target on this server; `nil` for a URL that leads elsewhere.
    package var ownTarget: String? { url.hasPrefix(Self.ownServer) ? String(url.dropFirst(Self.ownServer.count)) : nil }
    public var fields: HTTPFields { [.accept: "application/json"] }
}

public enum KeyAnswer: Sendable {
    /// A complete answer, whatever its status.
    case answered(HTTPResponse.Status, cacheControl: [String], body: [UInt8])
    case failed(KeyFetchProblem)
}

public enum KeyFetchProblem: Error, Sendable, Hashable {
    /// The URL was not requested; the phrase says why.
    case notAsked(String)
    /// No connection, no TLS, or no HTTP; the phrase says what.
    case unreachable(String)
    case connectionLost
    case slow(within: Duration)
    case tooLarge
    case redirected(Int)
    case status(Int)
    /// The content is not JSON; the phrase says why.
    case notJSON(String)
    /// The content is JSON of another form; the phrase says what is expected.
    case otherForm(String)
    case noUsableKey
}

extension KeyFetchProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAsked(let why): "not requested: \(why)"
        case .unreachable(let what): what
        case .connectionLost: "the connection ended before the answer was complete."
        case .slow(let limit): "the answer was not complete within \(Int(limit.inSeconds)) s"
        case .tooLarge: "the answer has more than \(KeyRequest.longestBody) bytes"
        case .redirected(let status): "status \(status) is a redirect; redirects are not followed"
        case .status(let status): "status \(status); expected 200"
        case .notJSON(let why): "the content is not JSON: \(why)"
        case .otherForm(let expected): "the content is JSON of another form; expected \(expected)"
        case .noUsableKey: "no key in the answer is usable"
        }
    }
}
