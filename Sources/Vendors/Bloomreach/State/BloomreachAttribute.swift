import Emulation
import JSON

/// What a reader wants to know of a customer. Source: reference pages on attributes, spellings observed in both SDKs.
enum BloomreachAttribute: Sendable {
    case property(String)
    case id(String)
    case consent(category: String)
    /// A segmentation, an expression, an aggregate or a prediction, by its id.
    case computed(Computation, id: String)
    case recommendation(BloomreachRecommendationOrder)

    /// What is computed of a customer.
    enum Computation: String, Sendable, CaseIterable {
        case segmentation, expression, aggregate, prediction

        /// What error texts call it (observed).
        var title: String {
            switch self {
            case .segmentation: "Segmentation"
            case .expression: "Expression"
            case .aggregate: "Aggregation"
            case .prediction: "Prediction"
            }
        }
    }

    /// What an element of `attributes` has to be.
    static let expected =
        "an object whose type is property, id, consent, recommendation, "
        + Computation.allCases.map(\.rawValue).joined(separator: ", ") + ", with the members of that type"

    /// Reads one element of `attributes`; `nil` when its type is unknown or lacks what it needs.
    init?(_ value: JSON) {
        guard let object = value.object, let type = object["type"]?.string else { return nil }
        func text(_ name: String) -> String? { object[name]?.string }
        let attribute: BloomreachAttribute? =
            switch type {
            case "property": text("property").map { .property($0) }
            case "id": text("id").map { .id($0) }
            case "consent": text("category").map { .consent(category: $0) }
            case "recommendation": BloomreachRecommendationOrder(object).map { .recommendation($0) }
            default: Computation(rawValue: type).flatMap { kind in text("id").map { .computed(kind, id: $0) } }
            }
        guard let attribute else { return nil }
        self = attribute
    }
}

/// What a reader wants recommended.
struct BloomreachRecommendationOrder: Sendable {
    /// The id of the engine.
    var engine: String
    /// Whether other items fill up what the engine does not have.
    var fillsWithRandom = false
    /// The most items.
    var size = 10
    /// The fields of the catalog that are wanted; `nil` for all.
    var whitelist: [String]?

    init(engine: String, fillsWithRandom: Bool, size: Int, whitelist: [String]?) {
        self.engine = engine
        self.fillsWithRandom = fillsWithRandom
        self.size = size
        self.whitelist = whitelist
    }

    /// Reads an attribute; the mixed spelling is that of the clients.
    fileprivate init?(_ object: JSONObject) {
        guard let id = object["id"]?.string else { return nil }
        engine = id
        if let value = object.present("fillWithRandom") {
            guard let bool = value.bool else { return nil }
            fillsWithRandom = bool
        }
        if let value = object.present("size") {
            guard let int = value.int, int >= 0 else { return nil }
            size = int
        }
        if let value = object.present("no_track"), value.bool == nil { return nil }
        if let value = object.present("items"), value.object == nil { return nil }
        if let value = object.present("catalogAttributesWhitelist") {
            guard let texts = value.array?.compactMap(\.string), texts.count == value.array?.count else { return nil }
            whitelist = texts
        }
    }
}
