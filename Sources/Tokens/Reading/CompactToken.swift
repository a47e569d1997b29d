public import JSON

/// What could be read of a token in compact form (RFC 7515 section 7.1), and every fault of its form.
///
/// Reading never throws, since explaining broken tokens is what this is for. Where a part breaks the rules and can be
/// read all the same (padded base64url, two parts, five), ``header`` and ``claims`` hold what it says, so that the other
/// checks have something to judge; ``structure`` tells about the fault, and ``signature(by:algorithm:source:)`` never
/// passes on such a token.
public struct CompactToken: Sendable {
    /// How much is read at all.
    public struct Limits: Sendable, Hashable {
        /// The longest token, in bytes.
        public var bytes: Int
        /// How deep arrays and objects may lie inside each other.
        public var depth: Int

        /// Limits of 16 kB and 64 levels unless told otherwise.
        public init(bytes: Int = 16_384, depth: Int = JSON.defaultMaximumDepth) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// What counts as base64url.
    public enum Encoding: Sendable, Hashable {
        /// RFC 7515 section 2 to the letter.
        case strict
        /// Padding, the standard alphabet and unused bits are remarks: for vendors known to accept them.
        case lenient
    }

    /// The token as it came.
    public let bytes: [UInt8]
    /// The limits it was read with.
    public let limits: Limits
    /// What counted as base64url.
    public let encoding: Encoding
    /// The number of parts between dots; 0 for a token over the limit, which is not looked into.
    public let partCount: Int

    let headerPart: ObjectPart?
    let payloadPart: ObjectPart?
    let signaturePart: EncodedPart?
    /// What the claim `exp` holds: several rules ask for it.
    let expiryDate: NumericDate
    private let signedCount: Int

    /// Reads a token; white space around it belongs to it and is a fault.
    public init(_ text: String, limits: Limits = Limits(), encoding: Encoding = .strict) {
        self.init(bytes: Array(text.utf8), limits: limits, encoding: encoding)
    }

    /// Reads a token that came as bytes, which need not be UTF-8.
    public init(bytes: [UInt8], limits: Limits = Limits(), encoding: Encoding = .strict) {
        self.bytes = bytes
        self.limits = limits
        self.encoding = encoding
        let parts = TokenParts(of: bytes.count > limits.bytes ? [] : bytes)
        partCount = bytes.count > limits.bytes ? 0 : parts.count
        headerPart = partCount > 0 ? RecentHeaders.shared.header(bytes[parts.header], depth: limits.depth) : nil
        payloadPart = parts.payload.map { ObjectPart(bytes[$0], depth: limits.depth) }
        signaturePart = parts.signature.map { EncodedPart(bytes[$0]) }
        expiryDate = NumericDate(payloadPart?.object?["exp"])
        signedCount = parts.payload?.upperBound ?? 0
    }

    /// The token as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The members of the header; `nil` when it cannot be read or is no object.
    public var header: JSONObject? { headerPart?.object }

    /// The claims; `nil` when the payload cannot be read or is no object.
    public var claims: JSONObject? { payloadPart?.object }

    /// The bytes of the payload, whatever they are.
    public var payload: [UInt8]? { payloadPart?.encoded.bytes }

    /// The bytes of the signature.
    public var signature: [UInt8]? { signaturePart?.bytes }

    /// The bytes under the signature: header and payload as they came, with the dot between them.
    public var signingInput: [UInt8] { Array(signedBytes) }

    /// The same without a copy.
    var signedBytes: ArraySlice<UInt8> { bytes[..<signedCount] }

    /// Whether this is a signed token at all: within the size, three parts of base64url, and a header that is an object
    /// without repeated members. The payload may be anything.
    public var isWellFormed: Bool {
        guard partCount == 3, let headerPart, let payloadPart, let signaturePart else { return false }
        return headerPart.object != nil && headerPart.duplicates.isEmpty
            && headerPart.encoded.isAcceptable(encoding) && payloadPart.encoded.isAcceptable(encoding)
            && signaturePart.isAcceptable(encoding)
    }

    /// The algorithm that the header names when it is one of these, so that a rule with several can go on; never a
    /// reason to trust the token.
    public func namedAlgorithm(among allowed: [Algorithm]) -> Algorithm? {
        guard let name = header?["alg"]?.string else { return nil }
        return allowed.first { $0.isNamed(name) }
    }
}
