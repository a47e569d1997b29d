import Emulation
import JSON
import Tokens

/// What IMS asks of the keys of the issuer, and of the signature.
enum IMSKeyRules {
    static let all = [keysThere, key] + certificates + [certificateDates, signature, otherSigner]

    private static let keysThere = IMSRule(
        "keys", expects: .text("keys of the issuer"), source: "ours; switch jwks-cooldown-seconds", .ours,
        orFail: [.keysUnavailable],
        by: { Refusal(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
    ) { facts, finding in
        switch facts.keys {
        case .unfetched:
            finding?.expected = nil
            finding?.source = nil
            finding?.found = .absent
            finding?.note = "The keys have not been fetched yet."
            return .notJudged
        case .unavailable(let why, let note):
            let record = facts.issuer?.record
            finding?.expected = .text(
                "keys of issuer \(record?.name ?? "")" + (record?.source.url.map { " at \($0)" } ?? ""))
            finding?.found = .text(why)
            finding?.note = note
            return .failed
        case .none, .unnamed, .unknown, .some: return nil
        }
    }

    private static let key = IMSRule(
        "key", expects: .text("a key of the issuer"), source: "security page, JWT Claims: kid; details ours",
        orFail: [.kidRequired, .kidUnknown],
        by: { facts in
            if case .unnamed = facts.keys { Refusal(.kidRequired) } else { Refusal(.kidUnknown) }
        }
    ) { facts, finding in
        switch facts.keys {
        case .none, .unfetched, .unavailable: return nil
        case .some:
            finding?.found = facts.token?.keyID.map(Fact.text) ?? .absent
            return .passed
        case .unnamed(let expected):
            finding?.expected = .text(expected)
            finding?.found = .absent
            return .failed
        case .unknown:
            let known = facts.issuer?.ring.keys.compactMap(\.id).joined(separator: ", ") ?? ""
            finding?.expected = .text("one of \(known)")
            finding?.found = facts.token?.keyID.map(Fact.text)
            finding?.note = facts.judge?.absence(of: facts)
            return .failed
        }
    }

    /// Warns about each candidate's certificate by default: the one on the vendor's page has long expired.
    private static let certificates = (0..<IMSKeyRing.mostTried).map { number in
        IMSRule(
            "certificate-expired", id: "certificate-\(number + 1)", expects: .text("a moment within its dates"),
            source: "RFC 5280 section 4.1.2.5"
        ) { facts, finding in
            guard let issuer = facts.issuer, issuer.ring.hasCertificates, issuer.record.certificateDates != .ignore,
                case .some(let keys) = facts.keys, number < keys.places.count
            else { return nil }
            let validity = issuer.ring.keys[keys.places[number]].validity
            return finding.take(validity?.finding(at: facts.moment.unixSeconds).noted)
        }
    }

    /// Keys are left out while their certificates are not valid, if the issuer wants that (ours).
    private static let certificateDates = IMSRule(
        "certificate-dates", expects: .text("a certificate that is valid now"), source: "ours", .ours,
        orFail: .certificateExpired
    ) { facts, finding in
        guard case .some(let keys) = facts.keys, keys.valid.isEmpty, let issuer = facts.issuer else { return nil }
        finding?.expected = .text("a certificate that is valid at \(facts.moment.rfc3339)")
        finding?.found = .text(keys.places.compactMap { issuer.ring.keys[$0].validity?.dates }.joined(separator: "; "))
        finding?.note = "certificate_dates of issuer \(issuer.record.name) is reject; warn and ignore accept it."
        return .failed
    }

    private static let signature = IMSRule(
        "signature", expects: .text("RS256 by a key of the issuer"), source: "security page: verified server-side",
        orFail: .signatureInvalid
    ) { facts, finding in
        guard let token = facts.token else { return nil }
        guard case .some(let keys) = facts.keys, !keys.valid.isEmpty, let issuer = facts.issuer else {
            finding?.expected = nil
            finding?.source = nil
            finding?.note = "No key is known to judge it by."
            return .notJudged
        }
        let outcome = token.signature(by: issuer.ring, at: keys.valid, &finding)
        if outcome == .failed, !facts.isRefused, finding != nil,
            let reason = facts.judge?.mistake(in: facts, at: keys.valid)
        {
            finding?.note = reason
        }
        return outcome
    }

    private static let otherSigner = IMSRule(
        "signature-of-another", expects: .absent, source: nil, .ours
    ) { facts, finding in
        guard let other = facts.otherSigner else { return nil }
        finding?.expected = nil
        finding?.found = .text(other.issuer.record.name)
        return .noted
    }
}
