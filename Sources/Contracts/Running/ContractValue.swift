internal import JSON

/// A query's result: a JSON value, or bytes.
enum ContractValue: Sendable, Hashable {
    case json(JSON)
    case bytes([UInt8])

    var shown: String {
        switch self {
        case .json(.null): "null"
        case .json(.string(let text)): "“\(text)”"
        case .json(let value): value.text
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }

    var kind: String {
        switch self {
        case .json(let value): value.isNull ? "null" : "a JSON \(value.typeName)"
        case .bytes: "bytes"
        }
    }

    var string: String? {
        if case .json(.string(let text)) = self { text } else { nil }
    }

    /// Whether both are equal: numbers by value, everything else as written.
    func equals(_ other: ContractValue) -> Bool {
        switch (self, other) {
        case (.json(let own), .json(let other)): own.isEquivalent(to: other)
        case (.bytes(let own), .bytes(let other)): own == other
        case (.json, .bytes), (.bytes, .json): false
        }
    }
}
