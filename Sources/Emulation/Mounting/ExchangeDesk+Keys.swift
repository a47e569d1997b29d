import Tokens

/// Asking for published keys in the midst of an exchange. Not inlinable: few exchanges come here.
extension ExchangeDesk {
    /// Has the keys asked for that a call needs to be judged, unless somebody else does so already, and judges it anew.
    @usableFromInline
    func fetch(
        _ order: KeyOrder, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>,
        then proceed: @escaping @Sendable (inout Call<V>) -> ExchangeStep
    ) -> ExchangeStep {
        let resume: @Sendable (KeyFetchReport?) -> ExchangeStep = { report in
            var call = self.judge(exchange, at: call.route, call.parameters, in: cell, after: report)
            return proceed(&call)
        }
        switch cell.board(order, at: self, exchange.moment) {
        case .needless(let report): return resume(report)
        case .passenger(let flight):
            return .waiting({ await flight.gate.passage() }) { resume(cell.lastReport(of: order, at: self)) }
        case .pilot(let flight, let keys):
            return .fetching(keys.request) { answer in
                let report = keys.report(of: answer, at: exchange.moment)
                cell.land(flight, report, at: self)
                return resume(report)
            }
        }
    }

    /// Has keys asked for that a handler wants, and runs it again.
    @usableFromInline
    func fetch(
        _ keys: RemoteKeys, _ exchange: Exchange, _ call: Call<V>, in cell: VendorCell<V>
    ) -> ExchangeStep {
        .fetching(keys.request) { answer in
            var call = call
            let report = keys.report(of: answer, at: exchange.moment)
            call.keyFetch = report
            call.findings.note(report.finding)
            return self.handle(exchange, &call, in: cell)
        }
    }
}

/// Somebody's part in a request for keys.
enum KeyBoarding: Sendable {
    /// The keys have come meanwhile.
    case needless(KeyFetchReport?)
    /// Somebody else has asked, and this one waits.
    case passenger(KeyFlight)
    /// This one asks, and lands the flight.
    case pilot(KeyFlight, RemoteKeys)
}

extension VendorCell {
    /// Finds the part of a call in asking for keys. Decided under the lock, so that of any number of calls one asks.
    func board(_ order: KeyOrder, at desk: ExchangeDesk<V>, _ moment: Moment) -> KeyBoarding {
        let switches = switches
        return change(at: desk) { vendor, state in
            guard var keys = Self.keys(of: order.issuer, vendor, state) else { return .needless(nil) }
            if let flight = keys.flight { return .passenger(flight) }
            guard case .fetch = keys.need(naming: order.keyID, at: moment, vendor.keyFetchPolicy(switches)) else {
                return .needless(keys.lastReport)
            }
            let flight = KeyFlight()
            keys.flight = flight
            vendor.store(keys, in: &state)
            return .pilot(flight, keys)
        }
    }

    /// Takes over what came of a request for keys, unless they have been replaced meanwhile, and lets all go on who wait.
    func land(_ flight: KeyFlight, _ report: KeyFetchReport, at desk: ExchangeDesk<V>) {
        let switches = switches
        change(at: desk) { vendor, state in
            guard var keys = vendor.remoteKeys(in: state).first(where: { $0.flight === flight }) else { return }
            keys.flight = nil
            keys.take(report, vendor.keyFetchPolicy(switches))
            vendor.store(keys, in: &state)
        }
        flight.gate.open()
    }

    /// How the last request for an issuer's keys went.
    func lastReport(of order: KeyOrder, at desk: ExchangeDesk<V>) -> KeyFetchReport? {
        change(at: desk) { vendor, state in Self.keys(of: order.issuer, vendor, state)?.lastReport }
    }

    private static func keys(of issuer: String, _ vendor: V, _ state: V.State) -> RemoteKeys? {
        vendor.remoteKeys(in: state).first { $0.issuer == issuer }
    }
}
