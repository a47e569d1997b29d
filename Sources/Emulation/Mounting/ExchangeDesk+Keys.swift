import HTTPTypes
import Tokens
import Wire

/// Asking for published keys in the midst of an exchange. Not inlinable: few exchanges come here.
extension ExchangeDesk {
    /// Has the keys asked for that a call needs to be judged, unless somebody else does so already, and judges it anew.
    @usableFromInline
    func fetch(
        _ order: KeyOrder, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>,
        then proceed: @escaping @Sendable (inout Call<V>) -> ExchangeStep
    ) -> ExchangeStep {
        wait(for: order, exchange, attempt: 1, in: cell) { report in
            var call = self.judge(exchange, at: call.route, call.parameters, in: cell, after: report)
            // A vendor that has waited judges by what there is. One that does not must not let a token pass unjudged.
            guard self.vendor.awaitedKeys(of: call.credentials) == nil else {
                var record = self.record(of: call)
                record.reason = "\(V.identity.title) asks twice for the keys of \(order.issuer)"
                return self.finish(exchange, .empty(.serviceUnavailable), record, in: cell)
            }
            return proceed(&call)
        }
    }

    /// Waits for a request that somebody sent, or sends it.
    ///
    /// When the state was replaced in the meantime nobody has the keys, and they are asked for again.
    private func wait(
        for order: KeyOrder, _ exchange: Exchange, attempt: Int, in cell: VendorCell<V>,
        then resume: @escaping @Sendable (KeyFetchReport) -> ExchangeStep
    ) -> ExchangeStep {
        let again: @Sendable (KeyFetchReport) -> ExchangeStep = { report in
            attempt < Self.mostAttempts
                ? self.wait(for: order, exchange, attempt: attempt + 1, in: cell, then: resume) : resume(report)
        }
        switch cell.board(order, at: self, exchange.moment) {
        case .needless(let report): return resume(report)
        case .passenger(let flight, let keys):
            return .waiting({ await flight.gate.passage() }) {
                guard let report = flight.report, flight.hasLanded else {
                    return again(keys.reportOfNothing(at: exchange.moment))
                }
                return resume(report.shared())
            }
        case .pilot(let flight, let keys):
            return .fetching(keys.request) { answer in
                let report = keys.report(of: answer, at: exchange.moment)
                return cell.land(flight, report, at: self)
                    ? resume(report) : again(keys.reportOfNothing(at: exchange.moment))
            }
        }
    }

    /// ours: whoever resets again and again while keys are on their way has the request refused.
    private static var mostAttempts: Int { 3 }

    /// Has keys asked for that a handler wants, unless somebody does so already, and runs it again.
    @usableFromInline
    func fetch(
        _ keys: RemoteKeys, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>
    ) -> ExchangeStep {
        let resume: @Sendable (KeyFetchReport) -> ExchangeStep = { report in
            var call = call
            call.keyFetch = report
            call.findings.note(report.finding)
            return self.handle(exchange, &call, in: cell)
        }
        let (flight, isPilot) = cell.board(keys, at: self)
        guard isPilot else {
            return .waiting({ await flight.gate.passage() }) {
                resume((flight.report ?? keys.reportOfNothing(at: exchange.moment)).shared())
            }
        }
        return .fetching(keys.request) { answer in
            let report = keys.report(of: answer, at: exchange.moment)
            _ = cell.land(flight, report, at: self)
            return resume(report)
        }
    }
}

/// Somebody's part in a request for keys.
enum KeyBoarding: Sendable {
    /// The keys have come meanwhile, or the issuer has gone.
    case needless(KeyFetchReport)
    /// Somebody else has asked, and this one waits.
    case passenger(KeyFlight, RemoteKeys)
    /// This one asks, and lands the flight.
    case pilot(KeyFlight, RemoteKeys)
}

extension VendorCell {
    /// Finds the part of a call in asking for keys. Decided under the lock, so that of any number of calls one asks.
    func board(_ order: KeyOrder, at desk: ExchangeDesk<V>, _ moment: Moment) -> KeyBoarding {
        let switches = switches
        return change(at: desk) { vendor, state in
            guard var keys = vendor.remoteKeys(in: state).first(where: { $0.issuer == order.issuer }) else {
                let gone = RemoteKeys(issuer: order.issuer, url: "", form: .keySet, algorithm: .rs256)
                return .needless(gone.reportOfNothing(at: moment))
            }
            if let flight = keys.flight { return .passenger(flight, keys) }
            let need = keys.need(naming: order.keyID, at: moment, vendor.keyFetchPolicy(switches))
            if case .fetch = need {} else if let report = keys.lastReport { return .needless(report.shared()) }
            return .pilot(Self.depart(&keys, vendor, &state), keys)
        }
    }

    /// Finds the part of a handler in asking for keys that it wants whatever the cool-down says.
    func board(_ keys: RemoteKeys, at desk: ExchangeDesk<V>) -> (KeyFlight, isPilot: Bool) {
        change(at: desk) { vendor, state in
            let known = vendor.remoteKeys(in: state).first { $0.issuer == keys.issuer && $0.url == keys.url }
            // Keys of an issuer that is only about to be registered are nobody else's.
            guard var known else { return (KeyFlight(), true) }
            if let flight = known.flight { return (flight, false) }
            return (Self.depart(&known, vendor, &state), true)
        }
    }

    private static func depart(_ keys: inout RemoteKeys, _ vendor: V, _ state: inout V.State) -> KeyFlight {
        let flight = KeyFlight()
        keys.flight = flight
        vendor.store(keys, in: &state)
        return flight
    }

    /// Takes over what came of a request for keys, unless they have been replaced meanwhile, and lets all go on who wait.
    ///
    /// - Returns: whether there was somebody to take it over.
    func land(_ flight: KeyFlight, _ report: KeyFetchReport, at desk: ExchangeDesk<V>) -> Bool {
        let switches = switches
        let hasLanded = change(at: desk) { vendor, state in
            guard var keys = vendor.remoteKeys(in: state).first(where: { $0.flight === flight }) else { return false }
            keys.flight = nil
            keys.take(report, vendor.keyFetchPolicy(switches))
            vendor.store(keys, in: &state)
            return true
        }
        flight.end(with: report, hasLanded: hasLanded)
        return hasLanded
    }
}
