import JSON

/// Something that a customer did, as it was tracked.
struct BloomreachEvent: Sendable {
    /// Its type, such as `purchase`.
    let type: String
    /// When it happened, in Unix seconds.
    let timestamp: Double
    let properties: JSONObject
    /// Its place among all events of the project, in the order in which they arrived.
    let sequence: Int

    /// The event as the data calls answer it.
    var json: JSON {
        ["type": .string(type), "timestamp": .seconds(timestamp), "properties": .object(properties)]
    }
}

extension JSON {
    /// Unix seconds, always with a fraction: the vendor's servers write `1800000000.0` (observed, its Python client).
    static func seconds(_ value: Double) -> JSON {
        // A number without finite value cannot come here; it would be written as the plain form writes it.
        (try? JSON.parse("\(value)".utf8)) ?? .number(JSONNumber(value))
    }
}
