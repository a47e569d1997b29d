import Emulation
import JSON
import Logging

/// The forms of the line per request.
enum LogForm: String {
    case text
    case json
    case off
}

/// Writes one line an event to standard error.
struct LineLogHandler: LogHandler {
    let form: LogForm
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(form: LogForm) {
        self.form = form
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        let time = SandboxClock.machine.rfc3339
        let line =
            switch form {
            case .json: json(event, fields, time)
            case .text, .off: text(event, fields, time)
            }
        Output.complaint(line)
    }

    private static let order = [
        "sandbox", "vendor", "route", "method", "path", "status", "failure", "reason", "intervention", "entry",
        "duration_ms",
    ]

    private func json(_ event: LogEvent, _ fields: [String: String], _ time: String) -> String {
        var object: JSONObject = [
            "time": .string(time), "level": .string(event.level.rawValue),
            "message": .string(event.message.description),
        ]
        let known = Self.order.filter { fields[$0] != nil }
        for name in known + fields.keys.filter({ !Self.order.contains($0) }).sorted() {
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
        // An intervention that refuses is the reason as well.
        let intervention = fields["intervention"].flatMap { $0 == fields["reason"] ? nil : "[\($0)]" }
        if let intervention { words.append(intervention) }
        if let failure = fields["failure"] {
            words.append("\(failure): \(fields["reason"] ?? "")")
        } else if let reason = fields["reason"] {
            words.append(reason)
        }
        return Output.printable(words.joined(separator: " "))
    }
}
