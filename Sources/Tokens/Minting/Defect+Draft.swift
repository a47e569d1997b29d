internal import JSON

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
        guard !names.isEmpty else {
            throw .notApplicable(self, "the token has no exp, nbf or iat that is a number")
        }
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
