import Emulation
import JSON
import Logging

/// The formats of the line per request.
enum LogForm: String {
    case text
    case json
    case off
}

/// Logs one line per event.
struct LineLogHandler: LogHandler {
    let form: LogForm
    let writer: LineWriter
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        let time = SandboxClock.machine.rfc3339
        let line =
            switch form {
            case .json: Self.json(event.level, event.message.description, fields, time)
            case .text, .off: text(event, fields, time)
            }
        writer.write(line + "\n")
    }

    private static let order = [
        "sandbox", "vendor", "route", "method", "path", "status", "failure", "reason", "note", "intervention",
        "entry", "duration_ms",
    ]

    private static func json(
        _ level: Logger.Level, _ message: String, _ fields: [String: String], _ time: String
    ) -> String {
        var object: JSONObject = [
            "time": .string(time), "level": .string(level.rawValue), "message": .string(message),
        ]
        let known = order.filter { fields[$0] != nil }
        for name in known + fields.keys.filter({ !order.contains($0) }).sorted() {
            object.append(name, JSON(fields[name]))
        }
        return JSON.object(object).text
    }

    private func text(_ event: LogEvent, _ fields: [String: String], _ time: String) -> String {
        guard let status = fields["status"] else { return "\(time) \(event.level) \(event.message)" }
        var words = [time, status, fields["vendor"] ?? "-", fields["route"] ?? "-"]
        words += [fields["method"], fields["path"]].compactMap { $0 }
        if let sandbox = fields["sandbox"], sandbox != SandboxName.standard { words.append("~\(sandbox)") }
        words += [fields["entry"].map { "#\($0)" }, fields["duration_ms"].map { "\($0)ms" }].compactMap(\.self)
        // If an intervention refuses the request, it is the reason too.
        let intervention = fields["intervention"].flatMap { $0 == fields["reason"] ? nil : "[\($0)]" }
        if let intervention { words.append(intervention) }
        if let failure = fields["failure"] {
            words.append("\(failure): \(fields["reason"] ?? "")")
        } else if let reason = fields["reason"] ?? fields["note"].map({ "* \($0)" }) {
            words.append(reason)
        }
        return Output.printable(words.joined(separator: " "))
    }

    static func notice(_ form: LogForm, ofDropped count: Int) -> String {
        let time = SandboxClock.machine.rfc3339
        let message = "\(count) line\(count == 1 ? "" : "s") of the log dropped: nobody took them in time"
        return switch form {
        case .json: json(.warning, message, ["dropped": String(count)], time)
        case .text, .off: "\(time) warning \(message)."
        }
    }
}
