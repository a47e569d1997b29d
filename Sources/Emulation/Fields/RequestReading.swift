package import JSON
import Synchronization
package import Tokens
import Wire

/// Keeps what is read of a request, so that the journal can say what nobody read.
public protocol ReadingLedger: AnyObject, Sendable {
    /// Whether all names are kept, even of a request whose every field was read.
    var describesReading: Bool { get }
    /// Notes that every field of the query or of the content was read, or that the vendor accepts any.
    func note(_ parts: ReadParts)
    /// Changes what is known of the names that were asked for.
    func update(_ change: (inout RequestReading) -> Void)
}

extension ReadingLedger {
    /// Notes that a name was asked for, in the query or in a form.
    package func note(_ name: String, inQuery isInQuery: Bool) { update { $0[isQuery: isInQuery].names.append(name) } }

    @usableFromInline
    func note(namesOf reader: FieldReader) {
        guard let schema = reader.schema?.json else { return }
        update { reading in
            let known = reading[isQuery: reader.isQuery].schema
            reading[isQuery: reader.isQuery].schema = known.map { FieldSchema.merged($0, schema) } ?? schema
        }
    }
}

public struct ReadParts: OptionSet, Sendable {
    /// Every field of the content.
    public static let content = ReadParts(rawValue: 1)
    /// Every field of the query.
    public static let query = ReadParts(rawValue: 2)
    /// Names that were asked for one by one, or beside others.
    public static let others = ReadParts(rawValue: 4)

    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// What was asked for in a request of which some field may have been left: most requests have none, so that an exchange keeps a
/// reference at most.
@usableFromInline
package final class KeptReading: Sendable {
    private let reading = Mutex(RequestReading())

    package var current: RequestReading { reading.withLock(\.self) }

    func update(_ change: (inout RequestReading) -> Void) { reading.withLock { change(&$0) } }
}

/// What was asked for in a request: in its content, and in its query.
public struct RequestReading: Sendable {
    public struct Part: Sendable {
        /// The names that were asked for one by one, in a query or a form.
        public var names: [String] = []
        /// What readers asked for, as JSON Schema; kept when some field was left.
        package fileprivate(set) var schema: JSONObject?

        @usableFromInline init() {}

        /// The fields of a request that nobody read.
        ///
        /// - Parameter others: names that pass although nobody reads them.
        func unread(of fields: JSONObject, _ place: String, besides others: [String]) -> [UnreadField] {
            var found: [UnreadField] = []
            let names = names + others
            let known = FieldSchema.merged(schema ?? [:], ["properties": .object(JSONObject(names.map { ($0, [:]) }))])
            FieldSchema.addUnread(of: .object(fields), .object(known), at: "", in: place, to: &found)
            return found
        }
    }

    public var content = Part()
    public var query = Part()

    @usableFromInline init() {}

    subscript(isQuery isQuery: Bool) -> Part {
        get { isQuery ? query : content }
        set { if isQuery { query = newValue } else { content = newValue } }
    }

    /// An estimate of the memory that it takes besides itself, in bytes.
    var byteCount: Int {
        [content, query].reduce(0) { bytes, part in
            bytes + 16 * part.names.capacity + (part.schema.map { 4 * JSON.object($0).bytes.count } ?? 0)
        }
    }
}

struct UnreadField {
    /// Where it stands in its part of the request, such as `points.0.lat`; empty for the content itself.
    let path: String
    /// The part in words, unless it is the body.
    let place: String
    /// The nearest name that was asked for; `nil` when none is near.
    let nearest: String?

    private var name: String { path.isEmpty ? "the content" : "\"\(path.prefix(100))\"\(place)" }

    /// How many are named in a remark; the rest are counted.
    private static let most = 10

    static func remark(on fields: [UnreadField]) -> String {
        if fields.count == 1 {
            return "\(fields[0].name) is read by nobody" + (fields[0].nearest.map { "; did you mean \"\($0)\"?" } ?? "")
        }
        let names = fields.prefix(most).map { field in
            field.name + (field.nearest.map { " (did you mean \"\($0)\"?)" } ?? "")
        }
        let more = fields.count > most ? ["\(fields.count - most) more"] : []
        return "\((names + more).joined(separator: ", ")) are read by nobody"
    }
}

extension JournalEntry {
    /// The remark on fields of an accepted request that nobody read.
    package var unread: Finding? {
        guard record.failure == nil, let read = record.read, let traits = record.traits else { return nil }
        let reading = record.reading?.current ?? RequestReading()
        var fields = unreadFieldLines(besides: traits.identity?.unreadFields ?? [])
        let others = record.route.flatMap { traits.identity?.unreadParameters[$0] } ?? []
        if request.query != nil, !read.contains(.query) {
            let items = request.queryItems.map { ($0.name, JSON.string($0.value)) }
            fields += reading.query.unread(of: JSONObject(items), " in the query", besides: others)
        }
        if !request.body.isEmpty, !read.contains(.content), let content {
            fields += reading.content.unread(of: content, "", besides: others)
        }
        if fields.isEmpty { return nil }
        return Finding("unread", .noted, note: UnreadField.remark(on: fields), source: "ours")
    }

    /// The members of the content, or the items of a form; `nil` for content of another form.
    private var content: JSONObject? {
        // First, since curl sends JSON as a form unless it is told otherwise.
        switch try? JSON.parse(request.body) {
        case .object(let object): return object
        case .array(let elements): return elements.isEmpty ? nil : [FieldReader.elements: .array(elements)]
        default:
            let form = request.formItems
            return form.isEmpty ? nil : JSONObject(form.map { ($0.name, .string($0.value)) })
        }
    }

    /// The field lines of the vendor's own that it does not know.
    private func unreadFieldLines(besides known: [String]) -> [UnreadField] {
        let prefixes = known.filter { $0.utf8.last == UInt8(ascii: "-") }
        if prefixes.isEmpty { return [] }
        let names = request.fields.map { $0.name.lowercased() }
        let missing = known.filter { !prefixes.contains($0) && !names.contains($0) }
        return names.filter { name in
            prefixes.contains { name.hasPrefix($0) } && !known.contains(name)
        }.map { name in
            UnreadField(
                path: name, place: " in the header", nearest: Nearest.names(to: name, among: missing, count: 1).first)
        }
    }
}

/// The fields that a recipient asks for, as JSON Schema.
package final class FieldSchema {
    private var properties: JSONObject = [:]
    private var required: [JSON] = []
    var takesOthers = false

    func add(_ name: String, _ expected: JSONObject, isRequired: Bool) {
        properties[name] = .object(Self.merged(properties[name]?.object ?? [:], expected))
        if isRequired, !required.contains(.string(name)) { required.append(.string(name)) }
    }

    func has(_ name: String) -> Bool { properties[name] != nil }

    var json: JSONObject {
        var schema: JSONObject = ["type": "object"]
        if !required.isEmpty { schema["required"] = .array(required) }
        if !properties.isEmpty { schema["properties"] = .object(properties) }
        if takesOthers { schema["additionalProperties"] = true }
        return schema
    }

    package static func merged(_ schema: JSONObject, _ other: JSONObject) -> JSONObject {
        var schema = schema
        for member in other {
            if let own = schema[member.name]?.object, let others = member.value.object {
                schema[member.name] = .object(merged(own, others))
            } else if member.name == "required", let own = schema[member.name]?.array {
                schema[member.name] = .array(own + (member.value.array ?? []).filter { !own.contains($0) })
            } else {
                schema[member.name] = member.value
            }
        }
        return schema
    }

    static func text(orNull isNullable: Bool, _ minimum: Int?, _ maximum: Int?) -> JSONObject {
        var schema: JSONObject = ["type": isNullable ? ["string", "null"] : "string"]
        if let minimum, minimum > 0 { schema["minLength"] = JSON(minimum) }
        if let maximum { schema["maxLength"] = JSON(maximum) }
        return schema
    }

    static func number(_ type: String, _ minimum: JSON, _ maximum: JSON) -> JSONObject {
        ["type": .string(type), "minimum": minimum, "maximum": maximum]
    }

    /// Adds the members of a value that a schema does not have; what has no properties there may have any.
    static func addUnread(
        of value: JSON, _ schema: JSON, at path: String, in place: String, to found: inout [UnreadField]
    ) {
        func below(_ name: String) -> String { path.isEmpty ? name : name.isEmpty ? path : "\(path).\(name)" }
        if let object = value.object, let known = schema["properties"]?.object {
            for member in object {
                if let own = known[member.name] {
                    addUnread(of: member.value, own, at: below(member.name), in: place, to: &found)
                } else if schema["additionalProperties"] == nil {
                    let missing = known.lazy.map(\.name).filter { object[$0] == nil }
                    let nearest =
                        found.count < 10 ? Nearest.names(to: member.name, among: missing, count: 1).first : nil
                    found.append(UnreadField(path: below(member.name), place: place, nearest: nearest))
                }
            }
        } else if let elements = value.array, let items = schema["items"] {
            for (index, element) in elements.enumerated() {
                addUnread(of: element, items, at: below("\(index)"), in: place, to: &found)
            }
        }
    }
}
