import JSON

extension TokenCheck {
    /// `algorithm`: the header's `alg` is exactly this one, case-sensitively.
    ///
    /// The caller chooses the algorithm together with the key; the token only has to agree.
    public static func algorithm(is algorithm: Algorithm, source: String? = nil) -> TokenCheck {
        self.algorithm(expected: .algorithm(algorithm), source) { algorithm.isNamed($0) }
    }

    /// `algorithm`: the header's `alg` is exactly one of these.
    static func algorithm(isOneOf algorithms: [Algorithm], source: String? = nil) -> TokenCheck {
        algorithm(expected: .algorithms(algorithms), source) { name in algorithms.contains { $0.isNamed(name) } }
    }

    private static func algorithm(
        expected: Fact, _ source: String?, _ isExpected: @escaping @Sendable (String) -> Bool
    ) -> TokenCheck {
        TokenCheck("algorithm", expected: expected, source: source) { token, finding in
            guard let header = token.header else { return .notJudged }
            let value = header["alg"]
            if let name = value?.string, isExpected(name) {
                finding?.found = .text(name)
                return .passed
            }
            finding?.found = value.map(Fact.json) ?? .absent
            finding?.note = algorithmNote(value?.string)
            finding?.source = source ?? "RFC 8725 section 3.1"
            return .failed
        }
    }

    private static func algorithmNote(_ name: String?) -> String? {
        guard let name else { return nil }
        if name.lowercased() == "none" { return "An unsigned token proves nothing; anybody could have written it." }
        if Algorithm(rawValue: name) == nil, Algorithm(rawValue: name.uppercased()) != nil {
            return "Names of algorithms are case-sensitive."
        }
        return nil
    }

    /// `type`: the header's `typ`, compared case-insensitively in ASCII.
    ///
    /// - Parameters:
    ///   - required: Whether absence is a failure.
    ///   - exactly: Whether the comparison is case-sensitive.
    public static func type(
        is type: String, required: Bool = false, exactly: Bool = false, source: String? = nil
    ) -> TokenCheck {
        TokenCheck("type", expected: .text(type), source: source) { token, finding in
            token.type(is: type, required: required, exactly: exactly, &finding)
        }
    }

    /// `critical`: there is no `crit`.
    ///
    /// A reader must reject a token whose `crit` names an extension it does not support; none is supported here.
    public static func critical(source: String? = "RFC 7515 section 4.1.11") -> TokenCheck {
        TokenCheck("critical", expected: .absent, source: source) { token, finding in
            guard let header = token.header else { return .notJudged }
            guard let value = header["crit"] else { return .passed }
            finding?.found = .json(value)
            finding?.note = "The token requires extensions; a server that does not support them must refuse it."
            return .failed
        }
    }

    /// `key-references`: a remark when the header brings a key or says where to get one.
    ///
    /// `jwk`, `jku`, `x5u` and `x5c` are never followed: keys come from configuration, never from the token.
    public static let keyReferences = TokenCheck(
        "key-references", expected: .absent, source: "RFC 8725 section 3.10"
    ) { token, finding in
        guard let header = token.header else { return nil }
        // By index: a closure would copy every member it visits.
        let members = header.members
        guard members.indices.contains(where: { isKeyReference(members[$0].name) }) else { return nil }
        finding?.found = .repeated(header.map(\.name).filter(isKeyReference))
        finding?.note = "The token names its own key, which is never used; only the configured key counts."
        return .noted
    }

    private static func isKeyReference(_ name: String) -> Bool {
        name == "jwk" || name == "jku" || name == "x5u" || name == "x5c"
    }
}

extension CompactToken {
    /// `algorithm`: the header's `alg` is exactly one of these.
    public func algorithm(isOneOf algorithms: [Algorithm], source: String? = nil) -> Finding {
        certain(.algorithm(isOneOf: algorithms, source: source))
    }

    /// The finding of a check that applies to every token.
    func certain(_ check: TokenCheck) -> Finding {
        finding(check) ?? Finding(check.subject, .notJudged, expected: check.expected, source: check.source)
    }

    /// The judgement of ``TokenCheck/type(is:required:exactly:source:)``.
    public func type(
        is type: String, required: Bool, exactly: Bool = false, _ finding: inout Finding?
    ) -> Finding.Outcome {
        guard let header else { return .notJudged }
        guard let value = header["typ"] else {
            finding?.found = .absent
            return required ? .failed : .passed
        }
        finding?.found = .json(value)
        let name = value.string
        if let name, name.hasSameBytes(as: type) { return .passed }
        guard let name, Self.areEqualIgnoringCase(name, type) else { return .failed }
        if exactly { finding?.note = "Case matters here." }
        return exactly ? .failed : .passed
    }

    private static func areEqualIgnoringCase(_ first: String, _ second: String) -> Bool {
        first.utf8.elementsEqual(second.utf8) { $0.lowercased == $1.lowercased }
    }
}

extension TokenCheck {
    /// The checks of the form, in the order in which a reader comes across them: `size`, `parts`, `header-base64url`,
    /// `payload-base64url`, `signature-base64url`, `header-json`, `header-duplicates`, `payload-json`,
    /// `payload-duplicates`.
    ///
    /// The first seven apply to every JWS; the last two to a JWT's payload.
    public static let structure: [TokenCheck] = [
        TokenCheck("size", expected: .bytesUpTo(CompactToken.Limits().bytes), source: nil) { $0.size(&$1) },
        TokenCheck("parts", expected: .count(3), source: "RFC 7515 section 7.1") { $0.parts(&$1) },
        encoding("header") { $0.headerPart?.encoded }, encoding("payload") { $0.payloadPart?.encoded },
        encoding("signature") { $0.signaturePart },
        object("header", "RFC 7515 section 4") { $0.headerPart },
        duplicates("header", "RFC 7515 section 4") { $0.headerPart },
        object("payload", "RFC 7519 section 7.2") { $0.payloadPart },
        duplicates("payload", "RFC 7519 section 4") { $0.payloadPart },
    ]

    private static func encoding(
        _ name: String, _ part: @escaping @Sendable (CompactToken) -> EncodedPart?
    ) -> TokenCheck {
        TokenCheck(
            "\(name)-base64url", expected: .text("base64url without padding"), source: "RFC 7515 section 2"
        ) { token, finding in
            guard let part = part(token), let fault = part.fault else {
                finding?.expected = nil
                return part(token) == nil ? .notJudged : .passed
            }
            finding?.found = .encoding(fault)
            finding?.note = token.wrapping(fault, isLast: name == "signature")
            return part.isAcceptable(token.encoding) ? .noted : .failed
        }
    }

    private static func object(
        _ name: String, _ source: String, _ part: @escaping @Sendable (CompactToken) -> ObjectPart?
    ) -> TokenCheck {
        TokenCheck("\(name)-json", expected: .text("a JSON object in UTF-8"), source: source) { token, finding in
            guard let part = part(token), part.encoded.bytes != nil else {
                finding?.expected = nil
                return .notJudged
            }
            switch part.fault {
            case .syntax(let error): finding?.found = .syntax(error)
            case .otherType(let name): finding?.found = .text(name)
            case nil: return .passed
            }
            return .failed
        }
    }

    private static func duplicates(
        _ name: String, _ source: String, _ part: @escaping @Sendable (CompactToken) -> ObjectPart?
    ) -> TokenCheck {
        TokenCheck("\(name)-duplicates", expected: .text("each member once"), source: source) { token, finding in
            guard let part = part(token), part.object != nil, !part.duplicates.isEmpty else {
                finding?.expected = nil
                return part(token)?.object == nil ? .notJudged : .passed
            }
            finding?.found = .repeated(part.duplicates)
            finding?.note = "If a name occurs twice, two readers may use different values."
            return .failed
        }
    }
}

extension CompactToken {
    public var structure: [Finding] { TokenCheck.structure.compactMap(finding) }

    /// What stands around the token, or cut it off, if that explains a part that is not base64url.
    fileprivate func wrapping(_ fault: Base64URL.Fault, isLast: Bool) -> String? {
        let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        switch fault {
        case _ where bytes.first.map(quotes.contains) == true || bytes.last.map(quotes.contains) == true:
            return "The token stands in quotes, which do not belong to it."
        case .whiteSpace where bytes.prefix(7).map({ $0 | 0x20 }) == Array("bearer ".utf8):
            return "“Bearer ” stands before the token; here it stands alone."
        case .whiteSpace where bytes.last.map { $0 <= 0x20 } == true:
            return "White space follows the token, such as the end of a line."
        case .unusedBits where isLast, .length where isLast: return "The token may be cut off at its end."
        case .padding, .standardAlphabet, .whiteSpace, .foreignByte, .length, .unusedBits: return nil
        }
    }

    /// The name of the first check of ``structure`` that fails; `nil` of a sound token.
    public var firstFault: String? { TokenCheck.structure.first { finding($0)?.outcome == .failed }?.name }

    fileprivate func size(_ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = .bytesUpTo(limits.bytes)
        finding?.found = .count(bytes.count)
        return bytes.count <= limits.bytes ? .passed : .failed
    }

    fileprivate func parts(_ finding: inout Finding?) -> Finding.Outcome {
        guard bytes.count <= limits.bytes else {
            finding?.source = nil
            return .notJudged
        }
        finding?.found = .count(partCount)
        switch partCount {
        case 1: finding?.note = "It has no dot: not a JWT, or truncated."
        case 2: finding?.note = "There is no signature, and no dot before it."
        case 3: return .passed
        case 5: finding?.note = "Five parts make an encrypted token (JWE), which only its recipient can read."
        case 6: finding?.note = "It has six parts or more."
        default: break
        }
        return .failed
    }
}
