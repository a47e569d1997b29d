import Emulation
import JSON
import Wire

/// Reading customers' data, and anonymizing them.
///
/// Source: attributes are documented (SDK page); calls with a private key are observed in the vendor's Python client.
extension Bloomreach {
    /// The maximum number of attributes per call (ours).
    static let maximumAttributes = 100
    /// The maximum number of cells in a table of all customers, and the maximum bytes of their content (ours).
    static let maximumCells = 500_000
    static let maximumTableBytes = 64 << 20

    /// Returns single attributes of a customer, in the order of the request.
    static func readAttributes(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let attributes = try attributes(of: body)
        let owner = try call.bind(ids)
        guard let customer = try state.customer(owner, of: call.project()) else { throw unknownCustomer(owner) }
        var results = BoundedList()
        for attribute in attributes { try results.append(result(for: attribute, of: customer, call, state)) }
        return .json(["success": true, "results": .array(results.entries)])
    }

    private static func attributes(of body: Fields<Bloomreach>) throws(Refused) -> [BloomreachAttribute] {
        let list = try body.read { body in
            let list = body.list("attributes", isRequired: true) ?? []
            if list.isEmpty { body.refuse("attributes", "attributes is empty; expected at least one") }
            if list.count > maximumAttributes {
                body.refuse("attributes", "\(list.count) attributes; expected at most \(maximumAttributes)")
            }
            return list
        }
        var attributes: [BloomreachAttribute] = []
        for (index, value) in list.enumerated() {
            let attribute = try Refused.require(
                BloomreachAttribute.read(value), .attributeInvalidType,
                with: ["index": .string(String(index)), "attribute": .string(pythonText(of: value))],
                "attribute \(index) is \(value.text.prefix(100)); expected \(BloomreachAttribute.expected)")
            attributes.append(attribute)
        }
        return attributes
    }

    /// A value as Python 2 shows it, as recorded in Android's test data; names in the order of the alphabet (ours).
    private static func pythonText(of value: JSON) -> String {
        switch value {
        case .null: return "None"
        case .bool(let bool): return bool ? "True" : "False"
        case .number(let number): return number.literal
        case .array(let elements): return "[\(elements.map(pythonText).joined(separator: ", "))]"
        case .object(let object):
            let members = object.map { "\(pythonText(of: .string($0.name))): \(pythonText(of: $0.value))" }
            return "{\(members.sorted().joined(separator: ", "))}"
        case .string:
            // But for quotes and what is not ASCII, escapes are those of JSON.
            let inner = value.text.dropFirst().dropLast().replacing("\\\"", with: "\"").replacing("'", with: "\\'")
            return inner.unicodeScalars.reduce("u'") { $0 + ($1.isASCII ? "\($1)" : pythonEscape(of: $1)) } + "'"
        }
    }

    private static func pythonEscape(of scalar: Unicode.Scalar) -> String {
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        let digits = String(scalar.value, radix: 16)
        return "\\\(letter)" + String(repeating: "0", count: width - digits.utf8.count) + digits
    }

    private static func result(
        for attribute: BloomreachAttribute, of customer: BloomreachCustomer, _ call: BloomreachCall, _ state: State
    ) throws(Refused) -> JSON {
        switch attribute {
        case .property(let name):
            if let key = call.credentials.publicKey, !key.mayUse(property: name) {
                return ["success": false, "error": "No permission"]
            }
            return ["success": true, "value": customer.properties[name] ?? .null]
        case .id(let name):
            return ["success": true, "value": value(ofID: name, customer)]
        case .consent(let category):
            let key = BloomreachCustomerKey(project: try call.project().token, number: customer.number)
            return ["success": true, "value": .bool(state.content.consent(to: category, of: key))]
        case .computed(let kind, let id):
            let computed = call.vendor.content[try call.project().token].computed
            guard let attribute = computed.first(where: { $0.kind == kind && $0.id.hasSameBytes(as: id) }) else {
                throw Refused(
                    .attributeUnknownID, ["kind": .string(kind.title), "id": .string(id)],
                    because: "the project has no \(kind.rawValue) \(id.shown)",
                    known: computed.filter { $0.kind == kind }.map(\.id))
            }
            return ["success": true, "value": attribute.value(for: customer.number)]
        case .recommendation(let order):
            let catalog = call.vendor.content[try call.project().token].recommendations
            guard let items = catalog.items(order, for: customer.number) else {
                return ["success": false, "error": "Not Found"]
            }
            return ["success": true, "value": .array(items)]
        }
    }

    static func exportCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (customer, _) = try customer(call, state) { _ in }
        return .json([
            "success": true, "ids": customer.idsJSON, "properties": .object(customer.properties),
            "events": .array(customer.events.entries.map(\.event.json)),
        ])
    }

    /// Returns a customer's events of some types, in order of arrival.
    static func readEvents(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (customer, types) = try customer(call, state) {
            Set(($0.texts("event_types", isRequired: true) ?? []).map(ExactText.init))
        }
        let events = customer.events.entries.filter { types.contains(ExactText($0.type)) }
        return .json(["success": true, "data": .array(events.map(\.event.json))])
    }

    /// Returns all customers as a table: ids first, then every property that any customer has.
    static func exportCustomers(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try call.body { body in
            if let format = body.optionalText("format"), format != "native_json" {
                body.refuse("format", "format is \(format.shown); expected native_json")
            }
        }
        let customers = try state.customers(of: call.project()).all
        let ids = idNames(of: customers)
        var names: Set<ExactText> = []
        for customer in customers { for member in customer.properties { names.insert(ExactText(member.name)) } }
        let (cells, _) = customers.count.multipliedReportingOverflow(by: ids.count + names.count)
        let bytes = customers.reduce(0) { $0 + $1.recordByteCount }
        try Refused.require(
            cells <= maximumCells && bytes <= maximumTableBytes, .bodyTooLarge,
            "the table would have \(cells) cells of \(bytes) bytes; expected at most \(maximumCells) of "
                + "\(maximumTableBytes)")
        let properties = names.sorted().map(\.text)
        var columns: [ExactText: Int] = [:]
        for (column, name) in properties.enumerated() { columns[ExactText(name)] = column }
        let rows = customers.map { customer in
            var values = [JSON](repeating: .null, count: properties.count)
            for member in customer.properties {
                if let column = columns[ExactText(member.name)] { values[column] = member.value }
            }
            return JSON.array(ids.map { value(ofID: $0, customer) } + values)
        }
        let fields =
            ids.map { JSON.object(["type": "id", "id": .string($0)]) }
            + properties.map { JSON.object(["type": "property", "property": .string($0)]) }
        return .json(["success": true, "fields": .array(fields), "data": .array(rows)])
    }

    private static func value(ofID name: String, _ customer: BloomreachCustomer) -> JSON {
        name.hasSameBytes(as: BloomreachID.cookie)
            ? .array(customer.cookies.map(JSON.string)) : JSON(customer.ids[name])
    }

    private static func idNames(of customers: [BloomreachCustomer]) -> [String] {
        var others: Set<ExactText> = []
        for customer in customers { for id in customer.ids.hard { others.insert(ExactText(id.name)) } }
        others.remove(ExactText(BloomreachID.registered))
        return [BloomreachID.registered, BloomreachID.cookie] + others.sorted().map(\.text)
    }

    /// Removes a customer's hard ids, properties and inbox; events and cookies stay (ours).
    static func anonymizeCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (customer, _) = try customer(call, state) { _ in }
        state.anonymize(BloomreachCustomerKey(project: try call.project().token, number: customer.number))
        return .json(["success": true])
    }

    /// The customer that a server's call names, and what `read` makes of the body.
    private static func customer<Value>(
        _ call: BloomreachCall, _ state: State, _ read: (inout FieldReader) -> Value
    ) throws(Refused) -> (BloomreachCustomer, Value) {
        let (body, ids) = try call.customerBody()
        let value = try body.read(read)
        guard let customer = try state.customer(ids, of: call.project()) else { throw unknownCustomer(ids) }
        return (customer, value)
    }

    private static func unknownCustomer(_ ids: BloomreachIDs) -> Refused {
        Refused(
            .customerNotFound,
            because: "no customer has one of the ids \(ids.json.text); expected an id that was tracked")
    }
}

/// A list in a response, whose bytes are counted so that a short request cannot ask for an unbounded response.
struct BoundedList {
    /// The maximum number of bytes (ours).
    static let maximumBytes = 8 << 20

    private(set) var entries: [JSON] = []
    private var bytes = 0

    /// - Throws: ``BloomreachFailure/bodyTooLarge`` (ours) if there is no room for another entry.
    mutating func append(_ entry: JSON) throws(Bloomreach.Refused) {
        entries.append(entry)
        bytes += entry.bytes.count
        try Bloomreach.Refused.require(
            bytes <= Self.maximumBytes, .bodyTooLarge,
            "the answer would be longer than \(Self.maximumBytes) bytes; expected a smaller request")
    }
}

/// An attribute that a client requests. Source: reference pages on attributes, spellings observed in both SDKs.
enum BloomreachAttribute: Sendable {
    case property(String)
    case id(String)
    case consent(category: String)
    /// A segmentation, an expression, an aggregate or a prediction, by id.
    case computed(Computation, id: String)
    case recommendation(BloomreachRecommendationOrder)

    enum Computation: String, Sendable, CaseIterable {
        case segmentation, expression, aggregate, prediction

        /// The name in error texts (observed).
        var title: String {
            switch self {
            case .segmentation: "Segmentation"
            case .expression: "Expression"
            case .aggregate: "Aggregation"
            case .prediction: "Prediction"
            }
        }
    }

    /// The expected form of an element of `attributes`.
    static let expected =
        "an object whose type is property, id, consent, recommendation, "
        + Computation.allCases.map(\.rawValue).joined(separator: ", ") + ", with the members of that type"

    /// Reads one element of `attributes`; `nil` if its type is unknown or it lacks a required member.
    static func read(_ value: JSON) -> BloomreachAttribute? {
        guard let object = value.object, let type = object["type"]?.string else { return nil }
        func text(_ name: String) -> String? { object[name]?.string }
        return switch type {
        case "property": text("property").map { .property($0) }
        case "id": text("id").map { .id($0) }
        case "consent": text("category").map { .consent(category: $0) }
        case "recommendation": BloomreachRecommendationOrder(attribute: object).map { .recommendation($0) }
        default: Computation(rawValue: type).flatMap { kind in text("id").map { .computed(kind, id: $0) } }
        }
    }
}

struct BloomreachRecommendationOrder: Sendable {
    let engine: String
    /// Whether other items fill up the list after the engine's own.
    let fillsWithRandom: Bool
    /// The maximum number of items; by default the number that the vendor's pages name as usual.
    let size: Int
    /// The requested fields of the catalog; `nil` for all.
    let whitelist: [String]?

    /// Reads a request whose members have one of two spellings.
    init(_ body: inout FieldReader, engine: String, random: String, whitelist: String) {
        self.engine = body.text(engine)
        fillsWithRandom = body.bool(random) ?? false
        size =
            body.value("size", expecting: "a whole number from 0") { value in
                value.int.flatMap { $0 >= 0 ? $0 : nil }
            } ?? 10
        _ = body.object("items")
        _ = body.bool("no_track")
        self.whitelist = body.texts(whitelist)
    }

    /// Reads an attribute; `nil` if anything in it is wrong. The mixed spelling is that of the clients.
    fileprivate init?(attribute object: JSONObject) {
        let (order, refusal) = Fields<Bloomreach>(object).outcome {
            Self(&$0, engine: "id", random: "fillWithRandom", whitelist: "catalogAttributesWhitelist")
        }
        if refusal != nil { return nil }
        self = order
    }
}

/// An attribute that the vendor computes per customer: a segmentation, an expression, an aggregate or a prediction.
///
/// Nothing is computed here; the fixture gives the results.
struct ComputedAttribute: Sendable {
    let kind: BloomreachAttribute.Computation
    let id: String
    private var values: [Int: JSON] = [:]
    private let otherwise: JSON

    func value(for customer: Int) -> JSON { values[customer] ?? otherwise }

    /// Reads an entry of `content/computed-attributes.yaml`.
    init(_ node: FixtureNode, of project: String, _ accounts: BloomreachAccounts) throws(FixtureProblem) {
        let entry = try node.mapping("type", "id", "otherwise", "values")
        let type = try entry.required("type")
        try ContentShape.word(BloomreachAttribute.Computation.allCases.map(\.rawValue)).check(type)
        kind = try type.choice(of: BloomreachAttribute.Computation.self)
        let idNode = try entry.required("id")
        try ContentShape.name.check(idNode)
        id = try idNode.string()
        otherwise = try entry["otherwise"]?.json() ?? .null
        guard let list = entry["values"] else { return }
        for (customer, entry) in try accounts.entries(list, of: project, "value") {
            values[customer.number] = try entry.required("value").json()
        }
    }
}
