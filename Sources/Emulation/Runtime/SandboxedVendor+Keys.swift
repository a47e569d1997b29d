import HTTPTypes
import Tokens
import Wire

/// Fetching published keys during an exchange. Not inlinable: few exchanges get here.
extension SandboxedVendor {
    /// Authenticates a call again once the keys it needs are there.
    @usableFromInline
    func awaitKeys(
        _ missing: KeyRequirement, _ exchange: Exchange, _ call: Call<V>, by loaded: LoadedVendor<V>, isDecided: Bool
    ) -> ExchangeStep {
        // A vendor judges with what it has after waiting. One that does not must not let a token pass unjudged.
        guard call.arrival.keyFetch == nil else {
            var record = record(of: call, by: loaded)
            record.reason = "\(V.identity.title) asks twice for the keys of \(missing.issuer)"
            return finish(exchange, .empty(.serviceUnavailable), record, by: loaded)
        }
        return fetch(missing, exchange, by: loaded) { report in
            // A vendor loaded while the keys were being fetched would judge again.
            self.authenticate(
                exchange, at: call.route, call.parameters, by: self.latest(loaded), after: report, isDecided: isDecided)
        }
    }

    /// Runs a handler again once the keys it requested are there.
    @usableFromInline
    func awaitKeys(_ keys: RemoteKeys, _ exchange: Exchange, _ call: Call<V>, by loaded: LoadedVendor<V>)
        -> ExchangeStep
    {
        fetch(KeyRequirement(of: keys.issuer, naming: nil), for: keys, exchange, by: loaded) { report in
            var call = call
            call.keyFetch = report
            call.findings.note(report.finding)
            return self.handle(exchange, &call, by: loaded)
        }
    }

    /// Fetches keys, unless a fetch is already running, and continues with the result.
    ///
    /// If the state was replaced in the meantime, it lacks the keys, and they are fetched again; but not for a handler,
    /// which takes them over itself.
    ///
    /// - Parameter handlers: the keys that a handler wants, regardless of the cool-down; `nil` for authentication.
    private func fetch(
        _ wanted: KeyRequirement, for handlers: RemoteKeys? = nil, _ exchange: Exchange, by loaded: LoadedVendor<V>,
        attempt: Int = 1,
        then resume: @escaping @Sendable (KeyFetchReport) -> ExchangeStep
    ) -> ExchangeStep {
        let proceed: @Sendable (KeyFetchReport, Bool, RemoteKeys) -> ExchangeStep = { report, isTaken, keys in
            if isTaken || handlers != nil { return resume(report) }
            guard attempt < Self.mostAttempts else { return resume(keys.reportOfNothing(at: exchange.moment)) }
            return self.fetch(wanted, for: handlers, exchange, by: loaded, attempt: attempt + 1, then: resume)
        }
        switch join(wanted, for: handlers, at: loaded, exchange.moment) {
        case .needless(let report): return resume(report)
        case .follower(let fetch, let keys):
            return .waiting {
                let (report, isTaken) = await fetch.outcome() ?? (keys.reportOfNothing(at: exchange.moment), false)
                return proceed(report.shared(), isTaken, keys)
            }
        case .leader(let fetch, let keys):
            return .fetching(keys.request) { answer in
                let report = keys.report(of: answer, at: exchange.moment)
                return proceed(report, self.complete(fetch, with: report, at: loaded), keys)
            }
        }
    }

    /// ours: a request is refused when resets keep interrupting its fetches.
    private static var mostAttempts: Int { 3 }
}

enum KeyFetchPart: Sendable {
    /// The keys have arrived in the meantime, or the issuer is gone.
    case needless(KeyFetchReport)
    /// Another call is fetching them, and this one waits.
    case follower(KeyFetch, RemoteKeys)
    /// This call fetches them, and completes the fetch.
    case leader(KeyFetch, RemoteKeys)
}

extension SandboxedVendor {
    /// Determines a call's part in fetching keys. Decided under the lock, so that only one of any number of calls
    /// fetches.
    func join(
        _ wanted: KeyRequirement, for handlers: RemoteKeys?, at loaded: LoadedVendor<V>, _ moment: Moment
    ) -> KeyFetchPart {
        let switches = switches
        return change(at: loaded) { loaded, state in
            let (vendor, policy) = (loaded.vendor, loaded.vendor.keyFetchPolicy(switches))
            let known = vendor.remoteKeys(in: state).first {
                $0.issuer == wanted.issuer && $0.url == handlers?.url ?? $0.url
            }
            guard var keys = known else {
                // Keys of an issuer that is still being registered cannot be shared.
                if let handlers { return .leader(KeyFetch(), handlers) }
                let gone = RemoteKeys(issuer: wanted.issuer, url: "", form: .keySet, algorithm: .rs256)
                return .needless(gone.reportOfNothing(at: moment))
            }
            if let fetch = keys.fetch { return .follower(fetch, keys) }
            if handlers == nil, let report = keys.lastReport {
                let need = keys.need(naming: wanted.keyID, at: moment, policy)
                guard case .fetch = need else { return .needless(report.shared()) }
            }
            let fetch = KeyFetch()
            keys.fetch = fetch
            vendor.store(keys, in: &state)
            return .leader(fetch, handlers ?? keys)
        }
    }

    /// Takes over the result of a fetch, unless the keys were replaced in the meantime, and releases all waiters.
    ///
    /// - Returns: whether the result was taken over.
    func complete(_ fetch: KeyFetch, with report: KeyFetchReport, at loaded: LoadedVendor<V>) -> Bool {
        let switches = switches
        let isTaken = change(at: loaded) { loaded, state in
            let vendor = loaded.vendor
            guard var keys = vendor.remoteKeys(in: state).first(where: { $0.fetch === fetch }) else { return false }
            keys.fetch = nil
            keys.take(report, vendor.keyFetchPolicy(switches))
            vendor.store(keys, in: &state)
            return true
        }
        fetch.complete(with: report, isTaken: isTaken)
        return isTaken
    }
}

// The keys that a vendor's issuers sign with, and drills on them.
extension SandboxedVendor {
    @usableFromInline
    var issuers: [IssuerKeys] {
        let content = snapshot()
        return content.loaded.vendor.issuers(in: content.state)
    }

    @usableFromInline
    var remoteKeys: [RemoteKeys] {
        let content = snapshot()
        return content.loaded.vendor.remoteKeys(in: content.state)
    }

    @usableFromInline
    func perform(
        _ drill: KeyDrill, at issuer: String, with pair: DeferredKeyPair?, in sandbox: Sandbox
    ) -> KeyDrillOutcome {
        change(at: loaded) { loaded, state in
            let vendor = loaded.vendor
            guard var keys = vendor.issuers(in: state).first(where: { $0.name == issuer }) else {
                return .unknownIssuer
            }
            guard keys.perform(drill, with: pair?.made, sandbox.identifiers) else { return .needsPair }
            vendor.store(keys, in: &state)
            return .done(keys)
        }
    }
}

public enum KeyDrillOutcome: Sendable {
    case done(IssuerKeys)
    /// Nothing was done, because an unused key pair is needed.
    case needsPair
    case unknownIssuer
}
