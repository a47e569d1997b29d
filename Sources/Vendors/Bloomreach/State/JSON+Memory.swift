import JSON

/// Roughly what values take in memory; a value weighs several times its text.
extension JSON {
    /// What the value takes beyond its own place.
    var heapByteCount: Int {
        switch self {
        case .null, .bool: 0
        case .number(let number): number.literal.heapByteCount
        case .string(let text): text.heapByteCount
        case .array(let elements):
            // Arrays that grew while they were read have up to half of their room to spare.
            elements.isEmpty
                ? 0
                : 48 + elements.count * MemoryLayout<JSON>.stride * 3 / 2 + elements.reduce(0) { $0 + $1.heapByteCount }
        case .object(let object): object.heapByteCount
        }
    }
}

extension JSONObject {
    /// What the members take.
    var heapByteCount: Int {
        if isEmpty { return 0 }
        let places = 48 + Swift.max(count, 4) * MemoryLayout<Member>.stride
        return reduce(places) { $0 + $1.name.heapByteCount + $1.value.heapByteCount }
    }
}

extension String {
    /// What the text takes; up to 15 bytes lie in the value itself.
    var heapByteCount: Int { utf8.count <= 15 ? 0 : 48 + utf8.count }
}
