import HTTPTypes
import Tokens
import Wire

/// Fetching published keys in the midst of an exchange. Not inlinable: few exchanges come here.
extension ExchangeDesk {
    /// Authenticates a call anew once the keys are there without which it cannot be judged.
    @usableFromInline
    func awaitKeys(
        _ missing: KeyOrder, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>, isDecided: Bool
    ) -> ExchangeStep {
        // A vendor that has waited judges by what there is. One that does not must not let a token pass unjudged.
        guard call.arrival.keyFetch == nil else {
            var record = record(of: call)
            record.reason = "\(V.identity.title) asks twice for the keys of \(missing.issuer)"
            return finish(exchange, .empty(.serviceUnavailable), record, in: cell)
        }
        return fetch(.judgement(missing), exchange, in: cell) { report in
            // Who was read later while the keys were on their way would judge once more.
            cell.latest(self).authenticate(
                exchange, at: call.route, call.parameters, in: cell, after: report, isDecided: isDecided)
        }
    }

    /// Runs a handler again once the keys are there that it asked for.
    @usableFromInline
    func awaitKeys(_ keys: RemoteKeys, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>) -> ExchangeStep {
        fetch(.handler(keys), exchange, in: cell) { report in
            var call = call
            call.keyFetch = report
            call.findings.note(report.finding)
            return self.handle(exchange, &call, in: cell)
        }
    }

    /// Has keys fetched, unless somebody else does so already, and goes on with what came of it.
    ///
    /// When the state was replaced in the meantime nobody has the keys, and they are fetched again; but not for a handler,
    /// which takes them over itself.
    private func fetch(
        _ wanted: WantedKeys, _ exchange: Exchange, in cell: VendorCell<V>, attempt: Int = 1,
        then resume: @escaping @Sendable (KeyFetchReport) -> ExchangeStep
    ) -> ExchangeStep {
        let proceed: @Sendable (KeyFetchReport, Bool, RemoteKeys) -> ExchangeStep = { report, isTaken, keys in
            if isTaken || wanted.areHandlers { return resume(report) }
            guard attempt < Self.mostAttempts else { return resume(keys.reportOfNothing(at: exchange.moment)) }
            return self.fetch(wanted, exchange, in: cell, attempt: attempt + 1, then: resume)
        }
        switch cell.join(wanted, at: self, exchange.moment) {
        case .needless(let report): return resume(report)
        case .follower(let fetch, let keys):
            return .waiting({ await fetch.completion() }) {
                let (report, isTaken) = fetch.outcome ?? (keys.reportOfNothing(at: exchange.moment), false)
                return proceed(report.shared(), isTaken, keys)
            }
        case .leader(let fetch, let keys):
            return .fetching(keys.request) { answer in
                let report = keys.report(of: answer, at: exchange.moment)
                return proceed(report, cell.complete(fetch, with: report, at: self), keys)
            }
        }
    }

    /// ours: whoever resets again and again while keys are on their way has the request refused.
    private static var mostAttempts: Int { 3 }
}

/// Who wants published keys.
enum WantedKeys: Sendable {
    /// Authentication, which keeps to the cool-down.
    case judgement(KeyOrder)
    /// A handler, which fetches them whatever the cool-down says and takes them over itself.
    case handler(RemoteKeys)

    var areHandlers: Bool { if case .handler = self { true } else { false } }

    /// Whether these are the keys; a handler's may have an issuer's name, and be published elsewhere.
    func means(_ keys: RemoteKeys) -> Bool {
        switch self {
        case .judgement(let order): keys.issuer == order.issuer
        case .handler(let wanted): keys.issuer == wanted.issuer && keys.url == wanted.url
        }
    }

    /// What to do when the state has no such keys: those of an issuer that is only about to be registered are nobody else's.
    func unknown(at moment: Moment) -> KeyFetchPart {
        switch self {
        case .judgement(let order):
            let gone = RemoteKeys(issuer: order.issuer, url: "", form: .keySet, algorithm: .rs256)
            return .needless(gone.reportOfNothing(at: moment))
        case .handler(let wanted): return .leader(KeyFetch(), wanted)
        }
    }
}

/// Somebody's part in fetching keys.
enum KeyFetchPart: Sendable {
    /// The keys have come meanwhile, or the issuer has gone.
    case needless(KeyFetchReport)
    /// Somebody else fetches them, and this one waits.
    case follower(KeyFetch, RemoteKeys)
    /// This one fetches them, and completes the fetch.
    case leader(KeyFetch, RemoteKeys)
}

extension VendorCell {
    /// Finds the part of a call in fetching keys. Decided under the lock, so that of any number of calls one fetches.
    func join(_ wanted: WantedKeys, at desk: ExchangeDesk<V>, _ moment: Moment) -> KeyFetchPart {
        let switches = switches
        return change(at: desk) { desk, state in
            let known = desk.keyFetcher?.remoteKeys(in: state).first(where: wanted.means)
            guard let fetcher = desk.keyFetcher, var keys = known else { return wanted.unknown(at: moment) }
            if let fetch = keys.fetch { return .follower(fetch, keys) }
            if case .judgement(let order) = wanted, let report = keys.lastReport {
                let need = keys.need(naming: order.keyID, at: moment, fetcher.keyFetchPolicy(switches))
                guard case .fetch = need else { return .needless(report.shared()) }
            }
            let fetch = KeyFetch()
            keys.fetch = fetch
            fetcher.store(keys, in: &state)
            if case .handler(let wanted) = wanted { return .leader(fetch, wanted) }
            return .leader(fetch, keys)
        }
    }

    /// Takes over what came of a fetch, unless the keys have been replaced meanwhile, and lets all go on who wait.
    ///
    /// - Returns: whether there was somebody to take it over.
    func complete(_ fetch: KeyFetch, with report: KeyFetchReport, at desk: ExchangeDesk<V>) -> Bool {
        let switches = switches
        let isTaken = change(at: desk) { desk, state in
            guard let fetcher = desk.keyFetcher,
                var keys = fetcher.remoteKeys(in: state).first(where: { $0.fetch === fetch })
            else { return false }
            keys.fetch = nil
            keys.take(report, fetcher.keyFetchPolicy(switches))
            fetcher.store(keys, in: &state)
            return true
        }
        fetch.complete(with: report, isTaken: isTaken)
        return isTaken
    }
}
