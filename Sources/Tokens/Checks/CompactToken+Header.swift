internal import JSON

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
        if name.lowercased() == "none" {
            return "An unsigned token proves nothing; anybody could have written it."
        }
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
    public func algorithm(is algorithm: Algorithm, source: String? = nil) -> Finding {
        certain(.algorithm(is: algorithm, source: source))
    }

    /// `algorithm`: the header's `alg` is exactly one of these.
    public func algorithm(isOneOf algorithms: [Algorithm], source: String? = nil) -> Finding {
        certain(.algorithm(isOneOf: algorithms, source: source))
    }

    public func type(
        is type: String, required: Bool = false, exactly: Bool = false, source: String? = nil
    ) -> Finding {
        certain(.type(is: type, required: required, exactly: exactly, source: source))
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
        first.utf8.elementsEqual(second.utf8) { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    public func critical(source: String? = "RFC 7515 section 4.1.11") -> Finding { certain(.critical(source: source)) }

    /// The finding of ``TokenCheck/keyReferences``; `nil` where there is nothing to remark.
    public func keyReferences() -> Finding? { finding(.keyReferences) }

    func certain(_ check: TokenCheck) -> Finding {
        finding(check) ?? Finding(check.subject, .notJudged, expected: check.expected, source: check.source)
    }
}
