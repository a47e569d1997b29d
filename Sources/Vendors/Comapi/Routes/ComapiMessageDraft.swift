import Emulation
import JSON

struct ComapiMessageDraft {
    let metadata: JSON
    let parts: JSON
    let alert: JSON?

    init(_ body: inout FieldReader) {
        let parts = body.objects("parts", isRequired: true) { part in
            for name in ["name", "type", "url", "data"] { _ = part.optionalText(name) }
            _ = part.value("size", .wrongType, expecting: "a number", \.number)
            return JSON.object(part.object)
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
