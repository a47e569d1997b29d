import Emulation
import JSON
import Tokens

/// State as JSON; the fixtures give none, so that what requests changed is all there is.
extension Comapi {
    func export(_ state: ComapiState, _ extent: StateExtent) -> JSON? {
        switch extent {
        case .whole: return state.record
        case .changes: return state.isUntouched ? JSON?.none : state.record
        }
    }

    var initialState: ComapiState { ComapiState() }

    /// A reset ends the sessions of earlier starts too, and what was minted before it.
    ///
    /// The new mark follows from the old one: with a seed, the same calls yield the same tokens.
    func state(afterResetting old: ComapiState) -> ComapiState {
        var state = ComapiState()
        state.adoptsEarlierSessions = false
        state.mintMark = "reset-\((old.mintMark.split(separator: "-").last.flatMap { Int($0) } ?? 0) &+ 1)"
        return state
    }
}

extension ComapiState {
    /// Whether nothing has happened.
    fileprivate var isUntouched: Bool {
        spaces.isEmpty && challenges.count == 0 && sessions.all.isEmpty && sessions.ended.isEmpty
            && contents.all.isEmpty && adoptsEarlierSessions && mintMark == ComapiState().mintMark
    }

    fileprivate var record: JSON {
        [
            "adopts_earlier_sessions": .bool(adoptsEarlierSessions), "mint_mark": .string(mintMark),
            "challenges": .array(challenges.all.map(\.record)), "sessions": .array(sessions.all.map(\.record)),
            "ended_sessions": .array(
                sessions.ended.map { ["id": $0.local.json, "space": $0.space.json] }),
            "spaces": .array(spaces.sorted { $0.key < $1.key }.map { $1.record(of: $0) }),
            "contents": .array(contents.all.map(\.record)),
        ]
    }
}

extension Moment {
    /// The Unix seconds, to be read back as the same moment.
    fileprivate var record: JSON { .number(JSONNumber(unixSeconds)) }
}

extension ComapiChallenge {
    fileprivate var record: JSON {
        var record: JSONObject = [
            "id": .string(id), "space": space.json, "nonce": .string(nonce), "issued": issued.record,
            "expires": expires.record,
        ]
        record["answered_by"] = answeredBy.map(JSON.string)
        return .object(record)
    }
}

extension ComapiSession {
    fileprivate var record: JSON {
        var record: JSONObject = [
            "id": id.local.json, "space": space.json, "profile": profileID.json, "device": .object(device),
            "source": .string(sourceAddress), "nonce": .string(nonce), "started": started.record,
            "expires": expires.record,
        ]
        record["registration"] = registration
        return .object(record)
    }
}

extension ComapiSpaceState {
    fileprivate func record(of id: ComapiID) -> JSON {
        [
            "id": id.json, "profiles": .array(profiles.values.sorted { $0.id < $1.id }.map(\.record)),
            "conversations": .array(conversations.values.sorted { $0.id < $1.id }.map(\.record)),
            "pushes": .array(pushes),
        ]
    }
}

extension ComapiProfile {
    fileprivate var record: JSON {
        [
            "id": id.json, "members": .object(members), "created": created.record, "updated": updated.record,
            "revision": JSON(revision),
        ]
    }
}

extension ComapiConversation {
    fileprivate var record: JSON {
        var record: JSONObject = ["id": id.json]
        record["name"] = name.map(JSON.string)
        record["description"] = about.map(JSON.string)
        record["public"] = .bool(isPublic)
        record["roles"] = .object(
            JSONObject(rights.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value.json) }))
        record["participants"] = .array(joined.map(\.json))
        record["created"] = created.record
        record["creator"] = creator.json
        record["updated"] = updated.record
        record["updater"] = updater.json
        record["revision"] = JSON(revision)
        record["deleted"] = deleted?.record
        record["last_event"] = JSON(log.lastID)
        record["events"] = .array(log.events.map { $0.record(log) })
        return .object(record)
    }
}

extension ComapiEvent {
    fileprivate func record(_ log: ComapiEventLog) -> JSON {
        var record: JSONObject = [
            "id": JSON(id), "event": .string(eventID), "actor": actor.json, "at": moment.record,
            "message": .string(messageID), "kind": .string(name),
        ]
        switch kind {
        case .status(_, let on): record["on"] = on.record
        case .sent:
            guard let message = log.messages[messageID] else { break }
            record["from"] = message.from
            record["metadata"] = message.metadata
            record["parts"] = message.parts
            record["alert"] = message.alert
            record["statuses"] = .array(
                message.statuses.sorted { $0.key < $1.key }.map { profile, entry in
                    ["profile": profile.json, "status": .string(entry.status.rawValue), "on": entry.on.record]
                })
        }
        return .object(record)
    }
}

extension ComapiContent {
    fileprivate var record: JSON {
        [
            "id": .string(id), "space": space.json, "name": .string(name), "type": .string(type),
            "folder": .string(folder), "data": .string(Base64URL.encode(bytes)),
        ]
    }
}
