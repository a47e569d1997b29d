import JSON

/// Hides what may let somebody act as somebody else.
enum Mask {
    private static let hidden = "***"
    private static let credentialFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie",
    ]
    private static let credentialQueries: Set<String> = ["token", "access_token"]

    /// A credential without what makes it valid: a compact JWS loses its signature, all else everything but the scheme.
    static func credential(_ value: String) -> String {
        let words = value.split(separator: " ", omittingEmptySubsequences: false)
        guard let last = words.last else { return hidden }
        let parts = last.split(separator: ".", omittingEmptySubsequences: false)
        let shown = parts.count == 3 ? "\(parts[0]).\(parts[1]).\(hidden)" : hidden
        return (words.dropLast().prefix(2).map(String.init) + [shown]).joined(separator: " ")
    }

    /// The value of a field, masked when the field carries credentials.
    static func field(_ name: String, _ value: String) -> String {
        credentialFields.contains(name.lowercased()) ? credential(value) : value
    }

    /// A request target whose query shows no token.
    static func target(_ target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let items = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let masked = items.map { item in
            guard let equals = item.firstIndex(of: "="), credentialQueries.contains(item[..<equals].lowercased())
            else { return String(item) }
            return "\(item[...equals])\(credential(String(item[item.index(after: equals)...])))"
        }
        return target[...mark] + masked.joined(separator: "&")
    }

    /// The value with every member of these names masked, however deep.
    static func members(_ names: Set<String>, of value: JSON) -> JSON {
        switch value {
        case .object(let object):
            .object(
                JSONObject(
                    object.map { member in
                        let isSecret = names.contains(member.name)
                        return (member.name, isSecret ? masked(member.value) : members(names, of: member.value))
                    }))
        case .array(let elements): .array(elements.map { members(names, of: $0) })
        case .null, .bool, .number, .string: value
        }
    }

    private static func masked(_ value: JSON) -> JSON {
        value.string.map { .string(credential($0)) } ?? .string(hidden)
    }
}
