internal import JSON

extension CompactToken {
    /// `algorithm`: the header's `alg` is exactly this one, case-sensitively.
    ///
    /// The caller chooses the algorithm together with the key; the token only has to agree.
    public func algorithm(is algorithm: Algorithm, source: String? = nil) -> Finding {
        self.algorithm(expected: .algorithm(algorithm), source) { algorithm.isNamed($0) }
    }

    /// `algorithm`: the header's `alg` is exactly one of these.
    public func algorithm(isOneOf algorithms: [Algorithm], source: String? = nil) -> Finding {
        algorithm(expected: .algorithms(algorithms), source) { name in algorithms.contains { $0.isNamed(name) } }
    }

    private func algorithm(expected: Fact, _ source: String?, _ isExpected: (String) -> Bool) -> Finding {
        guard let header else { return Finding("algorithm", .notJudged, expected: expected, source: source) }
        let value = header["alg"]
        if let name = value?.string, isExpected(name) {
            return Finding("algorithm", .passed, expected: expected, found: .text(name), source: source)
        }
        return Finding(
            "algorithm", .failed, expected: expected, found: value.map(Fact.json) ?? .absent,
            note: Self.algorithmNote(value?.string), source: source ?? "RFC 8725 section 3.1")
    }

    /// Whether the header's `alg` is exactly this one.
    func names(_ algorithm: Algorithm) -> Bool { header?["alg"]?.string.map(algorithm.isNamed) ?? false }

    private static func algorithmNote(_ name: String?) -> String? {
        guard let name else { return nil }
        if name.lowercased() == "none" {
            return "An unsigned token proves nothing; whoever sent it can have written it."
        }
        if Algorithm(rawValue: name) == nil, Algorithm(rawValue: name.uppercased()) != nil {
            return "The names of algorithms are compared with their capitals."
        }
        return nil
    }

    /// `type`: the header's `typ`, compared case-insensitively in ASCII.
    ///
    /// - Parameters:
    ///   - required: Whether absence is a failure.
    ///   - exactly: Whether the comparison is case-sensitive.
    public func type(
        is type: String, required: Bool = false, exactly: Bool = false, source: String? = nil
    ) -> Finding {
        guard let header else { return Finding("type", .notJudged, expected: .text(type), source: source) }
        guard let value = header["typ"] else {
            return Finding(
                "type", required ? .failed : .passed, expected: .text(type), found: .absent, source: source)
        }
        let isSame = exactly ? value.string?.hasSameBytes(as: type) : isOfType(type)
        return Finding(
            "type", isSame == true ? .passed : .failed, expected: .text(type), found: .json(value),
            note: isSame != true && isOfType(type) == true ? "Capitals count here." : nil, source: source)
    }

    /// Whether the header's `typ` is this one; `nil` without one.
    func isOfType(_ type: String) -> Bool? {
        header?["typ"].map { value in value.string.map { Self.areEqualIgnoringCase($0, type) } ?? false }
    }

    private static func areEqualIgnoringCase(_ first: String, _ second: String) -> Bool {
        first.hasSameBytes(as: second) || first.utf8.elementsEqual(second.utf8) { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// `critical`: there is no `crit`.
    ///
    /// A reader must reject a token whose `crit` names an extension it does not support; none is supported here.
    public func critical(source: String? = "RFC 7515 section 4.1.11") -> Finding {
        guard let header else { return Finding("critical", .notJudged, expected: .absent, source: source) }
        guard let value = header["crit"] else {
            return Finding("critical", .passed, expected: .absent, source: source)
        }
        return Finding(
            "critical", .failed, expected: .absent, found: .json(value),
            note: "The token demands extensions, and whoever does not know them must refuse it.", source: source)
    }

    var isCritical: Bool { header?["crit"] != nil }

    /// `key-references`: a remark if the header contains or references a key, otherwise `nil`.
    ///
    /// `jwk`, `jku`, `x5u` and `x5c` are never followed: keys come from configuration, never from the token.
    public func keyReferences() -> Finding? {
        guard let header else { return nil }
        // By index: a closure would copy every member it visits.
        let members = header.members
        guard members.indices.contains(where: { Self.isKeyReference(members[$0].name) }) else { return nil }
        let names = header.map(\.name).filter(Self.isKeyReference)
        return Finding(
            "key-references", .noted, expected: .absent, found: .repeated(names),
            note: "The token names a key of its own; it is never followed, only the configured key counts.",
            source: "RFC 8725 section 3.10")
    }

    private static func isKeyReference(_ name: String) -> Bool {
        name == "jwk" || name == "jku" || name == "x5u" || name == "x5c"
    }
}
