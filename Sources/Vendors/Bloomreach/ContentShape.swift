import Emulation
import JSON

/// The required shape of a value in a content file; some clients reject a whole list for one wrong member.
///
/// The JSON Schemas beside the fixtures say the same for editors; a test compares the two.
indirect enum ContentShape: Sendable {
    case text
    /// A non-empty string.
    case name
    case bool
    /// A size such as `22px`.
    case pixels
    case int
    case number
    case time
    /// The same, but Unix seconds must be whole.
    case wholeTime
    case word([String])
    case optional(ContentShape)
    /// A text that is usually of this shape; another one loads with a remark, since the vendor's own messages have some.
    case usually(ContentShape)
    /// A member of an older version, which no app reads; the name is that of today.
    case former(String)
    /// A mapping, or a list of mappings.
    case mappings
    /// A list with a minimum length.
    case list(of: ContentShape, atLeast: Int = 0)
    /// A mapping with only these members.
    case record([ContentField])
    /// A mapping with these members and any others.
    case open([ContentField])
    /// A mapping from any names to this shape.
    case map(ContentShape)

    /// Rejects a value of another shape, and says where it is.
    func check(_ node: FixtureNode) throws(FixtureProblem) {
        switch self {
        case .text: _ = try node.string()
        case .name: if try node.string().isEmpty { throw node.problem("the string is empty") }
        case .bool: _ = try node.bool()
        case .pixels:
            let size = try node.string()
            let numbers = size.dropLast(2).split(separator: ".", omittingEmptySubsequences: false)
            guard size.hasSuffix("px"), numbers.count <= 2,
                numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) })
            else {
                throw node.problem("“\(size)” is not a size in pixels, such as 22px; iOS reads 0 from any other unit")
            }
        case .int: _ = try node.int()
        case .number: _ = try node.number()
        case .time: _ = try ContentTime.read(node)
        case .wholeTime:
            if try node.json().string == nil { _ = try node.int() }
            _ = try ContentTime.read(node)
        case .word(let words): try Self.check(try node.string(), among: words, at: node)
        case .usually(let shape):
            _ = try node.string()
            do throws(FixtureProblem) { try shape.check(node) } catch { node.warn(error.message) }
        case .former(let name): node.warn("no app reads this member; it is \(name) now")
        case .mappings:
            let isList = try node.json().array != nil
            try (isList ? ContentShape.list(of: .open([])) : .open([])).check(node)
        case .optional(let shape): if try !node.json().isNull { try shape.check(node) }
        case .list(let shape, let minimum): try Self.check(try node.elements(), shape, atLeast: minimum, at: node)
        case .record(let fields): _ = try fields.mapping(node)
        case .open(let fields): try fields.check(try node.mapping(try node.members().map(\.name)))
        case .map(let shape): for (_, value) in try node.members() { try shape.check(value) }
        }
    }

    private static func check(_ text: String, among words: [String], at node: FixtureNode) throws(FixtureProblem) {
        guard !words.contains(text) else { return }
        throw node.problem(
            "“\(text)” is not one of \(words.joined(separator: ", "))\(Nearest.hint(to: text, among: words))")
    }

    private static func check(
        _ elements: FixtureElements, _ shape: ContentShape, atLeast minimum: Int, at node: FixtureNode
    ) throws(FixtureProblem) {
        guard elements.count >= minimum else {
            throw node.problem("the list has \(elements.count) elements; expected at least \(minimum)")
        }
        for element in elements { try shape.check(element) }
    }
}

/// A member of a mapping in a content file.
struct ContentField: Sendable {
    let name: String
    let shape: ContentShape
    let isRequired: Bool

    static func required(_ name: String, _ shape: ContentShape) -> ContentField {
        ContentField(name: name, shape: shape, isRequired: true)
    }

    /// A member that may be absent.
    static func optional(_ name: String, _ shape: ContentShape) -> ContentField {
        ContentField(name: name, shape: shape, isRequired: false)
    }

    /// A member that may be absent or null.
    static func nullable(_ name: String, _ shape: ContentShape) -> ContentField { .optional(name, .optional(shape)) }

    /// Members that may be absent, all of the same shape.
    static func optional(_ names: [String], _ shape: ContentShape) -> [ContentField] {
        names.map { .optional($0, shape) }
    }
}

extension [ContentField] {
    /// The mapping here, which must have these members and no others.
    func mapping(_ node: FixtureNode) throws(FixtureProblem) -> FixtureMapping {
        let mapping = try node.mapping(map(\.name))
        try check(mapping)
        return mapping
    }

    fileprivate func check(_ mapping: FixtureMapping) throws(FixtureProblem) {
        for field in self {
            if let value = mapping[field.name] {
                try field.shape.check(value)
            } else if field.isRequired {
                _ = try mapping.required(field.name)
            }
        }
    }
}

extension FixtureMapping {
    /// The members of these names as JSON, in that order; null for absent ones.
    func json(of names: [String]) throws(FixtureProblem) -> JSONObject {
        var object = JSONObject()
        for name in names { object.append(name, try self[name]?.json() ?? .null) }
        return object
    }
}

/// Shapes shared by several kinds of content. Source: what iOS and Android decode, vendor SDKs.
extension ContentShape {
    /// When a message or block is shown; the SDKs evaluate it.
    static let dateFilter = ContentShape.record([
        .required("enabled", .bool), .nullable("from_date", .wholeTime), .nullable("to_date", .wholeTime),
    ])

    /// How often a message or block is shown; the SDKs evaluate it.
    static let frequency = ContentShape.word(["always", "only_once", "once_per_visit", "until_visitor_interacts"])

    /// The `registered` ids that get a message or block (ours); absent for everyone.
    static let audience = ContentShape.list(of: .name, atLeast: 1)

    /// The event that shows an in-app message.
    static let trigger = ContentShape.record([
        .required("event_type", .name), .required("filter", .list(of: eventFilter)),
    ])

    /// A condition on a property of the event; one of an unknown type breaks the whole list on iOS.
    ///
    /// ``InAppMessage`` checks which operators a type allows.
    private static let eventFilter = ContentShape.record([
        .required(
            "attribute", .record([.required("type", .word(["property", "timestamp"])), .optional("property", .text)])),
        .required(
            "constraint",
            .record([
                .required("type", .word(["string", "number", "boolean"])), .required("operator", .text),
                .optional("operands", .list(of: operand)), .optional("value", .word(["true", "false"])),
            ])),
    ])

    private static let operand = ContentShape.record([
        .required("type", .word(["constant"])), .required("value", .text),
    ])
}

/// The payload of an in-app message in the styles of newer SDKs.
///
/// Source: observed, the members that the iOS SDK decodes and the Android SDK names, all optional except the buttons
/// and their texts, which iOS requires. Sizes are texts in `px`: iOS reads 0 from any other unit.
extension ContentShape {
    static let richPayload = ContentShape.record(
        [.required("buttons", .list(of: richButton))] + ContentField.optional(texts, .optional(.text))
            + ContentField.optional(sizes, .optional(.usually(.pixels)))
            + ContentField.optional(truths, .optional(.bool)) + ContentField.optional(formats, formatWords))

    private static let richButton = ContentShape.record(
        [
            .required("button_text", .text), .nullable("button_type", .word(["cancel", "deep-link", "browser"])),
            .nullable("button_enabled", .bool), .nullable("button_has_border", .bool),
            .optional("button_action_type", .former("button_type")), .optional("button_action", .former("button_link")),
        ]
            + ContentField.optional(
                [
                    "button_link", "button_text_color", "button_background_color", "button_width", "button_margin",
                    "button_padding", "button_align", "button_border_color", "button_font_url",
                ], .optional(.text))
            + ContentField.optional(
                ["button_corner_radius", "button_border_width", "button_font_size", "button_line_height"],
                .optional(.usually(.pixels)))
            // iOS and Android use different names.
            + ContentField.optional(["button_format", "button_font_format"], formatWords))

    private static let formatWords = ContentShape.optional(.list(of: .text))

    private static let texts = [
        "image_url", "image_size", "image_margin", "image_object_fit", "image_aspect_ratio_width",
        "image_aspect_ratio_height", "overlay_color", "title", "title_align", "title_text_color", "title_font_url",
        "title_padding", "body_text", "body_align", "body_text_color", "body_font_url", "body_padding",
        "close_button_margin", "close_button_image_url", "close_button_background_color", "close_button_color",
        "background_color", "container_margin", "container_padding", "buttons_align", "text_position",
        "message_position",
    ]

    private static let sizes = [
        "image_corner_radius", "title_text_size", "title_line_height", "body_text_size", "body_line_height",
        "container_corner_radius",
    ]

    private static let truths = [
        "image_enabled", "image_overlay_enabled", "text_over_image", "title_enabled", "body_enabled",
        "close_button_enabled",
    ]

    private static let formats = ["title_format", "body_format"]
}

/// A time in content: Unix seconds, or a duration since a sandbox first served content (ours).
///
/// Durations keep fixtures valid in any year: an inbox whose messages had all expired would be empty.
enum ContentTime: RecordValue, Sendable, Hashable {
    /// Unix seconds, as written.
    case at(JSONNumber)
    /// Seconds since the sandbox began; negative before that.
    case after(seconds: Double)

    /// Reads a number, or a text such as `30d` or `-90s`.
    static func read(_ node: FixtureNode) throws(FixtureProblem) -> ContentTime {
        guard let text = try node.json().string else {
            _ = try node.moment()
            // A moment is always read from a number.
            return .at(try node.json().number ?? JSONNumber(0))
        }
        guard let duration = Duration(text: text) else {
            throw node.problem("“\(text)” is neither Unix seconds nor a duration such as 30d or -90s")
        }
        // Times are exposed to the millisecond; rounding also avoids an exponent in the text.
        return .after(seconds: (duration.inSeconds * 1000).rounded() / 1000)
    }

    /// Unix seconds in a sandbox that began at `start`, to the millisecond.
    func number(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(((start.unixSeconds + seconds) * 1000).rounded() / 1000)
        }
    }

    /// The same in whole seconds, rounded down.
    func whole(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(Moment(unixSeconds: start.unixSeconds + seconds).wholeSeconds)
        }
    }

    var written: JSON {
        switch self {
        case .at(let number): .number(number)
        case .after(let seconds): .string("\(JSONNumber(seconds))s")
        }
    }
}

/// The time range in which a message or block is shown; the SDKs evaluate it. Source: observed, both SDKs.
struct DateFilter: Sendable {
    private let isEnabled: Bool
    private let from: ContentTime?
    private let to: ContentTime?

    /// Reads a filter; an absent bound is open.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("enabled", "from_date", "to_date")
        isEnabled = try entry.required("enabled").bool()
        from = try Self.time(entry["from_date"])
        to = try Self.time(entry["to_date"])
    }

    private static func time(_ node: FixtureNode?) throws(FixtureProblem) -> ContentTime? {
        guard let node, try !node.json().isNull else { return nil }
        return try .read(node)
    }

    /// The filter as sent in a sandbox that began at `start`; an open bound is null.
    func json(since start: Moment) -> JSON {
        [
            "enabled": .bool(isEnabled), "from_date": from.map { .number($0.whole(since: start)) } ?? .null,
            "to_date": to.map { .number($0.whole(since: start)) } ?? .null,
        ]
    }
}
