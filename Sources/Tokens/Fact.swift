public import JSON

/// What a check expected or found, as a value that becomes text only when read.
///
/// Large cases are indirect, so that findings stay cheap to copy.
public enum Fact: Sendable, Hashable {
    case text(String)
    case json(JSON)
    /// A time in Unix seconds.
    case time(Double)
    /// A later time, in Unix seconds.
    case timeAfter(Double)
    /// That time or an earlier one, in Unix seconds.
    case timeUpTo(Double)
    /// At most that many bytes.
    case bytesUpTo(Int)
    /// A duration in seconds.
    case seconds(Double)
    case count(Int)
    /// One of several texts.
    case anyOf([String])
    case algorithm(Algorithm)
    /// One of several algorithms.
    case algorithms([Algorithm])
    /// Names that are misplaced or repeated.
    case repeated([String])
    case types(ValueTypes)
    indirect case key(KeyKind, id: String?, Algorithm)
    case absent
    /// Nothing, in words that say what is missing: `no Authorization header`.
    case nothing(String)
    case encoding(Base64URL.Fault)
    indirect case syntax(JSONError)
}

extension Fact: CustomStringConvertible {
    /// The fact for people; a time as a number and in RFC 3339.
    public var description: String {
        switch self {
        case .text(let text): text.isEmpty ? "an empty text" : text
        case .json(let value): value.text
        case .time(let seconds): "\(JSONNumber((seconds * 1000).rounded(.down) / 1000)) (\(UnixTime.text(of: seconds)))"
        case .timeAfter(let seconds): "later than \(Fact.time(seconds))"
        case .bytesUpTo(let count): "at most \(count) bytes"
        case .timeUpTo(let seconds): "no later than \(Fact.time(seconds))"
        case .seconds(let seconds): "\(JSONNumber(seconds)) s"
        case .count(let count): String(count)
        case .anyOf(let texts): texts.joined(separator: " or ")
        case .algorithm(let algorithm): algorithm.rawValue
        case .algorithms(let algorithms): algorithms.map(\.rawValue).joined(separator: " or ")
        case .repeated(let names): names.joined(separator: ", ")
        case .types(let types): types.description
        case .key(let kind, let id, let algorithm):
            "\(algorithm.rawValue) by \(kind)" + (id.map { " “\($0)”" } ?? "")
        case .absent: "nothing"
        case .nothing(let words): words
        case .encoding(let fault): fault.description
        case .syntax(let error): error.description
        }
    }

    /// The fact for programs: token values as they are, counts as numbers, lists as arrays, nothing as null, other
    /// facts as text.
    public var json: JSON {
        switch self {
        case .json(let value): value
        case .count(let count): JSON(count)
        case .anyOf(let texts): .array(texts.map(JSON.string))
        case .algorithms(let algorithms): .array(algorithms.map { .string($0.rawValue) })
        case .absent, .nothing: nil
        case .repeated(let names): .array(names.map(JSON.string))
        case .text, .time, .timeAfter, .timeUpTo, .seconds, .bytesUpTo, .encoding, .syntax, .types, .key, .algorithm:
            .string(description)
        }
    }
}
