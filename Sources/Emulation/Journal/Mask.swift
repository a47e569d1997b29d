import JSON
import Wire

/// Hides secrets by their names: credentials in fields and queries, and members that vendors declare.
///
/// ``Redactor`` hides the rest by value.
enum Mask {
    static let hidden = Redactor.hidden
    private static let credentialQueries: Set<String> = ["token", "access_token", "client_secret", "password"]

    /// The value of a credential field without its secret part: scheme and token are separated, a compact JWS loses its
    /// signature, and everything else is hidden entirely.
    static func credential(_ value: String) -> String {
        let words = value.split(separator: " ")
        // Some clients write the scheme twice.
        let doubled = words.prefix { $0.lowercased() == "bearer" }.prefix(2)
        let rest = words.dropFirst(doubled.count)
        let scheme = doubled.isEmpty && rest.count == 2 ? rest.prefix(1) : []
        let token = rest.dropFirst(scheme.count)
        let shown = token.count == 1 ? token.first.map(Self.token) ?? hidden : hidden
        return ((doubled + scheme).map(String.init) + [shown]).joined(separator: " ")
    }

    /// A compact JWS without its signature; anything else is hidden. A JSON header starts with `eyJ` in base64url.
    private static func token(_ text: Substring) -> String {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && text.hasPrefix("eyJ") ? "\(parts[0]).\(parts[1]).\(hidden)" : hidden
    }

    /// The value of a field, masked when it carries credentials, and hidden when it is among a vendor's secrets.
    static func field(_ name: String, _ value: String, hiding secrets: Set<String> = []) -> String {
        let name = name.lowercased()
        if secrets.contains(name) { return hidden }
        return SecretName.isCredential(field: name) ? credential(value) : value
    }

    /// A request target whose query shows no token.
    ///
    /// - Parameter hidesClaims: whether to hide the whole token, claims included.
    static func target(_ target: String, hidesClaims: Bool = false) -> String {
        // Some clients escape the question mark, and names may be escaped too: the vendors accept both.
        let encoded = (target.firstRange(of: "%3F") ?? target.firstRange(of: "%3f"))?.upperBound
        let marks = [target.firstIndex(of: "?"), encoded.map { target.index(before: $0) }]
        guard let mark = marks.compactMap({ $0 }).min() else { return target }
        let items = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let masked = items.map { item in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            let name = (PercentEncoding.decode(item[..<equals]) ?? item[..<equals]).lowercased()
            guard credentialQueries.contains(name) else { return String(item) }
            let value = String(item[item.index(after: equals)...])
            return "\(item[...equals])\(hidesClaims ? hidden : credential(value))"
        }
        return target[...mark] + masked.joined(separator: "&")
    }

    /// The value with every member of these names masked, at any depth.
    static func members(_ names: Set<String>, of value: JSON) -> JSON {
        switch value {
        case .object(let object):
            .object(
                JSONObject(
                    object.map { member in
                        let isSecret = names.contains(member.name)
                        return (member.name, isSecret ? self.value(member.value) : members(names, of: member.value))
                    }))
        case .array(let elements): .array(elements.map { members(names, of: $0) })
        case .null, .bool, .number, .string: value
        }
    }

    /// A token in a body is shown as in a field; a password is always hidden entirely, whatever words it consists of.
    static func value(_ value: JSON) -> JSON {
        guard let text = value.string, let last = text.split(separator: " ").last, token(last) != hidden else {
            return .string(hidden)
        }
        return .string(credential(text))
    }
}
