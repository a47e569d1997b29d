public import JSON

/// A token before it is signed.
public struct TokenDraft: Sendable, Hashable {
    /// The members of the header, in the order in which they are written.
    public var header: JSONObject
    /// The claims, in the order in which they are written.
    public var claims: JSONObject

    /// A draft of these members; names may repeat, and anything goes.
    public init(header: JSONObject, claims: JSONObject) {
        self.header = header
        self.claims = claims
    }

    /// Signs a draft, or makes a token that is wrong in one way.
    ///
    /// Both parts are compact JSON in the order of the draft, so that equal input gives an equal token (with PS and ES,
    /// whose signatures are random, an equal signing input). A header without `alg` gets one in front; any other value
    /// that is there already stays.
    ///
    /// - Parameter moment: Now, in Unix seconds; the defects about time reckon from here.
    /// - Throws: ``MintError`` when the key cannot do the algorithm, or the defect makes no sense for key or draft.
    public func mint(
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

/// The parts of a token as text.
struct TokenText {
    var header: String
    var payload: String
    var signature: String?
    /// What stands behind the signature.
    var rest = ""

    init(_ draft: TokenDraft) {
        header = Base64URL.encode(JSON.object(draft.header).bytes)
        payload = Base64URL.encode(JSON.object(draft.claims).bytes)
    }

    var signingInput: String { "\(header).\(payload)" }

    var compact: String { signature.map { "\(signingInput).\($0)\(rest)" } ?? signingInput }
}

/// Who signs, and how.
struct SigningOrder {
    /// The key; `nil` leaves the signature empty.
    var key: SigningKey?
    var algorithm: Algorithm

    init(key: SigningKey, algorithm: Algorithm) {
        self.key = key
        self.algorithm = algorithm
    }

    func sign(_ bytes: [UInt8]) throws(MintError) -> [UInt8] {
        guard let key else { return [] }
        do {
            return try key.sign(bytes, algorithm: algorithm)
        } catch {
            throw .key(error)
        }
    }
}
