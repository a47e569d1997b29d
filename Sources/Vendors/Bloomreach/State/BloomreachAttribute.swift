import Emulation
import JSON

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
    init?(_ value: JSON) {
        guard let object = value.object, let type = object["type"]?.string else { return nil }
        func text(_ name: String) -> String? { object[name]?.string }
        let attribute: BloomreachAttribute? =
            switch type {
            case "property": text("property").map { .property($0) }
            case "id": text("id").map { .id($0) }
            case "consent": text("category").map { .consent(category: $0) }
            case "recommendation": BloomreachRecommendationOrder(attribute: object).map { .recommendation($0) }
            default: Computation(rawValue: type).flatMap { kind in text("id").map { .computed(kind, id: $0) } }
            }
        guard let attribute else { return nil }
        self = attribute
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
