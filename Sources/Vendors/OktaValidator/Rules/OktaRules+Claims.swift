import Emulation
import JSON
import Tokens

/// The rules about issuer, audience and the claims that name a client.
extension OktaRules {
    private static let source = "validator page, Validation Options"

    var issuer: OktaRule {
        OktaRule(
            "issuer", expects: .text("iss equal to the option issuer"), source: Self.source, orFail: .issuer,
            because: { "\($0.found("iss")), expected \(JSON($0.issuer).text)" }
        ) { facts, finding in
            guard let issuer = facts.issuer else { return nil }
            return facts.token.claim("iss", equals: issuer, &finding)
        }
    }

    var audience: [OktaRule] {
        guard let option = options.audience else { return [] }
        let audience = profile == .documented ? option : option.withoutEndingSlash
        let expected = "expected \(JSON.string(audience).text)"
        let contained = OktaRule(
            "audience", expects: .text("aud equal to the option audience, or an array that contains it"),
            source: Self.source, orFail: .audience, because: { "\($0.found("aud")), \(expected)" }
        ) { facts, finding in facts.token.audience(isOneOf: [audience], &finding) }
        guard profile == .documented else { return [contained] }
        // ours: the validator page says "optionally", and OpenID Connect Core 3.1.3.7 leaves it to the client.
        let party = OktaRule(
            "authorized-party", expects: .text("azp equal to the option audience, if there are several audiences"),
            source: "ours; OpenID Connect Core 3.1.3.7", .ours, orFail: .authorizedParty,
            because: { "aud names several, and \($0.found("azp")), \(expected)" }
        ) { facts, finding in
            guard let members = facts.token.claims?["aud"]?.array, members.count > 1 else { return nil }
            return facts.token.claim("azp", equals: audience, &finding)
        }
        return [contained, party]
    }

    var nonce: [OktaRule] {
        guard let nonce = options.nonce else { return [] }
        let isOptional = profile == .observed
        return [
            OktaRule(
                "nonce", expects: .text("nonce equal to the option nonce"), source: Self.source, orFail: .nonce,
                because: { "\($0.found("nonce")), expected \(JSON.string(nonce).text)" }
            ) { facts, finding in
                if isOptional, facts.token.claims?["nonce"]?.string == nil { return nil }
                return facts.token.claim("nonce", equals: nonce, &finding)
            }
        ]
    }

    /// `cid`, `scp`, and the claims that only an app knows, which are compared in order of name.
    var clientClaims: [OktaRule] {
        var claims = options.claims
        var rules: [OktaRule] = []
        switch profile {
        case .documented:
            if let client = options.clientID { rules.append(claim("cid", is: client, check: "client", .client)) }
            if let scopes = options.scopes { rules.append(self.scopes(scopes)) }
        // The shipped library knows neither: to it they are claims like any other, so an array never fits.
        case .observed:
            claims["cid"] = options.clientID ?? claims["cid"]
            claims["scp"] = options.scopes ?? claims["scp"]
        }
        let sorted = claims.sorted { ExactText($0.key) < ExactText($1.key) }
        return rules + sorted.map { claim($0.key, is: $0.value, check: "claim-\($0.key)", .claim) }
    }

    private func claim(_ name: String, is text: String, check: String, _ failure: OktaTokenFailure) -> OktaRule {
        OktaRule(
            check, expects: .text("\(name) equal to the option"), source: Self.source, orFail: failure,
            carrying: { _ in text }, because: { "\($0.found(name)), expected \(JSON.string(text).text)" }
        ) { facts, finding in facts.token.claim(name, equals: text, &finding) }
    }

    private func scopes(_ text: String) -> OktaRule {
        let demanded = text.split(separator: " ").map(String.init)
        return OktaRule(
            "scopes", expects: .text("every name of the option in scp or scope"),
            source: "ours; validator page, invalidScope",
            .ours,
            orFail: .scope, carrying: { _ in text },
            because: { facts in
                "\(facts.found(facts.scopeClaim)), which lacks \(facts.lacking(demanded).joined(separator: ", "))"
            }
        ) { facts, finding in
            guard let claims = facts.token.claims else { return .notJudged }
            finding?.expected = .text(text)
            finding?.found = claims[facts.scopeClaim].map(Fact.json) ?? .absent
            return facts.lacking(demanded).isEmpty ? .passed : .failed
        }
    }
}

extension OktaValidatorFacts {
    /// The claim with the scopes: Okta's own, or that of RFC 9068 section 2.2.3.
    fileprivate var scopeClaim: String {
        token.claims?["scp"] == nil && token.claims?["scope"] != nil ? "scope" : "scp"
    }

    /// Which of these scopes are not granted.
    fileprivate func lacking(_ demanded: [String]) -> [String] {
        let value = token.claims?[scopeClaim]
        let granted = value?.array?.compactMap(\.string) ?? value?.string?.split(separator: " ").map(String.init) ?? []
        let names = Set(granted.map { ExactText($0) })
        return demanded.filter { !names.contains(ExactText($0)) }
    }
}

extension String {
    /// The text without one slash at its end, as the shipped library takes issuer and audience.
    var withoutEndingSlash: String { utf8.last == UInt8(ascii: "/") ? String(dropLast()) : self }
}
