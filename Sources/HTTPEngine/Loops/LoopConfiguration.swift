/// What one loop needs.
struct LoopConfiguration: Sendable {
    let limits: Limits
    let handler: any RequestHandler
    let occupancy: ServerOccupancy
    let mailbox: LoopMailbox
    let poller: Poller
    /// The server's listeners, for the loop that accepts.
    let listeners: [ListeningSocket]?
    /// The other loops, for the loop that accepts, which tells them to stop.
    let peers: [LoopMailbox]

    /// One for each loop of a server, the accepting one first.
    static func make(
        _ configuration: ServerConfiguration, _ listeners: [ListeningSocket], _ handler: any RequestHandler,
        _ occupancy: ServerOccupancy
    ) throws(ServerError) -> [LoopConfiguration] {
        var mailboxes: [LoopMailbox] = []
        for _ in 0..<max(1, configuration.loops) { mailboxes.append(try LoopMailbox()) }
        let limits = configuration.limits
        var loopConfigurations: [LoopConfiguration] = []
        for mailbox in mailboxes {
            let isFirst = loopConfigurations.isEmpty
            loopConfigurations.append(
                LoopConfiguration(
                    limits: limits, handler: handler, occupancy: occupancy, mailbox: mailbox, poller: try Poller(),
                    listeners: isFirst ? listeners : nil, peers: isFirst ? Array(mailboxes.dropFirst()) : []))
        }
        return loopConfigurations
    }
}
