import Wire

/// Opening sockets. Not inlinable: few exchanges come here.
extension ExchangeDesk {
    /// Accepts the handshake that a handler wants accepted; what happens at the socket joins the exchange's entry.
    @usableFromInline
    func open(
        _ order: SocketOrder, _ exchange: Exchange, _ record: ExchangeRecord, in cell: VendorCell<V>
    ) -> ExchangeStep {
        guard let opening = order.opening as? SocketOpening<V> else {
            // The call of a vendor alone makes its orders, so another vendor's is a fault of ours.
            preconditionFailure("an opening of another vendor came from a handler of \(V.identity.id)")
        }
        let connection = SocketConnection(opening, era: order.era, in: exchange.sandbox, cell: cell)
        var record = record
        record.socket = connection.log
        let upgrade = WebSocketUpgrade(
            order.handshake, handler: connection, subprotocol: opening.subprotocol,
            maximumMessageBytes: opening.maximumMessageBytes, silence: opening.silence)
        return finish(exchange, .webSocket(upgrade, fields: opening.fields), record, in: cell)
    }
}
