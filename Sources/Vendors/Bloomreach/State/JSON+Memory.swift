import JSON

/// An estimate of the memory of JSON values; a value takes several times its text.
extension JSON {
    var heapByteCount: Int {
        switch self {
        case .null, .bool: 0
        case .number(let number): number.literal.heapByteCount
        case .string(let text): text.heapByteCount
        case .array(let elements):
            // Arrays that grew during parsing have up to half of their capacity to spare.
            elements.isEmpty
                ? 0
                : 48 + elements.count * MemoryLayout<JSON>.stride * 3 / 2 + elements.reduce(0) { $0 + $1.heapByteCount }
        case .object(let object): object.heapByteCount
        }
    }
}

extension JSONObject {
    var heapByteCount: Int {
        if isEmpty { return 0 }
        let places = 48 + Swift.max(count, 4) * MemoryLayout<Member>.stride
        return reduce(places) { $0 + $1.name.heapByteCount + $1.value.heapByteCount }
    }
}

extension String {
    /// The heap memory of the text; up to 15 bytes are stored inline.
    var heapByteCount: Int { utf8.count <= 15 ? 0 : 48 + utf8.count }
}
