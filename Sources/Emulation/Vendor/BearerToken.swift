internal import HTTPTypes
internal import JSON
public import Tokens
public import Wire

/// The bearer token of a request (RFC 6750 section 2.1), and what is odd about the way it was sent.
///
/// Several lines of the field count as one value with commas between them, as RFC 9110 section 5.3 has it, so none of
/// several tokens is used: a server that took one of them would hide the mistake from whoever sends both.
public struct BearerToken: Sendable {
    /// How the scheme may stand before the token.
    public enum Scheme: Sendable {
        /// Exactly once.
        case once
        /// Not at all, once or twice: some clients keep it with the token and write it once more.
        case upToTwice
    }

    /// What is sent as a bearer token should be.
    public static let form = "Authorization: Bearer TOKEN"

    /// The token's bytes; `nil` when there is no field, the scheme is another one, or nothing follows it.
    public let bytes: ArraySlice<UInt8>?
    private let field: ArraySlice<UInt8>?
    private let fields: FieldLines
    private let scheme: Scheme

    /// Reads the field `Authorization`; the scheme's case does not matter (RFC 9110 section 11.1).
    public init(_ fields: FieldLines, scheme: Scheme = .once) {
        field = fields.bytes(of: .authorization)
        self.scheme = scheme
        bytes = field.flatMap { Self.token(in: $0, scheme) }
        self.fields = fields
    }

    /// Whether the request has the field at all.
    public var isSent: Bool { field != nil }

    /// The check that a token is there.
    ///
    /// - Parameter note: what to tell when none is.
    public func presence(_ check: String, note: String? = nil, source: String) -> Finding {
        guard bytes == nil else { return Finding(check, .passed, expected: .text(Self.form), source: source) }
        return Finding(
            check, .failed, expected: .text(Self.form), found: found, note: note, source: source)
    }

    /// Why a token that is there cannot be read, whatever it says: it was sent twice, or its scheme was; or the remark that
    /// a scheme sent twice passes here. `nil` of nearly all.
    ///
    /// It leads to the failure of a token that is none.
    ///
    /// - Parameter tolerance: the switch and its value that let a scheme pass twice; `nil` where nothing does.
    public func oddity(toleratedBy tolerance: String? = nil) -> Finding? {
        guard let bytes else { return nil }
        if let lines = Self.severalLines(in: fields) { return lines }
        guard scheme == .once else { return passedTwice }
        guard let rest = Self.behindScheme(bytes), !rest.isEmpty else { return nil }
        return Finding(
            "bearer-once", .failed, expected: .text(Self.form), found: .text("Authorization: Bearer Bearer TOKEN"),
            note: "The client adds Bearer to a value that has it already."
                + (tolerance.map { " Switch \($0) tolerates it." } ?? ""), source: "RFC 6750 section 2.1")
    }

    /// What is wrong with credentials of any scheme that stand in several lines; `nil` of one line and of none.
    public static func severalLines(in fields: FieldLines) -> Finding? {
        guard fields.isRepeated(.authorization) else { return nil }
        let lines = fields.values(of: .authorization)
        let areSame = lines.dropFirst().allSatisfy { $0.hasSameBytes(as: lines[0]) }
        return Finding(
            "authorization-lines", .failed, expected: .text("one Authorization header"),
            found: .text("\(lines.count) of them, " + (areSame ? "all the same" : "with different values")),
            note: "They count as one value with commas between them, so none is used. "
                + "Often two parts of a client each add the header.", source: "RFC 9110 section 5.3")
    }

    private var passedTwice: Finding? {
        guard let field, let once = Self.behindScheme(field), Self.behindScheme(once)?.isEmpty == false else {
            return nil
        }
        return Finding(
            "bearer-once", .noted, expected: .text(Self.form), found: .text("Authorization: Bearer Bearer TOKEN"),
            note: "It passes here; a server to the letter of its documents refuses it.", source: "RFC 6750 section 2.1")
    }

    /// What stands where the token should, without anything that may be secret.
    private var found: Fact {
        guard let field else { return .nothing("no Authorization header") }
        let words = String(decoding: field, as: UTF8.self).split(separator: " ")
        guard let first = words.first else { return .text("an empty Authorization header") }
        let scheme = first.lowercased()
        if scheme == "bearer" { return .text("nothing after Bearer in Authorization") }
        if words.count > 1, Self.knownSchemes.contains(scheme) { return .text("Authorization with the scheme \(first)") }
        let isToken = words.count == 1 && first.hasPrefix("eyJ") && first.count(where: { $0 == "." }) == 2
        return .text("Authorization with \(isToken ? "a token" : "a value") that the scheme Bearer does not precede")
    }

    /// Schemes that can be shown: what else stands there may be a password.
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

    /// What follows `Bearer` and its blanks; `nil` where something else stands.
    private static func behindScheme(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme: StaticString = "bearer"
        let isBearer = scheme.withUTF8Buffer { text.prefix($0.count).elementsEqual($0) { $0 | 0x20 == $1 } }
        let rest = text.dropFirst(scheme.utf8CodeUnitCount)
        guard isBearer, rest.isEmpty || rest.first == UInt8(ascii: " ") else { return nil }
        return rest.drop { $0 == UInt8(ascii: " ") }
    }
}
