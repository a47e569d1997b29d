import Emulation
import JSON
import Tokens

/// Tokens as an app's own provider would sign them.
extension IMS {
    private static let members: [(name: String, about: String)] = [
        ("issuer", "name of the issuer; the first one for which this server can sign"),
        ("sub", "enterprise id of the user; that of the first active user of the issuer's tenant"),
        ("expires_in", "seconds from now to exp; 600"),
        ("kid", "key id in the header; that of the key that signs"),
        ("signed_by", "name of the dev issuer whose key signs; the issuer itself"),
    ]

    /// Defects besides the general ones. Of those in the spec, `no-kid` and `no-typ` are `missing-kid` and
    /// `missing-typ`, and `alg-hs256-public-key` is `public-key-as-secret`.
    private enum OwnDefect: String, CaseIterable {
        case noNotBefore = "no-nbf-no-iat"
        case unknownKeyID = "unknown-kid"
        case longLife = "lifetime-16m"
        case embeddedKey = "embedded-jwk"
    }

    static let tokenKinds = [
        TokenKind(
            name: "user", about: "identifies a user to the backend", members: members,
            defects: OwnDefect.allCases.map(\.rawValue))
    ]

    func mint(_ order: MintRequest, in setting: TokenSetting<IMS>) throws(MintRefusal) -> MintedToken {
        var reader = MintRequestReader(order)
        let issuer = try issuer(try reader.string("issuer"), in: setting.state)
        let signer = try reader.string("signed_by") ?? issuer.record.name
        let key = try signingKey(of: signer, in: setting.state)
        let draft = try draft(for: issuer, key, &reader, in: setting)
        return try reader.mint(
            UnsignedToken(draft, key: key, algorithm: .rs256), at: setting.moment, own: OwnDefect.init(rawValue:)
        ) { (defect, token) throws(MintRefusal) in try apply(defect, to: &token, of: signer, in: setting.state) }
    }

    private func issuer(_ name: String?, in state: State) throws(MintRefusal) -> IMSIssuer {
        let all = state.issuers.all
        guard let name else {
            guard let first = all.first(where: { accounts.devIssuer($0.record.name) != nil }) else {
                throw MintRefusal("there is no issuer for which this server can sign")
            }
            return first
        }
        guard let issuer = state.issuers.named(name) else {
            throw MintRefusal("no issuer is called \(name)\(Nearest.hint(to: name, among: all.map(\.record.name)))")
        }
        return issuer
    }

    private func signingKey(of name: String, in state: State) throws(MintRefusal) -> SigningKey {
        guard let keys = try devKeys(of: name, in: state) else {
            let known = accounts.devIssuers.map(\.name).joined(separator: ", ")
            throw MintRefusal(
                "the private key of issuer \(name) is not known here; name another one with the member signed_by (\(known))"
            )
        }
        return keys.signing
    }

    private func draft(
        for issuer: IMSIssuer, _ key: SigningKey, _ reader: inout MintRequestReader, in setting: TokenSetting<IMS>
    ) throws(MintRefusal) -> TokenDraft {
        let record = issuer.record
        let subject = try reader.string("sub")
        let user = setting.state.users.all.first { $0.tenant == record.tenant && $0.state == .active }
        let now = setting.moment.wholeSeconds
        let (expiry, isTooFar) = now.addingReportingOverflow(try reader.int("expires_in") ?? 600)
        if isTooFar { throw MintRefusal("expires_in is too large") }
        var header: JSONObject = ["alg": "RS256", "typ": "JWT"]
        header["kid"] = (try reader.string("kid") ?? key.id).map(JSON.string)
        var claims: JSONObject = [
            "iss": .string(record.issuer(at: setting.base)),
            "sub": .string(subject ?? user?.enterpriseID ?? "EMP-0001"),
            "iat": JSON(now),
            "exp": JSON(expiry),
        ]
        // Tokens have what their issuer is registered with.
        if let audience = record.audience {
            claims[record.tokenUse == "access" ? "client_id" : "aud"] = .string(audience)
        }
        claims["token_use"] = record.tokenUse.map(JSON.string)
        if record.needsTokenID { claims["jti"] = "\(record.name)-\(now)" }
        return TokenDraft(header: header, claims: claims)
    }

    private func apply(
        _ defect: OwnDefect, to token: inout UnsignedToken, of signer: String, in state: State
    ) throws(MintRefusal) {
        switch defect {
        case .noNotBefore: for name in ["nbf", "iat"] { token.content.claims[name] = nil }
        case .unknownKeyID: token.content.header["kid"] = "unknown-\(token.key.id ?? "key")"
        case .longLife:
            let begin = token.content.claims["nbf"]?.int ?? token.content.claims["iat"]?.int ?? 0
            let (expiry, isTooFar) = begin.addingReportingOverflow(960)
            if isTooFar { throw MintRefusal("the token begins too late to live for another 16 minutes") }
            token.content.claims["exp"] = JSON(expiry)
        case .embeddedKey:
            guard let other = accounts.devIssuers.first(where: { $0.name != signer }) else {
                throw MintRefusal("embedded-jwk needs a second dev issuer, whose key the token brings along")
            }
            token.key = try signingKey(of: other.name, in: state)
            token.content.header["jwk"] = token.key.publicJWK(algorithm: .rs256)
        }
    }

    var secretTexts: [String] { [accounts.operatorKey] }

    func secrets(in state: State) -> SecretLedger { state.users.secrets }

    var samples: [SampleCredential] {
        // Whose iss is this server's own address has no fixed one.
        accounts.issuers.filter { !$0.record.issuer.hasPrefix("{base}") }
            .map { SampleCredential(label: "issuer \($0.record.name), iss", value: $0.record.issuer) }
            + accounts.users.compactMap { user in
                user.enterpriseID.map {
                    SampleCredential(label: "user \(user.id) (\(user.state.rawValue)), sub", value: $0)
                }
            }
    }

    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        let minted = try mint(
            MintRequest(kind: "user"), in: TokenSetting(state: initialState, moment: moment, switches: .documented))
        return SampleRequest(
            endpoint: .get("/ims/v1/me"), fields: [("authorization", "Bearer \(minted.token)")], body: "")
    }
}
