import Emulation
import JSON
import Tokens
import Wire

/// Messages and events. Source: observed, all SDKs; numbering and limits are ours.
extension Comapi {
    static func sendMessage(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try call.body(ComapiMessageDraft.init)
        // Only the id is kept: holding a copy of the log would make the next append copy it.
        let id = ComapiID(call.parameters["conversation"])
        try conversation(call, state).check(.canSend, for: call.caller.profileID)
        return .json(try state.send(draft, to: id, ComapiOccasion(call), &call.outbox).sentReceipt)
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
        let id = ComapiID(call.parameters["conversation"])
        _ = try conversation(call, state).role(of: call.caller.profileID)
        var skipped = 0
        for update in updates {
            guard let reason = state.apply(update, to: id, ComapiOccasion(call), &call.outbox) else { continue }
            if skipped < mostNoted { call.note("status-skipped", reason, found: .text(update.messageID)) }
            skipped += 1
        }
        return .respond(.text("OK"))
    }

    /// ours: more remarks would add nothing and push everything else out of the journal.
    private static let mostNoted = 100
}

struct ComapiMessageDraft {
    let metadata: JSON
    let parts: JSON
    let alert: JSON?

    init(_ body: inout FieldReader) {
        let parts = body.objects("parts", isRequired: true) { part in
            for name in ["name", "type", "url", "data"] { _ = part.optionalText(name) }
            _ = part.value("size", .wrongType, expecting: "a number", \.number)
            return JSON.object(part.whole)
        }
        self.parts = .array(parts)
        metadata = .object(body.object("metadata") ?? [:])
        alert = body.object("alert").map(JSON.object)
    }
}

struct ComapiStatusUpdate {
    let messageID: String
    let status: ComapiMessageStatus
    /// The time of the change; now if the client gives none (ours).
    let on: Moment

    /// Reads a list of status changes, each of which may name several messages.
    static func list(_ body: inout FieldReader, at moment: Moment) -> [ComapiStatusUpdate] {
        let updates = body.objects(FieldReader.elements) { update in
            let status = update.choice("status", of: ComapiMessageStatus.self, isRequired: true) ?? .read
            // A moment also reads plain seconds, which are not a date; every date has a hyphen.
            let on = update.time("timestamp") { $0.contains("-") ? Moment(text: $0) : nil } ?? moment
            return (update.texts("messageIds", isRequired: true) ?? []).map {
                ComapiStatusUpdate(messageID: $0, status: status, on: on)
            }
        }
        return updates.flatMap(\.self)
    }
}

// MARK: - Events in a conversation

extension ComapiState {
    /// Adds a message to a conversation's log, notifies its participants, and records pushes.
    mutating func send(
        _ draft: ComapiMessageDraft, to id: ComapiID, _ occasion: ComapiOccasion, _ outbox: inout Outbox
    ) throws(Comapi.Refused) -> ComapiMessage {
        let space = occasion.space.id
        try Comapi.Refused.require(
            self[space].conversations[id]?.log.hasRoom != false, .bodyTooLarge,
            "the events of the conversation have reached the largest number")
        let messageID = occasion.identifiers.uuid()
        let event = ComapiEvent(
            id: self[space].conversations[id]?.log.nextID ?? 1, eventID: occasion.identifiers.uuid(),
            actor: occasion.actor, moment: occasion.moment, messageID: messageID)
        let message = ComapiMessage(
            sentBy: event, from: sender(occasion), metadata: draft.metadata, parts: draft.parts, alert: draft.alert)
        self[space].conversations.change(id) { $0.log.append(message) }
        notify(event.id, of: id, occasion.space, &outbox)
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
            return "The events of the conversation have reached the largest number."
        }
        if message.event.actor == occasion.actor { return "This is the sender's own message." }
        if let known = message.statuses[occasion.actor]?.status, known == update.status || known == .read {
            return "The message is already \(known.rawValue)."
        }
        let event = ComapiEvent(
            id: self[space].conversations[id]?.log.nextID ?? 1, eventID: occasion.identifiers.uuid(),
            actor: occasion.actor, moment: occasion.moment, messageID: update.messageID, status: update.status,
            on: update.on)
        self[space].conversations.change(id) { $0.log.append(event) }
        notify(event.id, of: id, occasion.space, &outbox)
        return nil
    }

    private func notify(_ event: Int, of id: ComapiID, _ space: ComapiSpace, _ outbox: inout Outbox) {
        guard let conversation = self[space.id].conversations[id], let event = conversation.log[event] else { return }
        outbox.send(
            ComapiFrame.event(event, of: conversation, in: space).message, to: conversation.audience(in: space.id))
    }

    /// Records a push for each registered session of every other participant (ours).
    private mutating func notePushes(
        _ alert: JSON, _ message: ComapiMessage, of id: ComapiID, _ occasion: ComapiOccasion
    ) {
        let (space, pushes) = (occasion.space.id, "\(occasion.base)\(occasion.space.path)/pushes")
        for participant in self[space].conversations[id]?.joined ?? [] where participant.id != message.event.actor {
            for session in sessions.sessions(of: participant.id, in: space) {
                guard let registration = session.registration else { continue }
                let push = occasion.identifiers.uuid()
                self[space].note(push: [
                    "id": .string(push), "sessionId": session.id.local.json, "profileId": participant.id.json,
                    "registration": registration, "alert": alert,
                    "data": Self.pushData(of: alert, tracking: "\(pushes)/\(push)/click"),
                    "messageId": .string(message.id), "at": .string(occasion.moment.rfc3339), "clicks": 0,
                ])
            }
        }
    }

    /// The data of a push besides its alert: the link that the sender put into it with the tracking URL, and the
    /// vendor's mark.
    ///
    /// Source of `dd_originated`, which tells the vendor's pushes from others: JS SDK 1.4, Android SDK 1.7, iOS SDK 2.2.
    ///
    /// Source: that a client calls a URL from the push with GET and no token once the user has opened it: JS SDK 1.3,
    /// Android SDK 1.4. The URL, its place in the push's data and the response are ours.
    private static func pushData(of alert: JSON, tracking url: String) -> JSON {
        let given = alert["platforms"]?["fcm"]?["data"]?["dd_deepLink"]?.string
        var link = given.flatMap { (try? JSON.parse($0.utf8))?.object } ?? [:]
        link["trackingUrl"] = .string(url)
        return ["dd_deepLink": .string(JSON.object(link).text), "dd_originated": "true"]
    }
}

// MARK: - As sent

extension ComapiMessage {
    var sentReceipt: JSON { ["id": .string(id), "eventId": JSON(event.id)] }
}

extension ComapiConversation {
    private func context(of message: ComapiMessage) -> JSON {
        [
            "from": message.from, "conversationId": id.json, "sentBy": message.event.actor.json,
            "sentOn": .string(message.event.moment.rfc3339),
        ]
    }

    /// A message on a page. Source: test data of the Android SDK; JS and Android read `on`, iOS reads `timestamp`.
    func json(of message: ComapiMessage) -> JSON {
        let statuses = message.statuses.sorted { $0.key < $1.key }.map { profile, entry -> (String, JSON) in
            let moment = JSON.string(entry.on.rfc3339)
            return (profile.text, ["status": .string(entry.status.rawValue), "on": moment, "timestamp": moment])
        }
        return [
            "id": .string(message.id), "sentEventId": JSON(message.event.id), "metadata": message.metadata,
            "context": context(of: message), "parts": message.parts, "statusUpdates": .object(JSONObject(statuses)),
        ]
    }

    func payload(of event: ComapiEvent) -> JSON {
        guard event.isSent else {
            return [
                "messageId": .string(event.messageID), "conversationId": id.json,
                "isPublicConversation": .bool(isPublic), "profileId": event.actor.json,
                "timestamp": .string((event.on ?? event.moment).rfc3339),
            ]
        }
        guard let message = log.messages[event.messageID] else { return ["messageId": .string(event.messageID)] }
        var payload: JSONObject = [
            "messageId": .string(message.id), "metadata": message.metadata, "context": context(of: message),
            "parts": message.parts,
        ]
        if let alert = message.alert { payload.append("alert", alert) }
        return .object(payload)
    }
}

/// The push registration of a device. Source: observed, all SDKs.
enum ComapiRegistration {
    /// Reads a registration: exactly one of `fcm` and `apns`, with all its members.
    static func read(_ value: JSON) throws(Comapi.Refused) -> JSON {
        guard let object = value.object else {
            throw Comapi.refusal("push", "is a JSON \(value.typeName), not an object")
        }
        let found = kinds.filter { object.present($0.name) != nil }
        guard found.count == 1, let kind = found.first, let registration = object[kind.name]?.object else {
            throw Comapi.refusal("push", "has \(found.count) of fcm and apns; expected exactly one, an object")
        }
        var kept = JSONObject()
        for name in kind.members {
            guard let text = registration[name]?.string, !text.utf8.isEmpty, text.utf8.count <= 4096 else {
                throw Comapi.refusal("push", "has no usable \(kind.name).\(name); expected a text of 1 to 4096 bytes")
            }
            if name == "environment", text != "development", text != "production" {
                throw Comapi.refusal(
                    "push", "has the environment \(text.prefix(40)); expected development or production")
            }
            kept.append(name, .string(text))
        }
        return .object(JSONObject([(kind.name, .object(kept))]))
    }

    /// Asks for the members of a registration, whatever they are.
    static func name(_ body: inout FieldReader) {
        for kind in kinds { _ = body.nested(kind.name) { $0.accept(kind.members, as: "string") } }
    }

    private static let kinds = [
        (name: "fcm", members: ["package", "registrationId"]),
        (name: "apns", members: ["bundleId", "environment", "token"]),
    ]
}

extension Comapi {
    static func registerPush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let body = try call.body()
        _ = body.outcome(ComapiRegistration.name)
        let registration = try ComapiRegistration.read(.object(body.object))
        let session = try ownSession(call, state)
        state.sessions.table.change(session.id) { $0.registration = registration }
        return .empty(.ok)
    }

    static func removePush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        state.sessions.table.change(try ownSession(call, state).id) { $0.registration = nil }
        return .empty()
    }

    /// A state to pass to Facebook's messenger: any new text. Source: observed, all SDKs; quoted is inferred.
    static func stateForFacebook(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        _ = try call.body { $0.whole }
        return .json(.string(call.identifiers.uuid()))
    }

    /// Records that a push was opened. The URL is the secret, so no token is required.
    static func clickPush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["push"]
        try Refused.require(
            state[call.space.id].noteClick(ofPush: id, at: call.moment), .unknownPush,
            "no push of the space has the id \(id); expected one of the state's list pushes, which has the newest "
                + "\(ComapiSpaceState.pushCapacity)")
        return .empty(.ok)
    }
}
