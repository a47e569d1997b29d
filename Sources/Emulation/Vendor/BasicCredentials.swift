internal import Tokens

/// What follows `Basic` in `Authorization` (RFC 7617 section 2): an id and a secret.
public struct BasicCredentials: Sendable, Hashable {
    /// The text before the first colon.
    public let id: String
    /// The text after it.
    public let secret: String

    /// Reads base64 of `ID:SECRET` in UTF-8, in either alphabet, with or without padding; `nil` for anything else.
    public init?(_ text: ArraySlice<UInt8>) {
        guard let bytes = Base64URL.decodeLeniently(text), let pair = String(validating: bytes, as: UTF8.self),
            let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        id = String(pair[..<colon])
        secret = String(pair[pair.utf8.index(after: colon)...])
    }
}
