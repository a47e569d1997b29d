import JSON
public import Tokens

/// The keys that an issuer publishes at a URL, as one sandbox has them: kept for their lifetime, asked for anew when needed.
///
/// A value: a vendor keeps it in its state. It decides when to ask; asking is the pipeline's part, once for all who wait.
public struct RemoteKeys: Sendable {
    /// In which form the keys are published.
    public enum Form: String, Sendable, CaseIterable {
        /// A JWKS (RFC 7517 section 5).
        case keySet
        /// A JSON object whose members are key ids and PEM certificates.
        case certificates
    }

    /// The issuer's name in control calls.
    public let issuer: String
    /// Where the keys are published; may begin with ``KeyRequest/ownServer``.
    public let url: String
    /// In which form.
    public let form: Form
    /// What the keys verify; those that cannot are left out.
    public let algorithm: Algorithm
    /// The usable keys of the last answer that had any.
    public private(set) var keys: [VerificationKey] = []
    /// When they were fetched.
    public private(set) var fetchedAt: Moment?
    /// When their lifetime ends.
    public private(set) var expiresAt: Moment?
    /// How the last attempt went, good or bad.
    public private(set) var lastReport: KeyFetchReport?
    /// How often the URL was asked.
    public private(set) var fetchCount = 0
    /// The request that is on its way.
    var fetch: KeyFetch?

    /// Keys that nobody has asked for yet.
    public init(issuer: String, url: String, form: Form, algorithm: Algorithm) {
        self.issuer = issuer
        self.url = url
        self.form = form
        self.algorithm = algorithm
    }

    /// The request for the keys.
    public var request: KeyRequest { KeyRequest(url: url) }
}

// MARK: - Whether to ask

extension RemoteKeys {
    /// What somebody who wants to verify a signature has to do.
    public enum Need: Sendable {
        /// Use these keys; the one that the token names may not be among them.
        case use([VerificationKey])
        /// Ask for the keys first.
        case fetch
        /// Do without: there are no keys, and it is too early to ask again.
        case unavailable
    }

    /// What to do to verify the signature of a token that names that key, or none.
    public func need(naming keyID: String?, at moment: Moment, _ policy: KeyFetchPolicy) -> Need {
        if isFresh(at: moment) {
            let isKnown = keyID.map { id in keys.contains { $0.id?.hasSameBytes(as: id) == true } } ?? true
            return isKnown || isCoolingDown(at: moment, policy) ? .use(keys) : .fetch
        }
        let mayAsk = lastReport?.problem == nil || !isCoolingDown(at: moment, policy)
        return mayAsk ? .fetch : keysInNeed(at: moment, policy)
    }

    /// What to do when asking has brought nothing: the old keys serve for a while beyond their lifetime.
    public func keysInNeed(at moment: Moment, _ policy: KeyFetchPolicy) -> Need {
        guard let fetchedAt, let expiresAt else { return .unavailable }
        // The distance counts, not the order: a clock that was set back by years has left the keys as far behind.
        let isNear = fetchedAt.unixSeconds - moment.unixSeconds < policy.staleTime.inSeconds
        return isNear && moment < expiresAt + policy.staleTime ? .use(keys) : .unavailable
    }

    /// ours: requests that began so long before the keys came may be judged after that, and find them fresh. Before that the
    /// clock was set back, and nobody knows of the keys' age but that it is no age to trust.
    private static let longestRequest = Duration.seconds(30)

    private func isFresh(at moment: Moment) -> Bool {
        guard let fetchedAt, let expiresAt else { return false }
        return moment < expiresAt && fetchedAt.unixSeconds - moment.unixSeconds <= Self.longestRequest.inSeconds
    }

    /// Why a key that is not known was not asked for, and when it may be; `nil` when nothing keeps anybody from asking.
    ///
    /// - Parameter setting: what decides how long the pause is, in words.
    public func pause(at moment: Moment, _ policy: KeyFetchPolicy, setBy setting: String) -> String? {
        guard let last = lastReport?.moment, isCoolingDown(at: moment, policy) else { return nil }
        return
            "No key was fetched for this call: the last attempt was at \(last.rfc3339), and the next one may be at \((last + policy.coolDown).rfc3339), after \(JSONNumber(policy.coolDown.inSeconds)) s (\(setting))."
    }

    /// The distance counts, not the order: a clock that was set back ends the cool-down too.
    private func isCoolingDown(at moment: Moment, _ policy: KeyFetchPolicy) -> Bool {
        guard let last = lastReport?.moment else { return false }
        return abs(moment.unixSeconds - last.unixSeconds) < policy.coolDown.inSeconds
    }
}

// MARK: - What came of it

extension RemoteKeys {
    /// Reads the answer to a request of that moment.
    public func report(of answer: KeyAnswer, at moment: Moment) -> KeyFetchReport {
        var reader = PublishedKeysReader(form: form, algorithm: algorithm)
        var (status, lifetime): (Int?, CacheLifetime?)
        var problem: KeyFetchProblem?
        do throws(KeyFetchProblem) {
            let body: [UInt8]
            (status, lifetime, body) = try Self.content(of: answer)
            try reader.read(body)
        } catch {
            problem = error
        }
        if case .answered(let code, _, _) = answer { status = code.code }
        return KeyFetchReport(
            url: url, moment: moment, status: status, keys: problem == nil ? reader.keys : [],
            skipped: reader.skipped, problem: problem, lifetime: lifetime)
    }

    private static func content(
        of answer: KeyAnswer
    ) throws(KeyFetchProblem) -> (Int, CacheLifetime?, [UInt8]) {
        switch answer {
        case .failed(let problem): throw problem
        case .answered(let status, let cacheControl, let body):
            if status.kind == .redirection { throw .redirected(status.code) }
            guard status == .ok else { throw .status(status.code) }
            return (status.code, CacheLifetime(cacheControl), body)
        }
    }

    /// Takes over what came of an attempt; one that failed leaves the keys as they are.
    ///
    /// A report of another URL, or one that has been taken already, changes nothing.
    public mutating func take(_ report: KeyFetchReport, _ policy: KeyFetchPolicy) {
        guard report.url.hasSameBytes(as: url), report.number != lastReport?.number else { return }
        if report.wasAsked { fetchCount += 1 }
        lastReport = report
        guard report.problem == nil else { return }
        keys = report.keys
        fetchedAt = report.moment
        expiresAt = report.moment + policy.lifetime(of: report.lifetime)
    }

    /// What somebody is told who has waited for keys that are gone now.
    func reportOfNothing(at moment: Moment) -> KeyFetchReport {
        report(of: .failed(.unreachable("the issuer was replaced while its keys were asked for")), at: moment)
    }
}

extension KeyFetchPolicy {
    func lifetime(of wish: CacheLifetime?) -> Duration {
        switch wish {
        case .none?: shortestLifetime
        case .seconds(let seconds)?: min(max(.seconds(seconds), shortestLifetime), longestLifetime)
        case nil: standardLifetime
        }
    }
}
