public import JSON
import Synchronization

/// A token in compact form (RFC 7515 section 7.1): what could be read of it, and every fault of its form.
///
/// Reading never throws, since its purpose is to explain broken tokens. If a part is invalid but readable (padded
/// base64url, two parts, five), ``header`` and ``claims`` hold its content, so that other checks have something to
/// judge; ``structure`` reports the fault, and ``signature(by:algorithm:source:)`` never passes.
///
/// An object, since rules hand it about and its parts are many; nothing in it ever changes except what it remembers of
/// the last list of rules.
public final class CompactToken: Sendable {
    public struct Limits: Sendable, Hashable {
        /// The maximum size of a token, in bytes.
        public var bytes: Int
        /// The maximum nesting of arrays and objects.
        public var depth: Int

        /// By default 16 kB and 64 levels.
        public init(bytes: Int = 16_384, depth: Int = JSON.defaultMaximumDepth) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// What is accepted as base64url.
    public enum Encoding: Sendable, Hashable {
        /// Exactly RFC 7515 section 2.
        case strict
        /// Padding, the standard alphabet and unused bits are only remarks, for vendors known to accept them.
        case lenient
    }

    public let bytes: [UInt8]
    public let limits: Limits
    /// What was accepted as base64url.
    public let encoding: Encoding
    /// The number of parts between dots; 0 for a token over the size limit, which is not read.
    public let partCount: Int

    let headerPart: ObjectPart?
    let payloadPart: ObjectPart?
    let signaturePart: EncodedPart?
    /// The claims `exp`, `nbf` and `iat`, which several rules use.
    let (expiryDate, notBeforeDate, issuedAtDate): (NumericDate, NumericDate, NumericDate)
    private let signedCount: Int
    private let judged = Mutex<(list: any AnyObject & Sendable, outcomes: RuleOutcomes)?>(nil)

    /// Reads a token; surrounding whitespace is part of it and a fault.
    public convenience init(_ text: String, limits: Limits = Limits(), encoding: Encoding = .strict) {
        self.init(bytes: Array(text.utf8), limits: limits, encoding: encoding)
    }

    /// Reads a token given as bytes, which need not be UTF-8.
    public init(bytes: [UInt8], limits: Limits = Limits(), encoding: Encoding = .strict) {
        self.bytes = bytes
        self.limits = limits
        self.encoding = encoding
        let parts = TokenParts(of: bytes.count > limits.bytes ? [] : bytes)
        partCount = bytes.count > limits.bytes ? 0 : parts.count
        headerPart = partCount > 0 ? RecentHeaders.shared.header(bytes[parts.header], depth: limits.depth) : nil
        payloadPart = parts.payload.map { ObjectPart(bytes[$0], depth: limits.depth) }
        signaturePart = parts.signature.map { EncodedPart(bytes[$0]) }
        let claims = payloadPart?.object
        (expiryDate, notBeforeDate) = (NumericDate(claims?["exp"]), NumericDate(claims?["nbf"]))
        issuedAtDate = NumericDate(claims?["iat"])
        signedCount = parts.payload?.upperBound ?? 0
    }

    /// The token as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The header's members; `nil` if it is unreadable or not an object.
    public var header: JSONObject? { headerPart?.object }

    /// The claims; `nil` if the payload is unreadable or not an object.
    public var claims: JSONObject? { payloadPart?.object }

    /// The decoded payload, whatever it contains.
    public var payload: [UInt8]? { payloadPart?.encoded.bytes }

    public var signature: [UInt8]? { signaturePart?.bytes }

    /// The signed bytes: header and payload as received, with the dot between them.
    public var signingInput: [UInt8] { Array(signedBytes) }

    /// The same without copying.
    var signedBytes: ArraySlice<UInt8> { bytes[..<signedCount] }

    /// Whether this is a signed token: within the size limit, three parts in base64url, and a header that is an object
    /// without repeated members. The payload may be anything.
    public var isWellFormed: Bool {
        guard partCount == 3, let headerPart, let payloadPart, let signaturePart else { return false }
        return headerPart.object != nil && headerPart.duplicates.isEmpty
            && headerPart.encoded.isAcceptable(encoding) && payloadPart.encoded.isAcceptable(encoding)
            && signaturePart.isAcceptable(encoding)
    }

    /// The outcomes of rules that read only the token, judged once for as long as the same list asks.
    package func outcomes(by list: any AnyObject & Sendable, _ judge: () -> RuleOutcomes) -> RuleOutcomes {
        let known = judged.withLock { judged in judged?.list === list ? judged?.outcomes : nil }
        if let known { return known }
        let outcomes = judge()
        judged.withLock { $0 = (list, outcomes) }
        return outcomes
    }

    /// The header's algorithm if it is one of these, for rules that allow several; never a reason to trust the token.
    public func namedAlgorithm(among allowed: [Algorithm]) -> Algorithm? {
        guard let name = header?["alg"]?.string else { return nil }
        return allowed.first { $0.isNamed(name) }
    }
}
