internal import HTTPTypes
internal import JSON
public import Tokens
public import Wire

/// The bearer token of a request (RFC 6750 section 2.1), and anything unusual about how it was sent.
///
/// Several lines of the field count as one comma-separated value, by RFC 9110 section 5.3, so none of several tokens is
/// used: a server that picked one would hide the mistake of sending both.
///
/// A class, since rules pass it around.
public final class BearerToken: Sendable {
    /// How often the scheme may precede the token.
    public enum Scheme: Sendable {
        case once
        /// Not at all, once or twice: some clients store it with the token and add it again.
        case upToTwice
    }

    public static let form = "Authorization: Bearer TOKEN"

    /// The token's bytes; `nil` when there is no field, the scheme differs, or nothing follows it.
    public let bytes: ArraySlice<UInt8>?
    /// Whether the other scheme precedes it, such as `DPoP` (RFC 9449 section 7.1).
    public let usesOtherScheme: Bool
    private let field: ArraySlice<UInt8>?
    private let fields: FieldLines
    private let isInSeveralLines: Bool
    private let scheme: Scheme
    private let query: String

    /// Reads the field `Authorization`; the scheme's case is ignored (RFC 9110 section 11.1).
    ///
    /// - Parameters:
    ///   - other: a further scheme for tokens, in lower case.
    ///   - request: a request whose query may have what belongs in the field.
    public init(
        _ fields: FieldLines, scheme: Scheme = .once, orOf other: StaticString? = nil, in request: Request? = nil
    ) {
        let field = fields.bytes(of: .authorization)
        let own = field.flatMap { Self.token(in: $0, scheme) }
        let others = own == nil ? other.flatMap { other in field.flatMap { Self.behind(other, $0) } } : nil
        bytes = own ?? (others?.isEmpty == false ? others : nil)
        usesOtherScheme = others != nil
        self.field = field
        query = field == nil ? request?.credentialInQuery ?? "" : ""
        self.scheme = scheme
        self.fields = fields
        isInSeveralLines = fields.isRepeated(.authorization)
    }

    public var isSent: Bool { field != nil }

    public func presence(_ finding: inout Finding?) -> Finding.Outcome {
        if bytes != nil { return .passed }
        finding?.found = found
        return .failed
    }

    /// Judges whether credentials of any scheme are in one line; `nil` for one line or none.
    public static func severalLines(in fields: FieldLines, _ finding: inout Finding?) -> Finding.Outcome? {
        guard fields.isRepeated(.authorization) else { return nil }
        if finding != nil {
            let lines = fields.values(of: .authorization)
            let areSame = lines.dropFirst().allSatisfy { $0.hasSameBytes(as: lines[0]) }
            finding?.found = .text("\(lines.count) of them, " + (areSame ? "all the same" : "with different values"))
            finding?.note =
                "They count as one value with commas between them, so none is used. "
                + "Often two parts of a client each add the header."
        }
        return .failed
    }

    /// Judges whether the scheme occurs once; `nil` in nearly all cases. One that was sent twice fails, or passes with
    /// a remark.
    @usableFromInline
    func oddity(toleratedBy tolerance: String?, _ finding: inout Finding?) -> Finding.Outcome? {
        guard let bytes, let field, !isInSeveralLines else { return nil }
        let rest = scheme == .once ? bytes : Self.behindScheme(field)
        guard let rest, Self.behindScheme(rest)?.isEmpty == false else { return nil }
        finding?.found = .text("Authorization: Bearer Bearer TOKEN")
        finding?.note =
            scheme == .once
            ? "The client adds Bearer to a value that already has it."
                + (tolerance.map { " Switch \($0) tolerates it." } ?? "")
            : "It is accepted here; a server that follows its documents strictly refuses it."
        return scheme == .once ? .failed : .noted
    }

    /// What is there in place of the token, without anything that may be secret.
    private var found: Fact {
        guard let field else { return .nothing("no Authorization header\(query)") }
        let words = String(decoding: field, as: UTF8.self).split(separator: " ")
        guard let first = words.first else { return .text("an empty Authorization header") }
        let scheme = first.lowercased()
        if scheme == "bearer" { return .text("nothing after Bearer in Authorization") }
        if words.count > 1, Self.knownSchemes.contains(scheme) {
            return .text("Authorization with the scheme \(first)")
        }
        let isToken = words.count == 1 && first.hasPrefix("eyJ") && first.count(where: { $0 == "." }) == 2
        return .text("Authorization with \(isToken ? "a token" : "a value") without the scheme Bearer before it")
    }

    /// Schemes that can be shown: anything else there may be a password.
    private static let knownSchemes: Set<String> = [
        "basic", "digest", "dpop", "hoba", "mutual", "negotiate", "ntlm", "oauth", "token", "apikey", "jwt", "jws",
    ]

    private static func token(in value: ArraySlice<UInt8>, _ scheme: Scheme) -> ArraySlice<UInt8>? {
        let once = behindScheme(value)
        let rest =
            switch scheme {
            case .once: once
            case .upToTwice: once.map { behindScheme($0) ?? $0 } ?? value
            }
        return rest?.isEmpty == false ? rest : nil
    }

    /// What follows `Bearer` and its blanks; `nil` for anything else.
    private static func behindScheme(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? { behind("bearer", text) }

    private static func behind(_ scheme: StaticString, _ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        // By bytes in place: slices of slices would count references.
        let start: Int? = text.withUnsafeBytes { text in
            let end = scheme.utf8CodeUnitCount
            let begins = scheme.withUTF8Buffer { scheme in
                text.count >= end && scheme.indices.allSatisfy { text[$0] | 0x20 == scheme[$0] }
            }
            guard begins else { return nil }
            let start = text[end...].firstIndex { $0 != UInt8(ascii: " ") } ?? text.endIndex
            return start > end || text.count == end ? start : nil
        }
        return start.map { text.dropFirst($0) }
    }
}

extension TokenRule {
    /// The rule that a bearer token must be present.
    ///
    /// - Parameter note: a note for when there is none.
    @inlinable
    public static func bearerPresent(
        _ check: String, source: String, _ evidence: Evidence, orFail failure: Facts.Failure,
        note: @escaping @Sendable (Facts) -> String? = { _ in nil }
    ) -> TokenRule {
        TokenRule(check, expects: .text(BearerToken.form), source: source, evidence, orFail: failure) {
            facts, finding in
            guard facts.bearer?.presence(&finding) == .failed else { return facts.bearer == nil ? nil : .passed }
            finding?.note = note(facts)
            return .failed
        }
    }

    /// The rules that neither a token nor its scheme is sent twice: otherwise it cannot be read, whatever it contains.
    ///
    /// - Parameters:
    ///   - failure: the failure for something that is not a token.
    ///   - tolerance: the switch and value that let a repeated scheme pass; `nil` when there is none.
    ///   - prefix: the prefix of the ids, for lists that contain these rules more than once.
    @inlinable
    public static func bearerOnce(
        orFail failure: Facts.Failure, toleratedBy tolerance: String? = nil, ids prefix: String = ""
    ) -> [TokenRule] {
        [
            TokenRule(
                "authorization-lines", id: prefix + "authorization-lines", expects: .text("one Authorization header"),
                source: "RFC 9110 section 5.3", orFail: failure
            ) { facts, finding in facts.bearer.flatMap { $0.severalLines(&finding) } },
            TokenRule(
                "bearer-once", id: prefix + "bearer-once", expects: .text(BearerToken.form),
                source: "RFC 6750 section 2.1", orFail: failure
            ) { facts, finding in facts.bearer.flatMap { $0.oddity(toleratedBy: tolerance, &finding) } },
        ]
    }
}

extension BearerToken {
    /// Judges whether the token is in one line; `nil` for one line or none.
    @usableFromInline
    func severalLines(_ finding: inout Finding?) -> Finding.Outcome? {
        bytes == nil || !isInSeveralLines ? nil : Self.severalLines(in: fields, &finding)
    }
}

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

/// A token with its key, before it is signed.
public struct UnsignedToken: Sendable {
    /// The header and the claims.
    package var content: TokenDraft
    package var key: SigningKey
    package var algorithm: Algorithm
    /// The name of the general defect that signing gives it; `nil` for none.
    package var defect: String?

    package init(_ content: TokenDraft, key: SigningKey, algorithm: Algorithm) {
        (self.content, self.key, self.algorithm) = (content, key, algorithm)
    }

    package init(_ content: TokenDraft, by key: SecretKey) {
        self.init(content, key: key.signing, algorithm: key.algorithm)
    }

    package func signed(at moment: Moment) throws(ControlRefusal) -> String {
        try ControlRefusal.wording {
            let defect = try defect.map { try Defect(named: $0) }
            return try content.mint(key: key, algorithm: algorithm, defect: defect, at: moment.unixSeconds)
        }
    }
}

extension String {
    /// What a wrong credential is, in a sentence that does not repeat it; `nil` of one like none of these.
    ///
    /// - Parameter known: credentials that the vendor gave to somebody, and what each is in a sentence, such as "the api
    ///   key of partner 317".
    package func credentialMistake(among known: [(text: String, name: String)]) -> String? {
        known.lazy.compactMap { credentialMistake(beside: $0.text, $0.name) }.first
    }

    private func credentialMistake(beside text: String, _ name: String) -> String? {
        if hasSameBytes(as: text) { return "It is \(name)." }
        let bytes = Array(text.utf8)
        let digits = utf8.filter { $0 != UInt8(ascii: "=") }
        for form in [Base64.encode(bytes), Base64URL.encode(bytes)] where !bytes.isEmpty {
            if form.utf8.filter({ $0 != UInt8(ascii: "=") }) == digits { return "It is \(name) in base64." }
        }
        if Base64URL.decodeLeniently(bytes) == Array(utf8) { return "It is \(name), decoded from base64." }
        if hasSameBytes(as: PercentEncoding.decode(text.replacing("+", with: " ")[...]).map(String.init) ?? text) {
            return "It is \(name), decoded as in a form: encode + as %2B and % as %25 first (RFC 6749 section 2.3.1)."
        }
        let rest = split(separator: " ", maxSplits: 1).dropFirst().first
        let difference = rest == text[...] ? "Only a scheme differs" : Nearest.difference(self, text)
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
