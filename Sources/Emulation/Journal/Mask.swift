import JSON
import Wire

/// Hides what may let somebody act as somebody else.
enum Mask {
    /// What stands where something is hidden.
    static let hidden = "***"
    private static let credentialFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie",
    ]
    private static let credentialQueries: Set<String> = ["token", "access_token"]

    /// The value of a credential field without what makes it valid: scheme and token are told apart, a compact JWS loses
    /// its signature, and everything else is hidden whole.
    static func credential(_ value: String) -> String {
        let words = value.split(separator: " ")
        // Clients are known to write the scheme twice.
        let doubled = words.prefix { $0.lowercased() == "bearer" }.prefix(2)
        let rest = words.dropFirst(doubled.count)
        let scheme = doubled.isEmpty && rest.count == 2 ? rest.prefix(1) : []
        let token = rest.dropFirst(scheme.count)
        let shown = token.count == 1 ? token.first.map(Self.token) ?? hidden : hidden
        return ((doubled + scheme).map(String.init) + [shown]).joined(separator: " ")
    }

    /// A compact JWS without its signature; anything else hidden. A header in JSON starts with `eyJ` in base64url.
    private static func token(_ text: Substring) -> String {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && text.hasPrefix("eyJ") ? "\(parts[0]).\(parts[1]).\(hidden)" : hidden
    }

    /// A text of any form without what makes the tokens in it valid; one with a key in PEM is hidden whole.
    static func text(_ text: String) -> String {
        guard !text.contains("-----BEGIN ") else { return hidden }
        var (shown, word) = ("", "")
        func isOfToken(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
        }
        for character in text {
            if isOfToken(character) {
                word.append(character)
            } else {
                shown += plain(word) + String(character)
                word = ""
            }
        }
        return shown + plain(word)
    }

    private static func plain(_ word: String) -> String {
        word.hasPrefix("eyJ") && word.count(where: { $0 == "." }) >= 2 ? token(word[...]) : word
    }

    /// The value of a field, masked when the field carries credentials, and hidden when it is among a vendor's secrets.
    static func field(_ name: String, _ value: String, hiding secrets: Set<String> = []) -> String {
        let name = name.lowercased()
        if secrets.contains(name) { return hidden }
        return credentialFields.contains(name) ? credential(value) : value
    }

    /// A request target whose query shows no token.
    static func target(_ target: String) -> String {
        // Some clients escape the question mark, and names may be escaped as well: the vendors read both.
        let encoded = (target.firstRange(of: "%3F") ?? target.firstRange(of: "%3f"))?.upperBound
        let marks = [target.firstIndex(of: "?"), encoded.map { target.index(before: $0) }]
        guard let mark = marks.compactMap({ $0 }).min() else { return target }
        let items = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let masked = items.map { item in
            guard let equals = item.firstIndex(of: "="),
                credentialQueries.contains(
                    (PercentEncoding.decode(item[..<equals]) ?? item[..<equals]).lowercased())
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

    /// A token in a body is shown as in a field; a password is nothing but hidden, whatever words it is made of.
    private static func masked(_ value: JSON) -> JSON {
        guard let text = value.string, let last = text.split(separator: " ").last, token(last) != hidden else {
            return .string(hidden)
        }
        return .string(credential(text))
    }
}
