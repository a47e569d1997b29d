internal import JSON

/// One part of a token: its bytes, and any fault in their encoding.
struct EncodedPart: Sendable {
    /// The bytes; for a faulty part, what a lenient reader makes of it, if anything.
    let bytes: [UInt8]?
    let fault: Base64URL.Fault?

    init(_ text: ArraySlice<UInt8>) {
        do throws(Base64URL.Fault) {
            bytes = try Base64URL.decode(text)
            fault = nil
        } catch {
            bytes = Base64URL.decodeLeniently(text)
            fault = error
        }
    }

    /// Whether a reader with that encoding accepts the part.
    func isAcceptable(_ encoding: CompactToken.Encoding) -> Bool {
        fault == nil || encoding == .lenient && bytes != nil
    }
}

/// A part that should be a JSON object.
///
/// A class, since tokens are copied and tokens with the same header share it.
final class ObjectPart: Sendable {
    /// Why there is no object.
    enum Fault: Sendable {
        case syntax(JSONError)
        case otherType(String)
    }

    let encoded: EncodedPart
    let object: JSONObject?
    let fault: Fault?
    /// The paths of repeated members, at any depth.
    let duplicates: [String]

    init(_ text: ArraySlice<UInt8>, depth: Int) {
        encoded = EncodedPart(text)
        guard let bytes = encoded.bytes else {
            (object, fault, duplicates) = (nil, nil, [])
            return
        }
        do throws(JSONError) {
            let value = try JSON.parse(bytes, maximumDepth: depth)
            object = value.object
            fault = value.object == nil ? .otherType(value.typeName) : nil
            duplicates = value.duplicatePaths
        } catch {
            (object, fault, duplicates) = (nil, .syntax(error), [])
        }
    }
}

extension JSON {
    /// The paths of members repeated within their object, such as `sub.registered`.
    var duplicatePaths: [String] {
        // There are almost never any, which this check finds without building a list.
        guard repeatsNames else { return [] }
        switch self {
        case .null, .bool, .number, .string: return []
        case .array(let elements): return elements.flatMap(\.duplicatePaths)
        case .object(let object):
            let inner = object.flatMap { member in member.value.duplicatePaths.map { "\(member.name).\($0)" } }
            return object.duplicateNames + inner
        }
    }
}
