package import JSON

/// One way in which a minted token is wrong; everything else is right.
public enum Defect: Sendable, Hashable {
    /// `exp` is an hour in the past, beyond any usual leeway; the other times move along.
    case expired
    /// `nbf` is an hour in the future, `exp` after it.
    case notYetValid
    /// A claim, or else a header member, is missing.
    case missing(String)
    /// The header names another algorithm, which also makes the signature if the key supports it.
    case wrongAlgorithm
    /// `alg` is `none`, and the signature is empty.
    case noAlgorithm
    /// Signed with another HMAC secret.
    case wrongSecret
    case wrongKey
    /// Signed by HMAC with the public key's PEM text as the secret; `alg` agrees.
    case publicKeyAsSecret
    case secretBase64Decoded
    /// Signed with the secret read as hexadecimal.
    case secretHexDecoded
    /// A claim is added after signing.
    case tamperedPayload
    /// The first bit of the signature is inverted.
    case badSignature
    /// The last byte of the signature is missing.
    case truncatedSignature
    /// The parts are padded with `=`; the signature covers the padding.
    case paddedBase64
    /// The signature and its dot are missing.
    case twoParts
    /// A fourth part follows.
    case fourParts
    /// `exp`, `nbf` and `iat` are in milliseconds.
    case milliseconds
    case stringExpiry
    /// `exp` has a fraction: it ends 0.75 s earlier.
    case fractionalExpiry

    /// The name in kebab-case; `missing-NAME` for the parameterized one.
    public var name: String {
        if case .missing(let member) = self { return Self.missingPrefix + member }
        return Self.named.first { $0.defect == self }?.name ?? ""
    }

    /// The defect with that name.
    ///
    /// - Throws: ``MintError/unknownDefect(_:)``
    package init(named name: String) throws(MintError) {
        if let match = Self.named.first(where: { $0.name.hasSameBytes(as: name) }) {
            self = match.defect
        } else if name.hasPrefix(Self.missingPrefix), name.utf8.count > Self.missingPrefix.utf8.count {
            self = .missing(String(name.dropFirst(Self.missingPrefix.count)))
        } else {
            throw .unknownDefect(name)
        }
    }

    /// All names; `missing-CLAIM` stands for every claim and header member.
    package static var names: [String] {
        let names = named.map(\.name)
        return Array(names[..<2]) + [missingPrefix + "CLAIM"] + Array(names[2...])
    }

    private static let missingPrefix = "missing-"

    private static let named: [(name: String, defect: Defect)] = [
        ("expired", .expired), ("not-yet-valid", .notYetValid), ("wrong-alg", .wrongAlgorithm),
        ("alg-none", .noAlgorithm), ("wrong-secret", .wrongSecret), ("wrong-key", .wrongKey),
        ("public-key-as-secret", .publicKeyAsSecret), ("secret-base64-decoded", .secretBase64Decoded),
        ("secret-hex-decoded", .secretHexDecoded), ("tampered-payload", .tamperedPayload),
        ("bad-signature", .badSignature), ("truncated-signature", .truncatedSignature),
        ("padded-base64", .paddedBase64), ("two-parts", .twoParts), ("four-parts", .fourParts),
        ("milliseconds", .milliseconds), ("string-exp", .stringExpiry), ("fractional-exp", .fractionalExpiry),
    ]
}

extension Defect: CustomStringConvertible {
    public var description: String { name }
}

/// Defects in the token's contents.
extension Defect {
    /// Changes header and claims before signing.
    func change(_ draft: inout TokenDraft, algorithm: Algorithm, at moment: Double) throws(MintError) {
        switch self {
        case .expired: expire(&draft, at: moment.rounded(.down))
        case .notYetValid: postpone(&draft, at: moment.rounded(.down))
        case .missing(let name): try remove(name, from: &draft)
        case .milliseconds: try countMilliseconds(&draft)
        case .stringExpiry:
            draft.claims["exp"] = .string(try expiry(of: draft).literal)
        case .fractionalExpiry:
            let whole = try expiry(of: draft).double.rounded(.down)
            draft.claims["exp"] = .number(JSONNumber(whole - 0.75))
        case .wrongAlgorithm, .noAlgorithm, .wrongSecret, .wrongKey, .publicKeyAsSecret, .secretBase64Decoded,
            .secretHexDecoded, .tamperedPayload, .badSignature, .truncatedSignature, .paddedBase64, .twoParts,
            .fourParts:
            break
        }
    }

    /// Longer than any leeway a vendor is known to grant (3000 s).
    private static let margin = 3600.0

    private func expire(_ draft: inout TokenDraft, at moment: Double) {
        let end = moment - Self.margin
        if let old = NumericDate(draft.claims["exp"]).seconds() {
            guard old > end else { return }
            // The other times move along, so that the lifetime keeps its length and order.
            for name in ["nbf", "iat"] { shift(name, in: &draft, by: end - old) }
        }
        draft.claims["exp"] = .number(JSONNumber(end))
    }

    private func postpone(_ draft: inout TokenDraft, at moment: Double) {
        let start = moment + Self.margin
        if let end = NumericDate(draft.claims["exp"]).seconds(), end <= start {
            shift("exp", in: &draft, by: Self.margin)
        }
        draft.claims["nbf"] = .number(JSONNumber(start))
    }

    private func shift(_ name: String, in draft: inout TokenDraft, by seconds: Double) {
        guard let value = NumericDate(draft.claims[name]).seconds() else { return }
        draft.claims[name] = .number(JSONNumber(value + seconds))
    }

    private func remove(_ name: String, from draft: inout TokenDraft) throws(MintError) {
        if draft.claims[name] != nil {
            draft.claims[name] = nil
        } else if draft.header[name] != nil {
            draft.header[name] = nil
        } else {
            throw .notApplicable(self, "the token has neither a claim nor a header member “\(name)” to leave out")
        }
    }

    private func countMilliseconds(_ draft: inout TokenDraft) throws(MintError) {
        let names = ["exp", "nbf", "iat"].filter { NumericDate(draft.claims[$0]).seconds() != nil }
        guard !names.isEmpty else { throw .notApplicable(self, "the token has no exp, nbf or iat that is a number") }
        for name in names {
            guard let value = NumericDate(draft.claims[name]).seconds() else { continue }
            draft.claims[name] = .number(JSONNumber((value * 1000).rounded()))
        }
    }

    private func expiry(of draft: TokenDraft) throws(MintError) -> JSONNumber {
        guard let number = draft.claims["exp"]?.number, NumericDate(.number(number)).seconds() != nil else {
            throw .notApplicable(self, "the token has no exp that is a number")
        }
        return number
    }
}

/// Defects in the encoded token.
extension Defect {
    /// Changes that the signature covers.
    func changeBeforeSigning(_ text: inout TokenText) {
        guard self == .paddedBase64 else { return }
        text.header = Self.padded(text.header)
        text.payload = Self.padded(text.payload)
    }

    /// Changes that the signature does not cover, and changes to the signature.
    func changeAfterSigning(_ text: inout TokenText, _ draft: TokenDraft) {
        switch self {
        case .tamperedPayload:
            var claims = draft.claims
            claims.append(Self.freeName(in: claims), true)
            text.payload = Base64URL.encode(JSON.object(claims).bytes)
        case .badSignature: Self.changeSignature(of: &text) { $0[0] ^= 0x80 }
        case .truncatedSignature: Self.changeSignature(of: &text) { $0.removeLast() }
        case .paddedBase64: padSignature(of: &text)
        case .twoParts: text.signature = nil
        case .fourParts: text.rest = ".e30"
        case .expired, .notYetValid, .missing, .wrongAlgorithm, .noAlgorithm, .wrongSecret, .wrongKey,
            .publicKeyAsSecret, .secretBase64Decoded, .secretHexDecoded, .milliseconds, .stringExpiry,
            .fractionalExpiry:
            break
        }
    }

    private func padSignature(of text: inout TokenText) {
        guard let signature = text.signature else { return }
        text.signature = Self.padded(signature)
        // Where no part needs padding, a surplus sign still triggers the strict reader.
        if !text.compact.utf8.contains(UInt8(ascii: "=")) { text.signature = signature + "=" }
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func freeName(in claims: JSONObject) -> String {
        var name = "tampered"
        while claims[name] != nil { name += "-too" }
        return name
    }

    private static func changeSignature(of text: inout TokenText, _ change: (inout [UInt8]) -> Void) {
        guard let signature = text.signature, var bytes = Base64URL.decodeLeniently(signature.utf8), !bytes.isEmpty
        else { return }
        change(&bytes)
        text.signature = Base64URL.encode(bytes)
    }
}

/// A token before it is signed.
package struct TokenDraft: Sendable, Hashable {
    /// The header's members, in the order written.
    package var header: JSONObject
    /// The claims, in the order written.
    package var claims: JSONObject

    /// A draft with these members, which are not checked; names may repeat.
    package init(header: JSONObject, claims: JSONObject) {
        self.header = header
        self.claims = claims
    }

    /// Signs the draft, or makes a token with one defect.
    ///
    /// Both parts are compact JSON in the draft's order, so equal input yields equal tokens (with the randomized PS and
    /// ES, equal signing input). A missing `alg` is added in front; an existing one is kept.
    ///
    /// - Parameter moment: Now, in Unix seconds; the time defects refer to it.
    /// - Throws: ``MintError`` when the key does not support the algorithm, or the defect does not apply.
    package func mint(
        key: SigningKey, algorithm: Algorithm, defect: Defect? = nil, at moment: Double = 0
    ) throws(MintError) -> String {
        var draft = self
        if draft.header["alg"] == nil {
            draft.header = JSONObject([("alg", .string(algorithm.rawValue))] + header.map { ($0.name, $0.value) })
        }
        var order = SigningOrder(key: key, algorithm: algorithm)
        if let defect {
            try defect.change(&draft, algorithm: algorithm, at: moment)
            try defect.change(&order, &draft)
        }
        var text = TokenText(draft)
        defect?.changeBeforeSigning(&text)
        text.signature = Base64URL.encode(try order.sign(Array(text.signingInput.utf8)))
        defect?.changeAfterSigning(&text, draft)
        return text.compact
    }
}

/// The encoded parts of a token.
struct TokenText {
    var header: String
    var payload: String
    var signature: String?
    /// The text after the signature.
    var rest = ""

    init(_ draft: TokenDraft) {
        header = Base64URL.encode(JSON.object(draft.header).bytes)
        payload = Base64URL.encode(JSON.object(draft.claims).bytes)
    }

    var signingInput: String { "\(header).\(payload)" }

    var compact: String { signature.map { "\(signingInput).\($0)\(rest)" } ?? signingInput }
}

struct SigningOrder {
    /// The key; `nil` leaves the signature empty.
    var key: SigningKey?
    var algorithm: Algorithm

    func sign(_ bytes: [UInt8]) throws(MintError) -> [UInt8] {
        guard let key else { return [] }
        do {
            return try key.sign(bytes, algorithm: algorithm)
        } catch {
            throw .key(error)
        }
    }
}

/// Why a token could not be minted.
public enum MintError: Error, Sendable, Hashable {
    /// The key cannot sign this way.
    case key(KeyError)
    case unknownDefect(String)
    /// The defect does not apply to this key or draft; the sentence says why.
    case notApplicable(Defect, String)
}

extension MintError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .key(let error): "The key cannot sign this token: \(error)."
        case .unknownDefect(let name):
            "“\(name)” is not a defect; expected one of \(Defect.names.joined(separator: ", "))."
        case .notApplicable(let defect, let reason): "Defect \(defect.name) is not possible here: \(reason)."
        }
    }
}
