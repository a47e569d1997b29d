internal import Tokens

/// What follows `Basic` in `Authorization` (RFC 7617 section 2): an id and a secret.
public struct BasicCredentials: Sendable, Hashable {
    /// The text before the first colon.
    public let id: String
    /// The text after it; `nil` without a colon, which some clients leave out with the secret.
    public let secret: String?

    /// Reads base64 of `ID:SECRET` or `ID` in UTF-8, in either alphabet, with or without padding; `nil` for anything
    /// else.
    public init?(_ text: ArraySlice<UInt8>) {
        guard let bytes = Base64URL.decodeLeniently(text), !bytes.isEmpty,
            let pair = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
        id = String(pair[..<(colon ?? pair.endIndex)])
        secret = colon.map { String(pair[pair.utf8.index(after: $0)...]) }
    }
}
