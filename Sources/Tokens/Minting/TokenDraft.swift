package import JSON

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
            draft.header = JSONObject(
                [("alg", .string(algorithm.rawValue))] + header.map { ($0.name, $0.value) })
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
