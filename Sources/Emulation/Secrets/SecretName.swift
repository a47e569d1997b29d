/// Names of members, form fields, query items and header fields whose values are secret, whoever sends them.
///
/// ours: the list. Case and separators are ignored: `client_secret`, `clientSecret` and `Client-Secret` are one name.
enum SecretName {
    private static let parts = ["password", "passwd", "passphrase", "secret"]
    private static let endings = ["pwd", "apikey", "privatekey"]
    private static let tokens: Set<String> = ["accesstoken", "refreshtoken", "idtoken", "sessiontoken", "authtoken"]
    private static let credentials = ["authorization", "cookie"]

    /// Whether the value of a member or item of that name is secret.
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

    private static func plain(_ name: some StringProtocol) -> String {
        String(decoding: name.utf8.lazy.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }, as: UTF8.self)
            .lowercased()
    }
}
