import JSON
import Wire

/// What a request brought that the journal hides, to be hidden where a rule's answer repeats it as well.
///
/// A vendor's own answers repeat secrets only in members that it declares; what a template of an operator says, nobody knows.
struct SecretRedactor {
    /// ours: a shorter text stands in answers by chance too often.
    private static let shortest = 6

    private let replacements: [(secret: String, shown: String)]

    /// The credentials of a request, and the values of these members of its content.
    init(of request: Request, secrets: Set<String>) {
        var pairs: [(String, String)] = []
        for (name, value) in request.fields {
            let shown = Mask.field(name, value, hiding: secrets)
            // With the scheme or without it, whichever was repeated.
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

    /// The value with every one of them hidden.
    func hidden(in value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(replacements.reduce(text) { $0.replacing($1.secret, with: $1.shown) })
        case .array(let elements): .array(elements.map(hidden))
        case .object(let object): .object(JSONObject(object.map { ($0.name, hidden(in: $0.value)) }))
        case .null, .bool, .number: value
        }
    }

    /// The strings that lie in members of these names, however deep.
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
