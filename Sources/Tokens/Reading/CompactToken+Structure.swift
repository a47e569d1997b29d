internal import JSON

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

    /// The name of the first check of ``structure`` that fails; `nil` of a sound token.
    public var firstFault: String? {
        TokenCheck.structure.first { finding($0)?.outcome == .failed }?.name
    }

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
