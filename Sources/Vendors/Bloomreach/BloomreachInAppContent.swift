import Emulation
import HTTPTypes
import JSON
import Wire

/// A message that an app shows over its own screens when an event occurs.
struct InAppMessage: Sendable {
    let id: String
    /// Whether only SDKs that request with `compatibility` can read its payload.
    let isRichText: Bool
    let audience: ContentAudience
    private let dateFilter: DateFilter
    private let body: PersonalBody

    /// The message as sent to a customer, in a sandbox that began at `start`. Source: observed, both SDKs; order of
    /// members as in the vendor's responses.
    func json(for customer: ContentReader, since start: Moment) -> JSON {
        guard var message = body.json(for: customer).object else { return .null }
        message["date_filter"] = dateFilter.json(since: start)
        return .object(message)
    }

    /// Reads an entry of `content/in-app-messages.yaml`.
    ///
    /// - Throws: a problem if iOS would reject the whole list, or if a payload contradicts its flags.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try Self.fields.mapping(node)
        id = try entry.required("id").string()
        isRichText = try entry.required("is_rich_text").bool()
        audience = try ContentAudience(entry["audience"])
        try Self.checkFilters(try entry.required("trigger"))
        try Self.checkPayload(of: entry, isRichText: isRichText)
        dateFilter = try DateFilter(try entry.required("date_filter"))
        // In response order; members the fixture omits are null.
        let members = Self.fields.map(\.name).filter { $0 != "audience" }
        body = try PersonalBody(.object(try entry.json(of: members)), at: node)
    }

    private static let fields: [ContentField] =
        [
            .required("id", .name), .required("name", .text),
            .nullable("message_type", .word(["modal", "alert", "fullscreen", "slide_in", "freeform"])),
            .required("frequency", .usually(.frequency)), .nullable("payload", .open([])),
            .required("variant_id", .int), .required("variant_name", .text), .required("trigger", .trigger),
            .required("date_filter", .dateFilter), .nullable("load_priority", .int), .nullable("load_delay", .int),
            .nullable("close_timeout", .int), .nullable("payload_html", .text), .required("is_html", .bool),
            .required("is_rich_text", .bool), .nullable("has_tracking_consent", .bool),
            .nullable("consent_category_tracking", .text), .optional("audience", .audience),
        ]

    // MARK: Payloads

    private static let texts = [
        "image_url", "title", "title_text_color", "title_text_size", "body_text", "body_text_color", "body_text_size",
        "background_color", "close_button_color", "message_position", "text_position",
    ]

    private static let plainPayload = ContentShape.record(
        ContentField.optional(texts, .optional(.text)) + [
            .nullable("text_over_image", .bool), .nullable("buttons", .list(of: plainButton)),
        ])

    private static let plainButton = ContentShape.record(
        [.nullable("button_type", .word(["cancel", "deep-link", "browser"]))]
            + ContentField.optional(
                ["button_text", "button_link", "button_text_color", "button_background_color"], .optional(.text)))

    private static func checkPayload(of entry: FixtureMapping, isRichText: Bool) throws(FixtureProblem) {
        if try entry.required("is_html").bool(), try entry["payload_html"]?.json().string == nil {
            throw entry.node.problem("the message has is_html true and no payload_html")
        }
        guard let payload = entry["payload"], try !payload.json().isNull else {
            if isRichText { throw entry.node.problem("the message has is_rich_text true and no payload with buttons") }
            return
        }
        try (isRichText ? ContentShape.richPayload : plainPayload).check(payload)
    }

    // MARK: Filters

    private static let everyType = ["is set", "is not set", "has value", "has no value"]

    private static func operators(of type: String) -> [String] {
        switch type {
        case "string":
            [
                "equals", "does not equal", "in", "not in", "contains", "does not contain", "starts with", "ends with",
                "regex",
            ] + everyType
        case "number": ["equal to", "in between", "not between", "less than", "greater than"] + everyType
        default: ["is"] + everyType
        }
    }

    /// Rejects operators that the constraint's type does not have, and a value in place of operands.
    private static func checkFilters(_ trigger: FixtureNode) throws(FixtureProblem) {
        let filters = try trigger.mapping("event_type", "filter").required("filter").elements()
        for filter in filters {
            let item = try filter.mapping("attribute", "constraint")
            let attribute = try item.required("attribute").mapping("type", "property")
            if try attribute.required("type").string() == "property" { _ = try attribute.required("property") }
            let constraint = try item.required("constraint").mapping("type", "operator", "operands", "value")
            let type = try constraint.required("type").string()
            try ContentShape.word(operators(of: type)).check(try constraint.required("operator"))
            if let value = constraint["value"], type != "boolean" {
                throw value.nameProblem("only constraints of type boolean have a value; expected operands")
            }
        }
    }
}

/// Messages over an app's own screens. Source: the path with `v=1` is documented (SDK page); the query of newer SDKs
/// and the bodies are observed in both.
extension Bloomreach {
    /// The lowest value of the query `compatibility` whose senders read rich payloads: iOS 3.2.0, Android 4.2.0.
    private static let richCompatibility = 3

    /// Returns all messages for a customer; the SDK decides whether and when to show one.
    static func inAppMessages(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, _) = try call.ofCustomer { body in
            if let device = body.optionalText("device"), !["ios", "android"].contains(device) {
                body.refuse("device", "device is \(device.shown), not ios or android")
            }
        }
        let project = try call.project()
        let customer = state.reader(owner, in: project)
        // ours: a client without the query cannot read rich payloads.
        let compatibility = call.arrival.queryValue("compatibility").flatMap { Int($0) } ?? 0
        let messages = call.vendor.content[project.token].inAppMessages.filter { message in
            message.audience.includes(customer) && (!message.isRichText || compatibility >= richCompatibility)
        }
        let start = state.content.begin(at: call.moment)
        return .json(["success": true, "data": .array(messages.map { $0.json(for: customer, since: start) })])
    }
}

extension BloomreachState {
    /// The reader of content that the ids name; anonymous if no customer has them.
    func reader(_ ids: BloomreachIDs, in project: BloomreachProject) -> ContentReader {
        guard let customer = customer(ids, of: project) else { return ContentReader() }
        var values = customer.properties
        for id in customer.ids.hard where values[id.name] == nil { values.append(id.name, .string(id.value)) }
        return ContentReader(registered: customer.ids[BloomreachID.registered], values: values)
    }
}

/// Who sees a message or block (ours): everyone, or customers with certain `registered` ids.
struct ContentAudience: Sendable {
    /// `nil` for everyone.
    private let registered: Set<ExactText>?

    func includes(_ customer: ContentReader) -> Bool {
        guard let registered else { return true }
        return customer.registered.map { registered.contains(ExactText($0)) } ?? false
    }

    /// Reads the member `audience`.
    init(_ node: FixtureNode?) throws(FixtureProblem) { registered = try node.map([ExactText].read).map(Set.init) }
}

/// The reader of content: the customer data that personalised content may use.
struct ContentReader: Sendable {
    /// The value of the default hard id.
    var registered: String?
    /// The properties, followed by the hard ids by name.
    var values: JSONObject = [:]
}

/// Content whose strings may contain `{{customer.NAME}}` for a property or hard id of the reader.
///
/// A string stays a string for any property type, since strict clients decode it; unknown properties are empty text.
enum PersonalBody: Sendable {
    case fixed(JSON)
    case template(BodyTemplate)

    /// Reads content to personalise; problems name `node`.
    init(_ json: JSON, at node: FixtureNode) throws(FixtureProblem) {
        guard Self.hasTag(json) else {
            self = .fixed(json)
            return
        }
        self = .template(try BodyTemplate(json, at: node, roots: ["customer"], keepsText: true))
    }

    func json(for customer: ContentReader) -> JSON {
        switch self {
        case .fixed(let json): json
        case .template(let template): template.body(["customer": .object(customer.values)])
        }
    }

    private static func hasTag(_ json: JSON) -> Bool {
        switch json {
        case .string(let text): text.contains("{{")
        case .array(let elements): elements.contains(where: hasTag)
        case .object(let object): object.contains { hasTag($0.value) }
        case .null, .bool, .number: false
        }
    }
}

/// A piece of content that an app shows in a placeholder on one of its screens.
struct ContentBlock: Sendable {
    let id: String
    let audience: ContentAudience
    /// For how many seconds a client may cache the content it requested.
    let ttlSeconds: Int
    private let dateFilter: DateFilter
    /// The entry in the bundle, but for the times of its filter, which depend on the sandbox.
    private let listing: JSONObject
    private let answer: PersonalBody

    /// The entry in the bundle, in a sandbox that began at that moment.
    func listing(since start: Moment) -> JSON {
        var listing = listing
        listing["date_filter"] = dateFilter.json(since: start)
        return .object(listing)
    }

    /// The response to a customer who requests the block.
    func json(for customer: ContentReader) -> JSON {
        audience.includes(customer)
            ? answer.json(for: customer) : Self.json(id: id, status: "filter_not_matched", ttlSeconds: ttlSeconds)
    }

    /// The response for a block that is not shown.
    static func json(id: String, status: String, ttlSeconds: Int) -> JSON {
        ["id": .string(id), "status": .string(status), "ttl_seconds": JSON(ttlSeconds)]
    }

    /// How long clients cache a response unless a block says otherwise; the vendor's responses have this value.
    static let usualTTLSeconds = 60

    /// Reads an entry of `content/content-blocks.yaml`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try Self.fields.mapping(node)
        id = try entry.required("id").string()
        audience = try ContentAudience(entry["audience"])
        // Every app gets a static block with the bundle; each customer requests a personal one.
        let isPersonal = try entry.required("delivery").string() == "personal"
        if !isPersonal, let audience = entry["audience"] {
            throw audience.nameProblem("everybody gets a static block; one with an audience has to be personal")
        }
        ttlSeconds = try entry["ttl_seconds"]?.int() ?? Self.usualTTLSeconds
        if ttlSeconds < 0 { throw node.problem("ttl_seconds is \(ttlSeconds); expected 0 or more") }
        let type = try entry.required("content_type").string()
        if type == "html" { try Self.markup.check(try entry.required("content")) }
        let content = try entry.required("content").json()
        dateFilter = try DateFilter(try entry.required("date_filter"))
        var listing = try entry.json(of: Self.listed)
        if isPersonal {
            listing["content_type"] = .null
            listing["content"] = .null
        }
        self.listing = listing
        answer = try PersonalBody(
            [
                "id": .string(id), "status": "OK", "ttl_seconds": JSON(ttlSeconds),
                "variant_id": try entry["variant_id"]?.json() ?? 0,
                "variant_name": try entry["variant_name"]?.json() ?? "Variant A",
                "has_tracking_consent": try entry["has_tracking_consent"]?.json() ?? true,
                "content_type": .string(type), "content": content,
            ], at: node)
    }

    /// Source: what iOS and Android decode, vendor SDKs; `delivery` and `audience` are ours.
    private static let fields: [ContentField] = [
        .required("id", .name), .required("name", .text), .required("delivery", .word(["static", "personal"])),
        .required("date_filter", .dateFilter), .required("frequency", .frequency), .nullable("load_priority", .int),
        .required("content_type", .word(["html", "native"])), .required("content", .open([])),
        .nullable("consent_category_tracking", .text), .required("placeholders", .list(of: .name)),
        .optional("ttl_seconds", .int), .optional("variant_id", .int), .optional("variant_name", .text),
        .optional("has_tracking_consent", .bool), .optional("audience", .audience),
    ]

    private static let markup = ContentShape.record([.required("html", .text)])

    /// The members in the bundle, in its order.
    private static let listed = [
        "id", "name", "date_filter", "frequency", "load_priority", "content_type", "content",
        "consent_category_tracking", "placeholders",
    ]
}

/// Content blocks for placeholders in an app's own screens. Source: observed, both SDKs.
extension Bloomreach {
    /// The maximum number of ids per call (ours), since each may return all of its content.
    private static let maximumBlocks = 500

    /// Returns the bundle that every app of the project gets; customers request blocks without content themselves.
    static func staticBlocks(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let blocks = call.vendor.content[try call.project().token].blocks
        let start = state.content.begin(at: call.moment)
        return .json(["success": true, "in_app_content_blocks": .array(blocks.map { $0.listing(since: start) })])
    }

    /// Returns a customer's content for blocks: one entry per id, in the order of the request, including repeats.
    static func personalBlocks(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, asked) = try call.ofCustomer { body in
            let asked = body.texts("content_block_ids", isRequired: true) ?? []
            if asked.count > maximumBlocks {
                body.refuse("content_block_ids", "\(asked.count) ids; expected at most \(maximumBlocks)")
            }
            return asked
        }
        let project = try call.project()
        let customer = state.reader(owner, in: project)
        let blocks = call.vendor.content[project.token].blocks
        var entries = BoundedList()
        for id in asked {
            try entries.append(
                blocks.first { $0.id.hasSameBytes(as: id) }?.json(for: customer)
                    ?? ContentBlock.json(id: id, status: "does_not_exist", ttlSeconds: ContentBlock.usualTTLSeconds))
        }
        return answer(["success": true, "data": .array(entries.entries)], unlessKnownTo: call.request)
    }

    /// A response with an `ETag`, or 304 if the client has it already: by weak comparison (RFC 9110, section 13.1.2).
    private static func answer(_ json: JSON, unlessKnownTo request: Request) -> Reply {
        var response = Response.json(json)
        let tag = "\"\(response.body.stableHash.hexadecimal)\""
        // These tags contain neither blanks nor commas.
        let isKnown = request.fields.elements(of: .ifNoneMatch).contains { element in
            let known = element.prefix { $0 != " " && $0 != "\t" }
            return known == "*" || known == tag || known == "W/" + tag
        }
        if isKnown { response = .empty(.notModified) }
        response.fields[.eTag] = tag
        return .respond(response)
    }
}
