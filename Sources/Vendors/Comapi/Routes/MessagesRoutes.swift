import Emulation
import JSON
import Tokens
import Wire

/// Messages and events. Source: observed, all SDKs; numbering and limits are ours.
extension Comapi {
    static func sendMessage(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try call.body(ComapiMessageDraft.init)
        let id = try sendable(call, state)
        return .json(try state.send(draft, to: id, ComapiOccasion(call), &call.outbox).sentReceipt)
    }

    /// The id of the conversation, after checking that the caller may send to it. Only the id: holding a copy of the
    /// log would make the next append copy it.
    private static func sendable(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiID {
        let conversation = try conversation(call, state)
        try conversation.check(.canSend, for: call.caller.profileID)
        return conversation.id
    }

    static func listMessages(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let (from, limit) = try bounds(call)
        let conversation = try conversation(call, state)
        try conversation.checkReading(by: call.caller.profileID)
        let page = ComapiMessagePage(conversation.log, from: from, limit: limit)
        return .json([
            "latestEventId": JSON(page.latestEventID), "earliestEventId": JSON(page.earliestEventID),
            "messages": .array(page.messages.map(conversation.json(of:))),
            "orphanedEvents": .array(
                page.orphans.map { event in
                    let data: JSON = [
                        "name": .string(event.name), "eventId": .string(event.eventID),
                        "profileId": event.actor.json, "payload": conversation.payload(of: event),
                    ]
                    return ["id": JSON(event.id), "data": data]
                }),
        ])
    }

    /// Returns the frames of the log from an event on, oldest first.
    static func listEvents(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let (from, limit) = try bounds(call)
        let conversation = try conversation(call, state)
        try conversation.checkReading(by: call.caller.profileID)
        let log = conversation.log
        let events = log.events.dropFirst(max(0, (from ?? 0) - log.firstID)).prefix(limit)
        let space = call.space
        return .json(.array(events.map { ComapiFrame.event($0, of: conversation, in: space).json }))
    }

    private static func bounds(_ call: ComapiCall) throws(Refused) -> (from: Int?, limit: Int) {
        try call.query.read { ($0.int("from", in: 0...Int.max), $0.int("limit", in: 1...1000) ?? 100) }
    }

    /// Updates the status of messages for the caller; updates without effect are skipped, with a remark.
    static func updateStatus(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let updates = try call.list { ComapiStatusUpdate.list(&$0, at: call.moment) }
        let id = try joined(call, state)
        var skipped = 0
        for update in updates where !apply(update, to: id, isTold: skipped < mostTold, &call, &state) { skipped += 1 }
        return .respond(.text("OK"))
    }

    /// The id of the conversation, after checking that the caller participates.
    private static func joined(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiID {
        let conversation = try conversation(call, state)
        _ = try conversation.role(of: call.caller.profileID)
        return conversation.id
    }

    /// ours: more remarks would tell nothing new and push everything else out of the journal.
    private static let mostTold = 100

    /// - Returns: whether anything changed.
    private static func apply(
        _ update: ComapiStatusUpdate, to id: ComapiID, isTold: Bool, _ call: inout ComapiCall,
        _ state: inout State
    ) -> Bool {
        guard let reason = state.apply(update, to: id, ComapiOccasion(call), &call.outbox) else { return true }
        if isTold { call.note("status-skipped", reason, found: .text(update.messageID)) }
        return false
    }
}
