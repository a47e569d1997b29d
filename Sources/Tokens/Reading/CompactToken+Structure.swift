internal import JSON

extension CompactToken {
    /// All findings about the form, in reading order: `size`, `parts`, `header-base64url`, `payload-base64url`,
    /// `signature-base64url`, `header-json`, `header-duplicates`, `payload-json`, `payload-duplicates`.
    ///
    /// The first seven apply to every JWS; the last two to a JWT's payload.
    public var structure: [Finding] {
        var findings: [Finding] = []
        // Room for the findings that callers usually add.
        findings.reserveCapacity(16)
        addSignedStructure(to: &findings)
        addClaimsStructure(to: &findings)
        return findings
    }

    /// The findings about the form that apply to every JWS, whatever its payload.
    public var signedStructure: [Finding] {
        var findings: [Finding] = []
        addSignedStructure(to: &findings)
        return findings
    }

    /// The findings about a payload that should be a claims set.
    public var claimsStructure: [Finding] {
        var findings: [Finding] = []
        addClaimsStructure(to: &findings)
        return findings
    }

    private func addSignedStructure(to findings: inout [Finding]) {
        findings.append(sizeFinding)
        findings.append(partsFinding)
        findings.append(encoding(of: headerPart?.encoded, "header-base64url"))
        findings.append(encoding(of: payloadPart?.encoded, "payload-base64url"))
        findings.append(encoding(of: signaturePart, "signature-base64url"))
        findings.append(object(in: headerPart, "header-json", "RFC 7515 section 4"))
        findings.append(duplicates(in: headerPart, "header-duplicates", "RFC 7515 section 4"))
    }

    private func addClaimsStructure(to findings: inout [Finding]) {
        findings.append(object(in: payloadPart, "payload-json", "RFC 7519 section 7.2"))
        findings.append(duplicates(in: payloadPart, "payload-duplicates", "RFC 7519 section 4"))
    }

    private var sizeFinding: Finding {
        Finding(
            "size", bytes.count <= limits.bytes ? .passed : .failed, expected: .bytesUpTo(limits.bytes),
            found: .count(bytes.count))
    }

    private var partsFinding: Finding {
        guard bytes.count <= limits.bytes else { return Finding("parts", .notJudged, expected: .count(3)) }
        let note: String? =
            switch partCount {
            case 1: "There is no dot in it: not a JWT, or cut off."
            case 2: "The signature and the dot before it are not there."
            case 5: "Five parts are an encrypted token (JWE), which only its recipient can read."
            case 6: "There are six parts or more."
            default: nil
            }
        return Finding(
            "parts", partCount == 3 ? .passed : .failed, expected: .count(3), found: .count(partCount), note: note,
            source: "RFC 7515 section 7.1")
    }

    private func encoding(of part: EncodedPart?, _ check: String) -> Finding {
        guard let part else { return Finding(check, .notJudged, source: "RFC 7515 section 2") }
        guard let fault = part.fault else { return Finding(check, .passed, source: "RFC 7515 section 2") }
        return Finding(
            check, part.isAcceptable(encoding) ? .noted : .failed, expected: .text("base64url without padding"),
            found: .encoding(fault), source: "RFC 7515 section 2")
    }

    private func object(in part: ObjectPart?, _ check: String, _ source: String) -> Finding {
        guard let part, part.encoded.bytes != nil else { return Finding(check, .notJudged, source: source) }
        let found: Fact? =
            switch part.fault {
            case .syntax(let error): .syntax(error)
            case .otherType(let name): .text(name)
            case nil: nil
            }
        return Finding(
            check, found == nil ? .passed : .failed, expected: .text("a JSON object in UTF-8"), found: found,
            source: source)
    }

    private func duplicates(in part: ObjectPart?, _ check: String, _ source: String) -> Finding {
        guard let part, part.object != nil else { return Finding(check, .notJudged, source: source) }
        guard !part.duplicates.isEmpty else { return Finding(check, .passed, source: source) }
        return Finding(
            check, .failed, expected: .text("each member once"), found: .repeated(part.duplicates),
            note: "Of two members of one name, two readers may take a different one.", source: source)
    }
}
