/// Opening sockets. Not inlinable: few exchanges get here.
extension VendorRuntime {
    /// Accepts a handshake for a handler; events on the socket join the exchange's entry.
    @usableFromInline
    func open(_ exchange: Exchange, _ call: Call<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        guard let order = call.socket else {
            preconditionFailure("a handler of \(V.identity.id) replies with a socket that the call did not open")
        }
        let (response, log) = order.accept(exchange.sandbox, store, order.era)
        var record = record(of: call)
        record.socket = log
        return finish(exchange, response, record, in: store)
    }
}
