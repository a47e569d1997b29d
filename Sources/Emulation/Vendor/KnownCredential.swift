import Tokens
package import Wire

/// A credential that a vendor gave to somebody, for saying what was sent in place of another one.
package struct KnownCredential: Sendable {
    private let text: String
    private let name: String

    /// - Parameter name: what it is in a sentence, such as "the api key of partner 317".
    package init(_ text: String, _ name: String) { (self.text, self.name) = (text, name) }

    /// What a wrong credential is, in a sentence that does not repeat it; `nil` of one like none of these.
    package static func mistake(in found: String, among known: some Sequence<KnownCredential>) -> String? {
        known.lazy.compactMap { $0.mistake(in: found) }.first
    }

    private func mistake(in found: String) -> String? {
        if found.hasSameBytes(as: text) { return "It is \(name)." }
        let bytes = Array(text.utf8)
        let digits = found.utf8.filter { $0 != UInt8(ascii: "=") }
        for form in [Base64.encode(bytes), Base64URL.encode(bytes)] where !bytes.isEmpty {
            if form.utf8.filter({ $0 != UInt8(ascii: "=") }) == digits { return "It is \(name) in base64." }
        }
        if Base64URL.decodeLeniently(bytes) == Array(found.utf8) { return "It is \(name), decoded from base64." }
        if found.hasSameBytes(as: PercentEncoding.decode(text.replacing("+", with: " ")[...]).map(String.init) ?? text)
        {
            return "It is \(name), decoded as in a form: encode + as %2B and % as %25 first (RFC 6749 section 2.3.1)."
        }
        let rest = found.split(separator: " ", maxSplits: 1).dropFirst().first
        let difference = rest == text[...] ? "Only a scheme differs" : Nearest.difference(found, text)
        return difference.map { "It differs from \(name). \($0), and every byte counts." }
    }
}

extension BasicCredentials {
    /// What follows `Basic` in place of base64 of `ID:SECRET`, without repeating it.
    package static func mistake(in text: ArraySlice<UInt8>) -> String {
        func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
            let bytes = Base64URL.decodeLeniently(text) ?? []
            return bytes.count > 3 && bytes.allSatisfy { (0x21...0x7E).contains($0) } ? bytes : nil
        }
        if text.starts(with: "Basic ".utf8) { return "Basic twice" }
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        if parts.count == 2 {
            return parts.contains { decoded($0) != nil }
                ? "Basic with base64 of a part of ID:SECRET" : "Basic with ID:SECRET that is not in base64"
        }
        guard let once = decoded(text) else { return "Basic that is not base64 of ID:SECRET" }
        return decoded(once) == nil ? "Basic with base64 of a text without a colon" : "Basic with base64 of base64"
    }
}

extension Request {
    /// `, but token in the query`, for a request whose credential is missing where it belongs; otherwise empty.
    package var credentialInQuery: String {
        let names = ["access_token", "token", "jwt", "id_token", "authorization", "api_key", "apikey", "key"]
        let found = queryItems.first { names.contains($0.name.lowercased()) || $0.name.hasPrefix("x-") }
        return found.map { ", but \($0.name.prefix(40)) in the query" } ?? ""
    }
}
