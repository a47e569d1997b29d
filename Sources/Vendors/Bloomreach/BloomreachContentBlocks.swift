import Emulation
import HTTPTypes
import JSON
import Wire

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
}

extension ContentBlock {
    /// Reads an entry of `content/content-blocks.yaml`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try Self.fields.mapping(node)
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
        var listing = JSONObject()
        for name in Self.listed { listing.append(name, try entry[name]?.json() ?? .null) }
        if delivery == .personal {
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
