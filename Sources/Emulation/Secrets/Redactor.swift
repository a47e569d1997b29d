package import JSON
import Wire

/// Hides anything that could let someone impersonate someone else, recognized by its form, wherever it stands.
///
/// Covers known secrets of the fixtures and of a sandbox's state, also in percent escapes; the signature of every compact
/// token, whose header and claims stay; private keys in PEM and in JWKs; and values of JSON members with a secret name.
package struct Redactor: Sendable {
    static let hidden = "***"

    /// JWK members that only the owner knows. RFC 7518 section 6.
    private static let keyMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    private let known: [KnownSecrets]
    /// Ids and keys that a vendor makes public.
    private let published: Set<String>

    /// Creates a redactor that hides these strings besides what it recognizes by itself.
    ///
    /// - Parameter published: strings that are not secret, whatever their names.
    package init(hiding secrets: [String] = [], published: Set<String> = []) {
        self.init(secrets.isEmpty ? [] : [KnownSecrets(secrets)], published: published)
    }

    init(_ known: [KnownSecrets], published: Set<String>) { (self.known, self.published) = (known, published) }

    package func text(_ text: String) -> String { hide(text, SecretFinder(known: known)) }

    /// A path with its secrets hidden; a token in a segment ends at the segment's end.
    package func path(_ text: String) -> String { hide(text, SecretFinder(known: known, isPath: true)) }

    /// Content that the server wrote itself, where names are only labels and hide nothing.
    package func answer(_ bytes: [UInt8]) -> [UInt8] {
        let finder = SecretFinder(known: known)
        let places = finder.places(in: bytes)
        if places.isEmpty { return bytes }
        // JSON must stay JSON, whatever is hidden in it.
        guard let value = try? JSON.parse(bytes) else { return Self.replace(places, in: bytes) }
        return json(value, finder, mindsNames: false).bytes
    }

    /// A value with the secrets in its strings and names hidden, and the values of secret names.
    package func json(_ value: JSON) -> JSON { json(value, SecretFinder(known: known), mindsNames: true) }

    private func json(_ value: JSON, _ finder: SecretFinder, mindsNames: Bool) -> JSON {
        switch value {
        case .string(let text): return .string(hide(text, finder))
        case .number(let number):
            let shown = hide(number.literal, finder)
            return shown == number.literal ? value : .string(shown)
        case .array(let elements): return .array(elements.map { json($0, finder, mindsNames: mindsNames) })
        case .object(let object):
            var naming = finder
            naming.mindsWholes = false
            let isKey = object["kty"] != nil
            return .object(
                JSONObject(
                    object.map { member in
                        let value =
                            isKey && Self.keyMembers.contains(member.name)
                            ? .string(Self.hidden)
                            : mindsNames && SecretName.isSecret(member.name)
                                ? masked(member.value) : json(member.value, finder, mindsNames: mindsNames)
                        return (hide(member.name, naming), value)
                    }))
        case .null, .bool: return value
        }
    }

    private func masked(_ value: JSON) -> JSON {
        switch value {
        case .null, .bool: value
        case .string(let text) where published.contains(text): value
        case .string, .number, .array, .object: Mask.value(value)
        }
    }

    private func hide(_ text: String, _ finder: SecretFinder) -> String {
        guard text.utf8.count >= KnownSecrets.shortest else { return text }
        let bytes = Array(text.utf8)
        let places = finder.places(in: bytes)
        return places.isEmpty ? text : String(decoding: Self.replace(places, in: bytes), as: UTF8.self)
    }

    private static func replace(_ places: [Range<Int>], in bytes: [UInt8]) -> [UInt8] {
        if places.isEmpty { return bytes }
        var (shown, end): ([UInt8], Int) = ([], 0)
        for place in places {
            shown += bytes[end..<place.lowerBound]
            shown += hidden.utf8
            end = place.upperBound
        }
        return shown + bytes[end...]
    }
}

/// Names of members, form fields, query items and header fields whose values are secret, whoever sends them.
///
/// ours: the list. Case and separators are ignored: `client_secret`, `clientSecret` and `Client-Secret` are one name.
enum SecretName {
    private static let parts = ["password", "passwd", "passphrase", "secret"]
    private static let endings = ["pwd", "apikey", "privatekey"]
    private static let tokens: Set<String> = ["accesstoken", "refreshtoken", "idtoken", "sessiontoken", "authtoken"]
    private static let credentials = ["authorization", "cookie"]

    static func isSecret(_ name: some StringProtocol) -> Bool {
        // Nearly all names are short and contain none of these letter sequences.
        let name = plain(name)
        return tokens.contains(name) || endings.contains { name.hasSuffix($0) } || parts.contains { name.contains($0) }
    }

    /// Whether a header field of that name carries credentials.
    ///
    /// A separate list: a vendor's `x-api-key` may be as public as an id.
    static func isCredential(field name: String) -> Bool {
        let name = plain(name)
        return credentials.contains { name.hasSuffix($0) } || name.hasSuffix("token")
            || parts.contains { name.contains($0) }
    }

    /// Whether an item of a query of that name carries credentials; an api key there may be public, too.
    static func isCredential(query name: some StringProtocol) -> Bool {
        let name = plain(name)
        return name == "token" || tokens.contains(name) || parts.contains { name.contains($0) }
    }

    private static func plain(_ name: some StringProtocol) -> String {
        String(decoding: name.utf8.lazy.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }, as: UTF8.self)
            .lowercased()
    }
}
