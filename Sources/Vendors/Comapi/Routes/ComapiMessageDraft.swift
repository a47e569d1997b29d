import Emulation
import JSON
import Tokens

/// A message as a client sends it.
struct ComapiMessageDraft {
    let metadata: JSON
    let parts: JSON
    let alert: JSON?

    init(_ body: ComapiMembers) throws(ComapiRefusal) {
        var faults = ComapiFaults()
        let parts = body.objects("parts", isRequired: true, &faults) ?? []
        for part in parts {
            for name in ["name", "type", "url", "data"] { _ = part.text(name, &faults) }
            if let size = part["size"], size.number == nil {
                faults.invalid(part.name("size"), "is a JSON \(size.typeName), not a number")
            }
        }
        let metadata = body.object("metadata", &faults)?.object
        let alert = body.object("alert", &faults)?.object
        try faults.check()
        self.parts = .array(parts.map { .object($0.object) })
        self.metadata = .object(metadata ?? [:])
        self.alert = alert.map(JSON.object)
    }
}

/// A change of one message's status.
struct ComapiStatusUpdate {
    let messageID: String
    let status: ComapiMessageStatus
    let on: Moment

    /// Reads a list of changes, each of which may name several messages.
    static func read(_ list: [JSON], at moment: Moment) throws(ComapiRefusal) -> [ComapiStatusUpdate] {
        var faults = ComapiFaults()
        var updates: [ComapiStatusUpdate] = []
        for members in ComapiMembers.objects(list, at: "", &faults) {
            let status = status(members, &faults)
            let on = self.moment(members, &faults) ?? moment
            for id in messageIDs(members, &faults) {
                if let status { updates.append(ComapiStatusUpdate(messageID: id, status: status, on: on)) }
            }
        }
        try faults.check()
        return updates
    }

    private static func status(_ members: ComapiMembers, _ faults: inout ComapiFaults) -> ComapiMessageStatus? {
        guard let name = members.text("status", isRequired: true, &faults) else { return nil }
        let status = ComapiMessageStatus(rawValue: name)
        if status == nil {
            faults.invalid(members.name("status"), "is “\(name.prefix(40))”; expected delivered or read")
        }
        return status
    }

    /// When it happened; now, where the client does not say (ours).
    private static func moment(_ members: ComapiMembers, _ faults: inout ComapiFaults) -> Moment? {
        let name = members.name("timestamp")
        if let remark = members["timestamp"]?.number.flatMap({ NumericDate(.number($0)).dateRemark }) {
            faults.invalid(name, remark)
            return nil
        }
        guard let text = members.text("timestamp", &faults) else { return nil }
        // A moment also reads plain seconds, which are no date; every date has a hyphen.
        let moment = text.contains("-") ? Moment(text: text) : nil
        if moment == nil {
            let remark = NumericDate(.string(text)).dateRemark
            faults.invalid(name, remark ?? "is “\(text.prefix(40))”; expected an RFC 3339 date")
        }
        return moment
    }

    private static func messageIDs(_ members: ComapiMembers, _ faults: inout ComapiFaults) -> [String] {
        let name = members.name("messageIds")
        guard let value = members["messageIds"] else {
            faults.missing(name, found: members.object["messageIds"])
            return []
        }
        guard let elements = value.array else {
            faults.invalid(name, "is a JSON \(value.typeName), not an array")
            return []
        }
        if elements.isEmpty { faults.missing(name, found: value) }
        for (index, element) in elements.enumerated() where element.string == nil {
            faults.invalid("\(name)[\(index)]", "is a JSON \(element.typeName), not a string")
        }
        return elements.compactMap(\.string)
    }
}
