public import JSON
import Synchronization

/// A token in compact form (RFC 7515 section 7.1): what could be read of it, and every fault of its form.
///
/// Reading never throws, since its purpose is to explain broken tokens. If a part is invalid but readable (padded
/// base64url, two parts, five), ``header`` and ``claims`` hold its content, so that other checks have something to
/// judge; ``structure`` reports the fault, and ``signature(by:algorithm:source:)`` never passes.
///
/// A class, since rules pass it around and it has many parts. Only its memory of the last rule list and of the last
/// secret ever changes.
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
    /// The mistake is `nil` until it is looked for.
    private let verified = Mutex<(key: SecretKey, outcome: Finding.Outcome, mistake: SignatureDiagnosis??)?>(nil)

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

    /// The outcomes of rules that read only the token, judged again only when another list asks.
    package func outcomes(by list: any AnyObject & Sendable, _ judge: () -> RuleOutcomes) -> RuleOutcomes {
        let known = judged.withLock { judged in judged?.list === list ? judged?.outcomes : nil }
        if let known { return known }
        let outcomes = judge()
        judged.withLock { $0 = (list, outcomes) }
        return outcomes
    }

    /// Judges whether the secret has signed the token, whatever the header says: once for a secret, however often the
    /// token is sent, and again when a finding is requested.
    public func signature(by key: SecretKey, _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil, let known = verified.withLock({ $0?.key === key ? $0?.outcome : nil }) { return known }
        let isUnread = finding == nil
        let outcome = signature(by: key.verification, algorithm: key.algorithm, &finding)
        if isUnread { verified.withLock { $0 = (key, outcome, nil) } }
        return outcome
    }

    package func isSigned(by key: SecretKey) -> Bool {
        var nothing: Finding?
        return signature(by: key, &nothing) == .passed
    }

    /// The mistake with this or another secret that explains a signature; `nil` if it is valid.
    public func mistake(with key: SecretKey, among others: () -> [SecretKey]) -> SignatureDiagnosis? {
        guard !isSigned(by: key) else { return nil }
        if let known = verified.withLock({ $0?.key === key ? $0?.mistake : nil }) { return known }
        let mistake = SignatureDiagnosis.explain(
            self, algorithm: key.algorithm, secret: key.text, others: others().filter { $0 !== key })
        verified.withLock { $0 = (key, .failed, .some(mistake)) }
        return mistake
    }

    /// The header's algorithm if it is one of these, for rules that allow several; never a reason to trust the token.
    public func namedAlgorithm(among allowed: [Algorithm]) -> Algorithm? {
        guard let name = header?["alg"]?.string else { return nil }
        return allowed.first { $0.isNamed(name) }
    }
}

/// The ranges of a token's parts between its dots: the three that are read, and their number.
struct TokenParts {
    let header: Range<Int>
    let payload: Range<Int>?
    let signature: Range<Int>?
    /// At most six, which is enough to say what the token is.
    let count: Int

    init(of bytes: [UInt8]) {
        var dots = 0
        var start: Int? = 0
        /// The next part; the sixth contains all remaining dots.
        func next() -> Range<Int>? {
            guard let begin = start else { return nil }
            guard dots < 5, let dot = bytes[begin...].place(of: UInt8(ascii: ".")) else {
                start = nil
                return begin..<bytes.count
            }
            dots += 1
            start = dot + 1
            return begin..<dot
        }
        header = next() ?? 0..<0
        payload = next()
        signature = next()
        while next() != nil {}
        count = dots + 1
    }
}

/// One part of a token: its bytes, and any fault in their encoding.
struct EncodedPart: Sendable {
    /// The bytes; for a faulty part, what a lenient reader makes of it, if anything.
    let bytes: [UInt8]?
    let fault: Base64URL.Fault?

    init(_ text: ArraySlice<UInt8>) {
        do throws(Base64URL.Fault) {
            bytes = try Base64URL.decode(text)
            fault = nil
        } catch {
            bytes = Base64URL.decodeLeniently(text)
            fault = error
        }
    }

    func isAcceptable(_ encoding: CompactToken.Encoding) -> Bool {
        fault == nil || encoding == .lenient && bytes != nil
    }
}

/// A part that should be a JSON object.
///
/// A class, since tokens are copied and tokens with the same header share it.
final class ObjectPart: Sendable {
    enum Fault: Sendable {
        case syntax(JSONError)
        case otherType(String)
    }

    let encoded: EncodedPart
    let object: JSONObject?
    let fault: Fault?
    /// The paths of repeated members, at any depth.
    let duplicates: [String]

    init(_ text: ArraySlice<UInt8>, depth: Int) {
        encoded = EncodedPart(text)
        guard let bytes = encoded.bytes else {
            (object, fault, duplicates) = (nil, nil, [])
            return
        }
        do throws(JSONError) {
            let value = try JSON.parse(bytes, maximumDepth: depth)
            object = value.object
            fault = value.object == nil ? .otherType(value.typeName) : nil
            duplicates = value.duplicatePaths
        } catch {
            (object, fault, duplicates) = (nil, .syntax(error), [])
        }
    }
}

extension JSON {
    /// The paths of members repeated within their object, such as `sub.registered`.
    var duplicatePaths: [String] {
        // There are almost never any, which this check finds without building a list.
        guard repeatsNames else { return [] }
        switch self {
        case .null, .bool, .number, .string: return []
        case .array(let elements): return elements.flatMap(\.duplicatePaths)
        case .object(let object):
            let inner = object.flatMap { member in member.value.duplicatePaths.map { "\(member.name).\($0)" } }
            return object.duplicateNames + inner
        }
    }
}

/// A cache of recent headers: tokens of one signer share theirs byte for byte, so it is parsed once.
///
/// The result depends only on the header's bytes and the nesting limit, so caching is invisible.
final class RecentHeaders: Sendable {
    private struct Entry {
        let text: [UInt8]
        let depth: Int
        let part: ObjectPart
    }

    /// One lock per slot, so that event loops seldom wait for each other.
    private final class Place: Sendable {
        let entry = Mutex<Entry?>(nil)
    }

    /// The cache of the process.
    static let shared = RecentHeaders()

    /// Enough for the signers that a server deals with at a time.
    private static let placeCount = 32
    /// The longest header to keep, in bytes; one that contains a certificate is not worth the memory.
    private static let longest = 512

    private let places = (0..<placeCount).map { _ in Place() }

    func header(_ text: ArraySlice<UInt8>, depth: Int) -> ObjectPart {
        guard text.count <= Self.longest else { return ObjectPart(text, depth: depth) }
        let place = places[Self.place(of: text)]
        let known = place.entry.withLock { entry -> ObjectPart? in
            guard let entry, entry.depth == depth, text.hasSameBytes(as: entry.text[...]) else { return nil }
            return entry.part
        }
        if let known { return known }
        let entry = Entry(text: Array(text), depth: depth, part: ObjectPart(text, depth: depth))
        place.entry.withLock { $0 = entry }
        return entry.part
    }

    /// Samples the whole header, since headers may differ only in the key's name.
    private static func place(of text: ArraySlice<UInt8>) -> Int {
        var hash = UInt(text.count)
        for index in stride(from: text.startIndex, to: text.endIndex, by: 6) { hash = hash &* 31 &+ UInt(text[index]) }
        return Int(hash % UInt(placeCount))
    }
}
