import Emulation
import JSON
import Tokens
import Wire

/// The consent categories. Source: POST is documented (SDK page), GET is what every SDK sends; a body is ignored.
extension Bloomreach {
    static func consents(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let categories = call.vendor.content.consentCategories(of: try call.project().token)
        return .json(["success": true, "results": .array(categories.map(\.json))])
    }
}

struct ConsentCategory: Sendable {
    let id: String
    let json: JSON

    /// Reads an entry of `content/consents.yaml`. Source: what iOS decodes; it refuses a list with a wrong entry.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try Self.fields.mapping(node)
        id = try entry.required("id").string()
        json = .object(try entry.json(of: Self.fields.map(\.name)))
    }

    private static let fields: [ContentField] = [
        .required("id", .name), .required("legitimate_interest", .bool),
        .required(
            "sources",
            .record(
                ["crm", "import", "page", "private_api", "public_api", "scenario"].map { .required($0, .bool) }
                    + [.optional("list_unsubscribe", .bool)])),
        // The language may be the empty string.
        .required("translations", .map(.map(.optional(.text)))),
    ]
}

/// An event that gives or revokes a customer's consent to a category.
///
/// Source: documented, page on tracking consent: events of type `consent` with `action` (`accept`, `reject`),
/// `category` and `valid_until` (`unlimited`, or Unix seconds; required to accept); one that lacks any of them or has
/// another action revokes. That the attribute changes at once is inferred; ignoring categories of no project is ours.
struct ConsentEvent {
    static let type = "consent"

    let category: String
    private let isAccepted: Bool
    /// In Unix seconds, perhaps infinite; `nil` if absent or unreadable.
    private let end: Double?

    /// Reads an event's properties; `nil` if they name no category.
    init?(_ properties: JSONObject) {
        guard let category = properties["category"]?.string else { return nil }
        self.category = category
        isAccepted = properties["action"]?.string == "accept"
        let until = properties["valid_until"]
        end = until?.string == "unlimited" ? .infinity : NumericDate(until).value
    }

    /// Whether the customer consents from this moment on. A later end does not revoke it (ours).
    func isGiven(at moment: Moment) -> Bool { isAccepted && end.map { moment.unixSeconds < $0 } ?? false }

    func finding(isKnown: Bool, in project: String, at moment: Moment) -> Finding {
        let note =
            if !isKnown {
                "There is no such category, so nothing changes."
            } else if isGiven(at: moment) {
                "The customer agrees from now on."
            } else if isAccepted, end == nil {
                "The customer no longer agrees: to accept needs valid_until, unlimited or Unix seconds."
            } else {
                "The customer no longer agrees."
            }
        return Finding(
            "consent", .noted, expected: .text("a consent category of \(project)"), found: .text(category), note: note,
            source: "page on tracking consent; that the attribute follows inferred")
    }
}

struct CustomerConsents: CodedRecord, Equatable {
    /// By category; `false` if never set.
    var categories: [String: Bool] = [:]

    mutating func code(_ coder: inout RecordCoder) {
        coder.member(
            "consents", &categories, or: nil,
            write: { .object(JSONObject($0.sorted { $0.key < $1.key }.map { ($0.key, .bool($0.value)) })) }
        ) { (node) throws(FixtureProblem) in
            var categories: [String: Bool] = [:]
            for (category, value) in try node.members() { categories[category] = try value.bool() }
            return categories
        }
    }
}

/// The segments of a customer. Source: observed, both SDKs; the vendor's only response without `success`.
extension Bloomreach {
    /// Returns the segments of the customer with a cookie; none for an unknown cookie.
    static func segments(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        guard let cookie = cookie(call.arrival), !cookie.isEmpty else {
            throw missing(BloomreachID.cookie, expected: "the cookie of a customer in the query")
        }
        let project = try call.project()
        let ids = BloomreachIDs(cookie: cookie, hard: [])
        guard let customer = state.customer(ids, of: project) else { return .json([:]) }
        // A token must belong to the cookie's owner (ours); an unknown cookie has no owner to compare.
        if call.credentials.isStream || call.switches.customerTokenBinding != .off, let owner = call.credentials.ids {
            var found = customer.ids
            found.cookie = cookie
            try call.judge(found.containsAll(of: owner), owner, found)
        }
        let key = BloomreachCustomerKey(project: project.token, number: customer.number)
        return .json(state.content[key].segments.json)
    }

    /// The cookie of the query. Android 3.13.0 to 4.0.0 wrote `?cookie=?cookie=ID` (observed), which means the id.
    private static func cookie(_ arrival: BloomreachArrival) -> String? {
        let doubled = "?cookie="
        return arrival.queryValue("cookie").map { $0.hasPrefix(doubled) ? String($0.dropFirst(doubled.count)) : $0 }
    }
}

struct CustomerSegments: CodedRecord, Equatable {
    /// The categories that the SDKs know, in the order of the vendor's responses.
    static let categories = ["discovery", "content", "merchandising"]

    private var segments: [String: [JSON]] = [:]

    init() {}

    var isEmpty: Bool { segments.values.allSatisfy(\.isEmpty) }

    /// The segments as sent: an empty object without any, otherwise all categories (ours, the vendor's sample includes
    /// an empty one).
    var json: JSON { isEmpty ? [:] : allCategories }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("segments", &self, or: nil, write: { $0.allCategories }, read: CustomerSegments.init)
    }

    /// All categories, including empty ones.
    var allCategories: JSON { .object(JSONObject(Self.categories.map { ($0, .array(segments[$0] ?? [])) })) }

    /// The maximum size of a customer's segments, in bytes of text (ours).
    static let byteLimit = 16 * 1024

    /// Reads the member `segments`, from fixtures, an action or an export.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        try Self.shape.check(node)
        let length = try node.verbatim().bytes.count
        guard length <= Self.byteLimit else {
            throw node.problem("the segments have \(length) bytes; expected at most \(Self.byteLimit)")
        }
        for (category, list) in try node.members() {
            // An empty category is the same as an absent one.
            if let list = try list.verbatim().array, !list.isEmpty { segments[category] = list }
        }
    }

    /// Source: Android decodes string values only.
    private static let shape = ContentShape.record(ContentField.optional(categories, .list(of: .map(.text))))
}

/// Recommended items. Source: observed, both SDKs; the selection and order of items are ours.
extension Bloomreach {
    /// Recommendations of a stream; a project has them as attributes instead.
    static func recommendations(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, order) = try call.ofCustomer {
            BloomreachRecommendationOrder(
                &$0, engine: "engine_id", random: "fill_with_random", whitelist: "catalog_attributes_whitelist")
        }
        let project = try call.project()
        let customer = state.customer(owner, of: project)?.number
        guard let items = call.vendor.content[project.token].recommendations.items(order, for: customer) else {
            let known = Nearest.known(call.vendor.content[project.token].recommendations.engines.lazy.map(\.id))
            throw Refused(.unknownEngine, because: "the project has no engine \(order.engine.shown)\(known)")
        }
        // A string, not a list: the SDKs expect it so.
        return .json(["data": .array(items), "errors": "[]", "success": true])
    }
}

struct RecommendationEngine: Sendable {
    let id: String
    let name: String
    /// A string or null.
    let variantID: JSON
    /// The ids of the recommended items, best first.
    let itemIDs: [String]

    fileprivate init(_ node: FixtureNode, of catalog: RecommendationCatalog) throws(FixtureProblem) {
        let fields: [ContentField] = [
            .required("id", .name), .required("name", .name), .nullable("variant_id", .text),
            .required("items", .list(of: .name)),
        ]
        let entry = try fields.mapping(node)
        id = try entry.required("id").string()
        name = try entry.required("name").string()
        variantID = try entry["variant_id"]?.json() ?? .null
        var ids: [String] = []
        for item in try entry.required("items").elements() {
            let itemID = try item.string()
            guard catalog.items[itemID] != nil else {
                throw item.problem("the catalog has no item \(itemID)\(Nearest.hint(to: itemID, among: catalog.order))")
            }
            ids.append(itemID)
        }
        itemIDs = ids
    }

    /// A stable id for recommendations of this engine to the customer (ours): 24 hexadecimal digits.
    fileprivate func recommendationID(for customer: Int?) -> String {
        let one = Array("\(id)\n\(customer ?? 0)".utf8).stableHash.hexadecimal
        return one + Array(one.utf8).stableHash.hexadecimal.prefix(8)
    }
}

/// The items of a project and the engines that recommend them.
struct RecommendationCatalog: Sendable {
    /// The fields of each item except its id, by id.
    private(set) var items: [String: JSONObject] = [:]
    /// The item ids in fixture order.
    private(set) var order: [String] = []
    private(set) var engines: [RecommendationEngine] = []

    init() {}

    /// Reads a project's entry of `content/recommendations.yaml`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("catalog", "engines")
        for node in try entry.required("catalog").elements() { try add(item: node) }
        for node in try entry.required("engines").elements() {
            let engine = try RecommendationEngine(node, of: self)
            guard !engines.contains(where: { $0.id == engine.id }) else {
                throw node.problem("another engine has the id \(engine.id)")
            }
            engines.append(engine)
        }
    }

    /// The engine's recommendations for a customer number, or an unknown customer; `nil` for an unknown engine.
    ///
    /// The engine's items in order, then on request the rest of the catalog, so that responses repeat (ours).
    func items(_ order: BloomreachRecommendationOrder, for customer: Int?) -> [JSON]? {
        guard let engine = engines.first(where: { $0.id.hasSameBytes(as: order.engine) }) else { return nil }
        let rest = order.fillsWithRandom ? self.order.filter { !engine.itemIDs.contains($0) } : []
        let id = engine.recommendationID(for: customer)
        let whitelist = order.whitelist.map { Set($0.map(ExactText.init)) }
        return (engine.itemIDs + rest).prefix(order.size).map { item in
            var entry: JSONObject = [
                "engine_name": .string(engine.name), "item_id": .string(item), "recommendation_id": .string(id),
                "recommendation_variant_id": engine.variantID,
            ]
            for field in items[item] ?? [:] where whitelist?.contains(ExactText(field.name)) ?? true {
                entry.append(field.name, field.value)
            }
            return .object(entry)
        }
    }

    private mutating func add(item node: FixtureNode) throws(FixtureProblem) {
        try ContentShape.open([.required("item_id", .name)]).check(node)
        var fields = try node.json().object ?? [:]
        let id = fields["item_id"]?.string ?? ""
        fields["item_id"] = nil
        if let name = Self.ownNames.first(where: { fields[$0] != nil }) {
            throw node.problem("a field of an item cannot have the name \(name), which every recommendation has itself")
        }
        guard items.updateValue(fields, forKey: id) == nil else { throw node.problem("another item has the id \(id)") }
        order.append(id)
    }

    /// The members of a recommendation besides the catalog fields.
    private static let ownNames = ["engine_name", "recommendation_id", "recommendation_variant_id"]
}
