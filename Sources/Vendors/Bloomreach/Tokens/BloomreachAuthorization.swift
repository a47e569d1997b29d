import Emulation
import HTTPTypes
import JSON
import Wire

/// The credential in `Authorization`, or in the query if the header is absent.
enum BloomreachAuthorization: Sendable {
    /// `Token KEY`, or `access_token=KEY`.
    case publicKey(String)
    /// `Basic`, decoded.
    case privateKey(id: String, secret: String)
    /// `Bearer JWT`.
    case token(ArraySlice<UInt8>)
    case absent
    /// An unreadable credential, described without secrets.
    case malformed(String)

    /// Reads a request. Scheme names are case-insensitive; whitespace around the value is trimmed (ours).
    init(_ request: Request) {
        guard let value = request.fields.bytes(of: .authorization) else {
            let key = request.queryValue("access_token")
            self = key.map { $0.isEmpty ? .malformed("an empty access_token") : .publicKey($0) } ?? .absent
            return
        }
        let trimmed = Self.trim(value)
        let scheme = trimmed.prefix { $0 != UInt8(ascii: " ") }
        let rest = Self.trim(trimmed[scheme.endIndex...])
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard !rest.isEmpty else {
            self = .malformed(["token", "bearer", "basic"].contains(name) ? "nothing behind \(name)" : "no scheme")
            return
        }
        switch name {
        case "token": self = .publicKey(String(decoding: rest, as: UTF8.self))
        case "bearer": self = .token(rest)
        case "basic": self = Self.pair(rest)
        default: self = .malformed("an unknown scheme")
        }
    }

    func kind(isStream: Bool) -> BloomreachCredentialKind? {
        switch self {
        case .publicKey: .publicKey
        case .privateKey: .privateKey
        case .token: isStream ? .streamToken : .customerToken
        case .absent, .malformed: nil
        }
    }

    private static func pair(_ text: ArraySlice<UInt8>) -> BloomreachAuthorization {
        guard let pair = BasicCredentials(text), let secret = pair.secret else {
            return .malformed("Basic that is not base64 of ID:SECRET")
        }
        return .privateKey(id: pair.id, secret: secret)
    }

    private static func trim(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
