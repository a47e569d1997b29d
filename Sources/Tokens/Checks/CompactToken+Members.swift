public import JSON

extension CompactToken {
    /// `header-NAME-present`: a header member is present and has one of these types.
    ///
    /// For a missing member the finding's `found` is ``Fact/absent``, so callers can tell the two failures apart.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it passes.
    public func headerMember(
        _ name: String, is types: ValueTypes, required: Bool = true, source: String? = nil
    ) -> Finding {
        presence(.headerMember(name, .present), header, name, types, required, source)
    }

    /// `claim-NAME-present`: a claim is present and has one of these types.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it passes.
    public func claim(
        _ name: String, is types: ValueTypes, required: Bool = true, source: String? = nil
    ) -> Finding {
        presence(.claim(name, .present), claims, name, types, required, source)
    }

    /// Whether ``headerMember(_:equals:required:source:)`` passes for a required member.
    public func hasHeaderMember(_ name: String, equalTo text: String) -> Bool {
        header?[name]?.string?.hasSameBytes(as: text) ?? false
    }

    /// `header-NAME-equals`: a header member is this string, byte for byte.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it is not judged.
    public func headerMember(
        _ name: String, equals text: String, required: Bool = true, source: String? = nil
    ) -> Finding {
        equality(.headerMember(name, .equals), header?[name], isReadable: header != nil, [text], required, source)
    }

    /// `claim-NAME-equals`: a claim is this string, byte for byte.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it is not judged.
    public func claim(_ name: String, equals text: String, required: Bool = true, source: String? = nil) -> Finding {
        equality(.claim(name, .equals), claims?[name], isReadable: claims != nil, [text], required, source)
    }

    /// `claim-NAME-equals`: a claim is one of these strings, byte for byte.
    public func claim(
        _ name: String, equalsOneOf texts: [String], required: Bool = true, source: String? = nil
    ) -> Finding {
        equality(.claim(name, .equals), claims?[name], isReadable: claims != nil, texts, required, source)
    }

    /// `claim-NAME-equals`: a claim is this value, in the same notation: `1` is not `1.0`.
    public func claim(_ name: String, equals value: JSON, required: Bool = true, source: String? = nil) -> Finding {
        guard let claims, let found = claims[name] else {
            return missing(.claim(name, .equals), isReadable: claims != nil, required, .json(value), source)
        }
        return Finding(
            .claim(name, .equals), found.bytes == value.bytes ? .passed : .failed, expected: .json(value),
            found: .json(found), source: source)
    }

    /// `audience`: the claim `aud` is one of these strings, or an array that contains one.
    ///
    /// - Parameter acceptsArray: Whether an array is accepted, as RFC 7519 section 4.1.3 allows.
    public func audience(
        isOneOf texts: [String], acceptsArray: Bool = true, required: Bool = true,
        source: String? = "RFC 7519 section 4.1.3"
    ) -> Finding {
        let expected = Fact.anyOf(texts)
        guard let claims else { return Finding("audience", .notJudged, expected: expected, source: source) }
        guard let found = claims["aud"] else {
            return Finding(
                "audience", required ? .failed : .notJudged, expected: expected, found: .absent, source: source)
        }
        let candidates = acceptsArray ? found.array ?? [found] : [found]
        let fits = candidates.contains { candidate in
            candidate.string.map { name in texts.contains { $0.hasSameBytes(as: name) } } ?? false
        }
        return Finding(
            "audience", fits ? .passed : .failed, expected: expected, found: .json(found), source: source)
    }

    private func presence(
        _ subject: Finding.Subject, _ members: JSONObject?, _ name: String, _ types: ValueTypes, _ required: Bool,
        _ source: String?
    ) -> Finding {
        guard let members else { return Finding(subject, .notJudged, expected: .types(types), source: source) }
        guard let value = members[name] else {
            return Finding(
                subject, required ? .failed : .passed, expected: .types(types), found: .absent, source: source)
        }
        let isAllowed = types.allows(value)
        let isExcessive = !isAllowed && value.number != nil && NumericDate(value).size == .excessive
        return Finding(
            subject, isAllowed ? .passed : .failed, expected: .types(types), found: .json(value),
            note: isExcessive ? "The number is above 2^53, beyond which none is told from the next." : nil,
            source: source)
    }

    private func equality(
        _ subject: Finding.Subject, _ found: JSON?, isReadable: Bool, _ texts: [String], _ required: Bool,
        _ source: String?
    ) -> Finding {
        let expected = texts.count == 1 ? Fact.text(texts[0]) : .anyOf(texts)
        guard let found else { return missing(subject, isReadable: isReadable, required, expected, source) }
        let fits = found.string.map { string in texts.contains { $0.hasSameBytes(as: string) } } ?? false
        return Finding(
            subject, fits ? .passed : .failed, expected: expected, found: .json(found), source: source)
    }

    private func missing(
        _ subject: Finding.Subject, isReadable: Bool, _ required: Bool, _ expected: Fact, _ source: String?
    ) -> Finding {
        Finding(
            subject, isReadable && required ? .failed : .notJudged, expected: expected,
            found: isReadable ? .absent : nil, source: source)
    }
}
