package import JSON
package import Wire

/// Hides secrets by their names: credentials in fields and queries, and members that vendors declare.
///
/// ``Redactor`` hides the rest by value.
enum Mask {
    static let hidden = Redactor.hidden

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
            let name = PercentEncoding.decode(item[..<equals]) ?? item[..<equals]
            guard SecretName.isCredential(query: name) else { return String(item) }
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

    func hidden(in value: JSON) -> JSON { replacements.reduce(value) { $0.replacing($1.secret, with: $1.shown) } }

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

extension JSON {
    /// The value with another text in place of one, in every string.
    package func replacing(_ text: String, with other: String) -> JSON {
        switch self {
        case .string(let own): .string(own.replacing(text, with: other))
        case .array(let elements): .array(elements.map { $0.replacing(text, with: other) })
        case .object(let object): .object(JSONObject(object.map { ($0.name, $0.value.replacing(text, with: other)) }))
        case .null, .bool, .number: self
        }
    }
}

/// The compact tokens in a request, wherever they occur.
package enum PresentedTokens {
    /// The tokens as sent, each once, in the order in which they are found: in fields, in the target, in the content.
    package static func of(_ request: Request) -> [String] {
        var found: [String] = []
        for text in request.fields.map(\.value) + [request.target, String(decoding: request.body, as: UTF8.self)] {
            var rest = Array(text.utf8)[...]
            while let start = rest.place(of: beginning) {
                let parts = rest[start...].prefix(while: isOfToken)
                    .split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
                guard parts.count == 3, let end = parts.last?.endIndex else {
                    rest = rest[(start + beginning.count)...]
                    continue
                }
                let token = String(decoding: rest[start..<end], as: UTF8.self)
                if !found.contains(token) { found.append(token) }
                rest = rest[end...]
            }
        }
        return found
    }

    /// `{"` in base64url, with which every header begins.
    private static let beginning = Array("eyJ".utf8)

    /// Whether it is a letter of base64url or the dot between two parts.
    private static func isOfToken(_ byte: UInt8) -> Bool { byte.isBase64URL || byte == UInt8(ascii: ".") }

    /// Header and claims of a token, with the dot that the signature follows.
    private static func signed(_ token: String) -> Substring {
        token[...(token.lastIndex(of: ".") ?? token.startIndex)]
    }

    /// The text with other signatures in place of the masked ones.
    static func unmasked(_ text: String, _ tokens: [String]) -> String {
        tokens.reduce(text) { $0.replacing(signed($1) + Mask.hidden, with: $1) }
    }
}

extension Request {
    /// The token that the request is about; `nil` without one.
    ///
    /// A refresh token, or the token that a form names (RFC 6749 section 6, RFC 7009, RFC 7662); else that of
    /// `Authorization`, unless it is a client's password; else the first compact token anywhere.
    var carriedToken: String? {
        for name in ["refresh_token", "token"] {
            if let item = formItems.first(where: { $0.name == name }) { return item.value }
        }
        let words = fields[.authorization]?.split(separator: " ") ?? []
        if let token = words.last, words.first?.lowercased() != "basic" { return String(token) }
        return PresentedTokens.of(self).first
    }
}

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
