import Emulation
import JSON

/// A piece of content that an app shows in a placeholder on one of its screens.
struct ContentBlock: Sendable {
    /// How an app gets the content.
    enum Delivery: String, CaseIterable {
        /// The bundle contains it, and every app gets the bundle.
        case `static`
        /// The bundle omits it; each customer requests it.
        case personal
    }

    let id: String
    let audience: ContentAudience
    /// For how many seconds a client may cache the content it requested.
    let ttlSeconds: Int
    private let dateFilter: DateFilter
    private let entry: JSONObject
    private let answer: PersonalBody

    /// The entry in the bundle, in a sandbox that began at that moment.
    func listing(since start: Moment) -> JSON {
        var entry = entry
        entry["date_filter"] = dateFilter.json(since: start)
        return .object(entry)
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
}

extension ContentBlock {
    /// Reads an entry of `content/content-blocks.yaml`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        try Self.shape.check(node)
        let entry = try node.mapping(Self.fields.map(\.name))
        id = try entry.required("id").string()
        audience = try ContentAudience(entry["audience"])
        let delivery = try entry.required("delivery").choice(of: Delivery.self)
        if delivery == .static, let audience = entry["audience"] {
            throw audience.nameProblem("everybody gets a static block; one with an audience has to be personal")
        }
        ttlSeconds =
            try entry["ttl_seconds"].map { node throws(FixtureProblem) in try node.int() } ?? Self.usualTTLSeconds
        if ttlSeconds < 0 { throw node.problem("ttl_seconds is \(ttlSeconds); expected 0 or more") }
        let type = try entry.required("content_type").string()
        if type == "html" { try Self.markup.check(try entry.required("content")) }
        let content = try entry.required("content").json()
        dateFilter = try DateFilter(try entry.required("date_filter"))
        self.entry = try Self.listing(entry, delivery == .static ? (.string(type), content) : (.null, .null))
        answer = try PersonalBody(
            [
                "id": .string(id), "status": "OK", "ttl_seconds": JSON(ttlSeconds),
                "variant_id": try entry["variant_id"]?.json() ?? 0,
                "variant_name": try entry["variant_name"]?.json() ?? "Variant A",
                "has_tracking_consent": try entry["has_tracking_consent"]?.json() ?? true,
                "content_type": .string(type), "content": content,
            ], at: node)
    }

    private static let shape = ContentShape.record(fields)

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

    private static func listing(
        _ entry: FixtureMapping, _ delivered: (type: JSON, content: JSON)
    ) throws(FixtureProblem) -> JSONObject {
        [
            "id": try entry.required("id").json(), "name": try entry.required("name").json(),
            // Reserves the member's position; its times depend on the sandbox.
            "date_filter": .null,
            "frequency": try entry.required("frequency").json(),
            "load_priority": try entry["load_priority"]?.json() ?? .null, "content_type": delivered.type,
            "content": delivered.content,
            "consent_category_tracking": try entry["consent_category_tracking"]?.json() ?? .null,
            "placeholders": try entry.required("placeholders").json(),
        ]
    }
}
