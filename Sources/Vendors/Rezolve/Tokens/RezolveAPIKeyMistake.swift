import Emulation
import JSON
import Tokens

/// Describes what was sent in place of an api key, without repeating a secret.
extension RezolveFacts {
    /// The header's value as a finding shows it.
    var shownAPIKey: Fact {
        guard let apiKey else { return .absent }
        if partner != nil { return .text(apiKey) }
        if isAuthKey(apiKey) { return .text("an auth key") }
        return .text(Self.isJWT(apiKey) ? "a JWT" : apiKey)
    }

    /// Why a header names no partner; `nil` when it names one, is absent, or has no explanation.
    var apiKeyStrangeness: String? {
        guard partner == nil, let apiKey, let accounts else { return nil }
        if apiKey.isEmpty { return "The header is there, but empty." }
        if Self.isJWT(apiKey) { return "A JWT belongs in Authorization, after Bearer." }
        if isAuthKey(apiKey) { return "An auth key signs tokens and is never sent." }
        if let partner = accounts.partner(id: apiKey) {
            return "That is the id of partner \(partner.id); its api key is another text."
        }
        let core = Self.core(apiKey)
        if let partner = accounts.partners.first(where: { Self.core($0.apiKey).hasSameBytes(as: core) }) {
            return
                "It differs from the api key of partner \(partner.id) by capitals, blanks, quotes or a scheme alone; "
                + "every byte counts."
        }
        if apiKey.utf8.contains(UInt8(ascii: ",")) { return "Two headers of that name count as one with a comma." }
        let keys = accounts.partners.map { "that of partner \($0.id)" }.joined(separator: ", ")
        return "Known are \(keys)."
    }

    private func isAuthKey(_ text: String) -> Bool {
        accounts?.partners.contains { $0.authKey?.text.hasSameBytes(as: text) == true } ?? false
    }

    private static func isJWT(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// A key without the parts that people overlook.
    private static func core(_ key: String) -> String {
        var words = key.lowercased().split { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        if words.count > 1, ["bearer", "token", "apikey"].contains(words[0]) { words.removeFirst() }
        return words.joined(separator: " ")
    }
}
