import JSON
import Wire

/// Hides a request's secrets where a rule's answer repeats them.
///
/// A vendor's own answers repeat secrets only in members it declares; an operator's template may repeat them anywhere.
struct SecretRedactor {
    /// ours: a shorter string occurs in answers by chance too often.
    private static let shortest = 6

    private let replacements: [(secret: String, shown: String)]

    /// Collects the credentials of a request, and the values of these members of its content.
    init(of request: Request, secrets: Set<String>) {
        var pairs: [(String, String)] = []
        for (name, value) in request.fields {
            let shown = Mask.field(name, value, hiding: secrets)
            // Matches a repetition with or without the scheme.
            if shown != value {
                pairs += zip(value.split(separator: " "), shown.split(separator: " ")).map { (String($0), String($1)) }
            }
        }
        for (name, value) in request.queryItems {
            let item = Mask.target("?\(name)=\(value)")
            if item != "?\(name)=\(value)" { pairs.append((value, String(item.dropFirst(name.count + 2)))) }
        }
        if !secrets.isEmpty, let body = try? JSON.parse(request.body) {
            pairs += Self.hiddenStrings(secrets, in: body).map { ($0, Mask.hidden) }
        }
        replacements = pairs.filter { $0.0 != $0.1 && $0.0.utf8.count >= Self.shortest }
    }

    func hidden(in value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(replacements.reduce(text) { $0.replacing($1.secret, with: $1.shown) })
        case .array(let elements): .array(elements.map(hidden))
        case .object(let object): .object(JSONObject(object.map { ($0.name, hidden(in: $0.value)) }))
        case .null, .bool, .number: value
        }
    }

    /// The strings in members of these names, at any depth.
    private static func hiddenStrings(_ names: Set<String>, in value: JSON, isHidden: Bool = false) -> [String] {
        switch value {
        case .string(let text): isHidden ? [text] : []
        case .number(let number): isHidden ? [number.literal] : []
        case .array(let elements): elements.flatMap { hiddenStrings(names, in: $0, isHidden: isHidden) }
        case .object(let object):
            object.flatMap { hiddenStrings(names, in: $0.value, isHidden: isHidden || names.contains($0.name)) }
        case .null, .bool: []
        }
    }
}
