public import HTTPTypes

/// A request whose head is complete and valid by RFC 9112.
public struct Request: Sendable {
    /// The client's HTTP version.
    public enum Version: String, Sendable {
        case http1_0 = "HTTP/1.0"
        case http1_1 = "HTTP/1.1"
    }

    public struct Connection: Sendable {
        /// The client's address without the port, such as `127.0.0.1` or `::1`.
        public let remoteAddress: String
        /// Whether the connection uses TLS.
        public let isSecure: Bool

        public init(remoteAddress: String, isSecure: Bool) {
            self.remoteAddress = remoteAddress
            self.isSecure = isSecure
        }

        /// The connection of a request that did not arrive on a socket, such as a test's.
        public static let inProcess = Connection(remoteAddress: "127.0.0.1", isSecure: false)
    }

    @usableFromInline
    struct Parts: Sendable {
        @usableFromInline var method: HTTPRequest.Method
        @usableFromInline var target: String
        @usableFromInline var authority: String?
        @usableFromInline var fields: FieldLines
        @usableFromInline var body: [UInt8]
        @usableFromInline var bodyExceedsLimit: Bool
        @usableFromInline var version: Version
        @usableFromInline var connection: Connection
    }

    /// A class, since a request is passed around a lot, and each copy of its parts would count seven references.
    @usableFromInline
    final class SharedParts: Sendable {
        @usableFromInline let parts: Parts

        init(_ parts: consuming Parts) { self.parts = parts }
    }

    // Inlinable, so that reading one part copies neither it nor the others.
    @usableFromInline var shared: SharedParts

    public init(
        method: HTTPRequest.Method, target: String, authority: String? = nil, fields: consuming FieldLines = [:],
        body: consuming [UInt8] = [], bodyExceedsLimit: Bool = false, version: Version = .http1_1,
        connection: Connection = .inProcess
    ) {
        shared = SharedParts(
            Parts(
                method: method, target: target, authority: authority, fields: fields, body: body,
                bodyExceedsLimit: bodyExceedsLimit, version: version, connection: connection))
    }

    @usableFromInline
    mutating func change(_ change: (inout Parts) -> Void) {
        var parts = shared.parts
        change(&parts)
        shared = SharedParts(parts)
    }

    @inlinable public var method: HTTPRequest.Method { shared.parts.method }

    /// The request target as sent, in origin form: path and query, nothing decoded.
    @inlinable public var target: String {
        get { shared.parts.target }
        set { change { $0.target = newValue } }
    }

    /// The host from `Host` or from an absolute-form target, with the port if given.
    @inlinable public var authority: String? { shared.parts.authority }

    /// The field lines of the head.
    @inlinable public var fields: FieldLines {
        get { shared.parts.fields }
        set { change { $0.fields = newValue } }
    }

    /// The content, with the transfer coding removed.
    @inlinable public var body: [UInt8] {
        get { shared.parts.body }
        set { change { $0.body = newValue } }
    }

    /// Whether the content exceeded the route's limit; ``body`` is then empty.
    @inlinable public var bodyExceedsLimit: Bool {
        get { shared.parts.bodyExceedsLimit }
        set { change { $0.bodyExceedsLimit = newValue } }
    }

    @inlinable public var version: Version { shared.parts.version }

    @inlinable public var connection: Connection { shared.parts.connection }

    /// The target before the first `?`, not decoded.
    public var path: Substring { target[..<(questionMark ?? target.endIndex)] }

    /// The target after the first `?`, not decoded; `nil` without one.
    public var query: Substring? { questionMark.map { target[target.utf8.index(after: $0)...] } }

    /// Searches the bytes: as characters, a `?` followed by a combining accent would not be found.
    ///
    /// It is read several times per request, hence the contiguous bytes instead of one index step per character.
    private var questionMark: String.Index? {
        let text = target.utf8
        let offset = text.withContiguousStorageIfAvailable { $0.firstIndex(of: UInt8(ascii: "?")) }
        guard let offset else { return text.firstIndex(of: UInt8(ascii: "?")) }
        return offset.map { text.index(text.startIndex, offsetBy: $0) }
    }

    /// Whether the target starts with that ASCII text.
    public func targetBegins(with text: StaticString) -> Bool {
        let begins = target.utf8.withContiguousStorageIfAvailable { bytes in
            text.withUTF8Buffer { bytes.count >= $0.count && zip(bytes, $0).allSatisfy { $0 == $1 } }
        }
        return begins ?? target.hasPrefix(text.description)
    }
}

extension HTTPField.Name {
    /// The kind of resource that a browser wants; no script can set it (Fetch Metadata Request Headers, section 2.1).
    fileprivate static let fetchDestination = Self("Sec-Fetch-Dest") ?? .accept
    fileprivate static let upgradeInsecureRequests = Self("Upgrade-Insecure-Requests") ?? .accept
}

extension Request {
    /// Whether a browser may show the answer in a frame of a page.
    ///
    /// Browsers say so for addresses they trust, such as loopback and HTTPS. For others they still mark navigations,
    /// which may target a frame or a window.
    public var mayBeForFrame: Bool {
        guard let destination = fields.bytes(of: .fetchDestination) else {
            return fields.bytes(of: .upgradeInsecureRequests) != nil
        }
        return ["iframe", "frame", "embed", "object", "fencedframe"].contains { destination.elementsEqual($0.utf8) }
    }
}
