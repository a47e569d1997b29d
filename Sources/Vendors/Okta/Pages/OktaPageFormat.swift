import HTTPTypes
import Wire

/// In what form a page is answered.
enum OktaPageFormat: Sendable {
    case html
    case json

    /// The form that the `Accept` of a request prefers; HTML when it has no preference.
    init(preferredBy request: Request) {
        let ranges = request.fields.values(of: .accept).flatMap { $0.split(separator: ",") }.map(Self.range)
        /// The weight of a type, and how closely the range describes it; the closest range counts (RFC 9110 section
        /// 12.5.1).
        func preference(for type: String, _ group: String) -> (Double, Int) {
            for (closeness, name) in [(2, type), (1, group), (0, "*/*")] {
                guard let range = ranges.first(where: { $0.type == name }) else { continue }
                return range.weight > 0 ? (range.weight, closeness) : (0, 0)
            }
            return (0, 0)
        }
        // Scripts say `application/json, */*`: of equal weights, the type that is named wins.
        let isJSON = preference(for: "application/json", "application/*") > preference(for: "text/html", "text/*")
        self = isJSON ? .json : .html
    }

    /// A media range in small letters, and its weight: 1, unless `q` says less.
    private static func range(_ text: Substring) -> (type: String, weight: Double) {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
        return (parts.first ?? "", weight ?? 1)
    }
}
