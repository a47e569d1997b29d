import Emulation
import JSON
import Wire

// MARK: - Events in a conversation

extension ComapiState {
    /// Adds a message to a conversation's log, notifies its participants, and records pushes.
    ///
    /// - Returns: the message.
    mutating func send(
        _ draft: ComapiMessageDraft, to id: ComapiID, _ occasion: ComapiOccasion, _ outbox: inout Outbox
    ) throws(ComapiRefusal) -> ComapiMessage {
        let space = occasion.space.id
        let bytes = draft.metadata.bytes.count + draft.parts.bytes.count + (draft.alert?.bytes.count ?? 0) + 500
        guard self[space].conversations[id]?.log.hasRoom != false else {
            throw Refusal(.bodyTooLarge, because: "the events of the conversation have come to the largest number")
        }
        let message = ComapiMessage(
            id: occasion.identifiers.uuid(), sentEventID: self[space].conversations[id]?.log.nextID ?? 1,
            sender: occasion.actor, from: sender(occasion), sent: occasion.moment, metadata: draft.metadata,
            parts: draft.parts, alert: draft.alert, byteCount: bytes)
        let event = occasion.identifiers.uuid()
        self[space].conversations.change(id) { $0.log.append(message, eventID: event) }
        tell(message.sentEventID, of: id, occasion.space, &outbox)
        if let alert = message.alert { notePushes(alert, message, of: id, occasion) }
        return message
    }

    private func sender(_ occasion: ComapiOccasion) -> JSON {
        let profile = self[occasion.space.id].profiles[occasion.actor]
        var from: JSONObject = [
            "id": occasion.actor.json, "name": .string(profile?.displayName ?? occasion.actor.text),
        ]
        if let picture = profile?.members["profilePicture"]?.string { from.append("avatarUrl", .string(picture)) }
        return .object(from)
    }

    /// Changes the status of a message for the actor.
    ///
    /// - Returns: why nothing changed; `nil` if something did.
    mutating func apply(
        _ update: ComapiStatusUpdate, to id: ComapiID, _ occasion: ComapiOccasion, _ outbox: inout Outbox
    ) -> String? {
        let space = occasion.space.id
        guard let message = self[space].conversations[id]?.log.messages[update.messageID] else {
            return "No message of the conversation has this id."
        }
        if self[space].conversations[id]?.log.hasRoom == false {
            return "The events of the conversation have come to the largest number."
        }
        if message.sender == occasion.actor { return "This is the sender's own message." }
        if let known = message.statuses[occasion.actor]?.status, known == update.status || known == .read {
            return "The message is \(known.rawValue) already."
        }
        let event = occasion.identifiers.uuid()
        self[space].conversations.change(id) {
            $0.log.append(
                update.status, on: update.on, of: update.messageID, by: occasion.actor, eventID: event,
                at: occasion.moment)
        }
        tell(self[space].conversations[id]?.log.lastID ?? 0, of: id, occasion.space, &outbox)
        return nil
    }

    /// Notifies all participants of an event in the log.
    private func tell(_ event: Int, of id: ComapiID, _ space: ComapiSpace, _ outbox: inout Outbox) {
        guard let conversation = self[space.id].conversations[id], let event = conversation.log[event] else { return }
        outbox.send(
            ComapiFrame.event(event, of: conversation, in: space).message, to: conversation.audience(in: space.id))
    }

    /// Records a push for each registered session of every other participant (ours).
    private mutating func notePushes(
        _ alert: JSON, _ message: ComapiMessage, of id: ComapiID, _ occasion: ComapiOccasion
    ) {
        let space = occasion.space.id
        for participant in self[space].conversations[id]?.joined ?? [] where participant.id != message.sender {
            for session in sessions.sessions(of: participant.id, in: space) {
                guard let registration = session.registration else { continue }
                let push = occasion.identifiers.uuid()
                self[space].note(push: [
                    "id": .string(push), "sessionId": session.id.local.json, "profileId": participant.id.json,
                    "registration": registration, "alert": alert,
                    "data": ComapiPush.data(of: alert, tracking: ComapiPush.url(of: push, occasion)),
                    "messageId": .string(message.id), "at": .string(occasion.moment.rfc3339), "clicks": 0,
                ])
            }
        }
    }
}

// MARK: - As sent

extension ComapiMessage {
    var sentReceipt: JSON { ["id": .string(id), "eventId": JSON(sentEventID)] }
}

extension ComapiConversation {
    private func context(of message: ComapiMessage) -> JSON {
        [
            "from": message.from, "conversationId": id.json, "sentBy": message.sender.json,
            "sentOn": .string(message.sent.rfc3339),
        ]
    }

    /// A message on a page. Source: test data of the Android SDK; JS and Android read `on`, iOS reads `timestamp`.
    func json(of message: ComapiMessage) -> JSON {
        let statuses = message.statuses.sorted { $0.key < $1.key }.map { profile, entry -> (String, JSON) in
            let moment = JSON.string(entry.on.rfc3339)
            return (profile.text, ["status": .string(entry.status.rawValue), "on": moment, "timestamp": moment])
        }
        return [
            "id": .string(message.id), "sentEventId": JSON(message.sentEventID), "metadata": message.metadata,
            "context": context(of: message), "parts": message.parts,
            "statusUpdates": .object(JSONObject(statuses)),
        ]
    }

    func payload(of event: ComapiEvent) -> JSON {
        switch event.kind {
        case .sent:
            guard let message = log.messages[event.messageID] else { return ["messageId": .string(event.messageID)] }
            var payload: JSONObject = [
                "messageId": .string(message.id), "metadata": message.metadata, "context": context(of: message),
                "parts": message.parts,
            ]
            if let alert = message.alert { payload.append("alert", alert) }
            return .object(payload)
        case .status(_, let moment):
            return [
                "messageId": .string(event.messageID), "conversationId": id.json,
                "isPublicConversation": .bool(isPublic),
                "profileId": event.actor.json, "timestamp": .string(moment.rfc3339),
            ]
        }
    }
}
