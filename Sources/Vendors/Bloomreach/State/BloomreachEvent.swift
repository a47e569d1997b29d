import Emulation
import JSON

/// An event of a customer, as it was tracked.
struct BloomreachEvent: CodedRecord {
    var type = ""
    /// When it happened, in Unix seconds.
    var timestamp = 0.0
    var properties = JSONObject()
    /// Its position among all events of the project, in order of arrival; 0 places it after all others.
    var sequence = 0

    /// The maximum length of a type in bytes (ours).
    static let longestType = 256

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("type", &type)
        coder.member("timestamp", &timestamp, or: nil, write: { .seconds($0) }, read: Double.read)
        coder.object("properties", &properties)
        var place = sequence == 0 ? nil : sequence
        coder.member("sequence", &place, in: 0...Ordinal.largest)
        sequence = place ?? 0
    }

    /// The event as the data calls return it.
    var json: JSON {
        ["type": .string(type), "timestamp": .seconds(timestamp), "properties": .object(properties)]
    }
}

extension JSON {
    /// Unix seconds, always with a fraction: the vendor's servers write `1800000000.0` (observed, its Python client).
    static func seconds(_ value: Double) -> JSON {
        // The value is always finite; otherwise write it in the plain form.
        (try? JSON.parse("\(value)".utf8)) ?? .number(JSONNumber(value))
    }
}
