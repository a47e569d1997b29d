import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Tokens as an app's own provider would sign them.
extension IMS {
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
            name: "user", about: "identifies a user to the backend",
            members: [
                ("issuer", "name of the issuer; by default the first one for which this server can sign"),
                ("sub", "enterprise id of the user; by default that of the issuer's tenant's first active user"),
                ("expires_in", "seconds from now to exp; by default 600"),
                ("kid", "key id in the header; by default that of the key that signs"),
                ("signed_by", "name of the dev issuer whose key signs; by default the issuer itself"),
            ], defects: OwnDefect.allCases.map(\.rawValue))
    ]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<IMS>) throws(ControlRefusal) -> String {
        let issuer = try issuer(try order.string("issuer"), in: setting.state)
        let signer = try order.string("signed_by") ?? issuer.record.name
        let key = try signingKey(of: signer, in: setting.state)
        let draft = try draft(for: issuer, key, &order, in: setting)
        return try order.mint(
            UnsignedToken(draft, key: key, algorithm: .rs256), at: setting.moment, own: OwnDefect.init(rawValue:)
        ) { (defect, token) throws(ControlRefusal) in try apply(defect, to: &token, of: signer, in: setting.state) }
    }

    private func issuer(_ name: String?, in state: State) throws(ControlRefusal) -> IMSIssuer {
        let all = state.issuers.all
        guard let name else {
            return try ControlRefusal.require(
                all.first(where: { accounts.devIssuer($0.record.name) != nil }),
                "there is no issuer for which this server can sign")
        }
        return try ControlRefusal.require(
            state.issuers[name], "no issuer is called", name, among: all.map(\.record.name))
    }

    private func signingKey(of name: String, in state: State) throws(ControlRefusal) -> SigningKey {
        guard let keys = try devKeys(of: name, among: state.devKeys) else {
            let known = accounts.devIssuers.map(\.name).joined(separator: ", ")
            throw ControlRefusal(
                "the private key of issuer \(name) is not known here; name another one with the member signed_by (\(known))"
            )
        }
        return keys.signing
    }

    private func draft(
        for issuer: IMSIssuer, _ key: SigningKey, _ order: inout MintRequest, in setting: TokenSetting<IMS>
    ) throws(ControlRefusal) -> TokenDraft {
        let record = issuer.record
        let subject = try order.string("sub")
        let user = setting.state.users.all.first { $0.tenant == record.tenant && $0.state == .active }
        let now = setting.moment.wholeSeconds
        let (expiry, isTooFar) = now.addingReportingOverflow(try order.int("expires_in") ?? 600)
        if isTooFar { throw ControlRefusal("expires_in is too large") }
        var header: JSONObject = ["alg": "RS256", "typ": "JWT"]
        header["kid"] = (try order.string("kid") ?? key.id).map(JSON.string)
        var claims: JSONObject = [
            "iss": .string(record.issuer(at: setting.base)),
            "sub": .string(subject ?? user?.enterpriseID ?? "EMP-0001"), "iat": JSON(now), "exp": JSON(expiry),
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
    ) throws(ControlRefusal) {
        switch defect {
        case .noNotBefore: for name in ["nbf", "iat"] { token.content.claims[name] = nil }
        case .unknownKeyID: token.content.header["kid"] = "unknown-\(token.key.id ?? "key")"
        case .longLife:
            let begin = token.content.claims["nbf"]?.int ?? token.content.claims["iat"]?.int ?? 0
            let (expiry, isTooFar) = begin.addingReportingOverflow(960)
            if isTooFar { throw ControlRefusal("the token begins too late to live for another 16 minutes") }
            token.content.claims["exp"] = JSON(expiry)
        case .embeddedKey:
            let other = try ControlRefusal.require(
                accounts.devIssuers.first(where: { $0.name != signer }),
                "embedded-jwk needs a second dev issuer, whose key the token carries")
            token.key = try signingKey(of: other.name, in: state)
            token.content.header["jwk"] = token.key.publicJWK(algorithm: .rs256)
        }
    }

    var secretTexts: [String] { [accounts.operatorKey] }

    func secrets(in state: State) -> [SecretLedger] { [state.users.secrets] }

    var samples: [(label: String, value: String)] {
        // Whose iss is this server's own address has no fixed one.
        accounts.issuers.filter { !$0.record.issuer.hasPrefix("{base}") }
            .map { (label: "issuer \($0.record.name), iss", value: $0.record.issuer) }
            + accounts.users.compactMap { user in
                user.enterpriseID.map { (label: "user \(user.id) (\(user.state.rawValue)), sub", value: $0) }
            }
    }

    func sampleRequest(in setting: TokenSetting<IMS>) throws(ControlRefusal) -> SampleRequest {
        let token = try mint("user", in: setting)
        return SampleRequest(endpoint: .get("/ims/v1/me"), bearer: token)
    }

    /// The keys of a dev issuer, taken from the changed ones if they contain it; `nil` when there is no such issuer.
    ///
    /// - Throws: which file holds no key.
    func devKeys(of name: String, among changed: [String: IssuerKeys]) throws(ControlRefusal) -> IssuerKeys? {
        if let keys = changed[name] { return keys }
        return try accounts.devIssuer(name)?.initialKeys()
    }

    func issuers(in state: State) -> [IssuerKeys] {
        // Minting reports a file without a key; here the issuer is skipped.
        accounts.devIssuers.compactMap { (try? devKeys(of: $0.name, among: state.devKeys)) ?? nil }
    }

    func store(_ keys: IssuerKeys, in state: inout State) { state.store(keys) }

    func remoteKeys(in state: State) -> [RemoteKeys] { state.issuers.all.compactMap(\.remote) }

    func store(_ keys: RemoteKeys, in state: inout State) {
        guard let issuer = state.issuers[keys.issuer] else { return }
        state.issuers.store(IMSIssuer(issuer.record, remote: keys, after: issuer))
    }
}

/// The keys of issuers for which this server signs, published as real issuers publish theirs (ours).
extension IMS {
    /// Answers with the keys as a JWKS (RFC 7517 section 5).
    static func publishKeySet(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        try publish(&call, &state) { keys throws(Refused) in
            ["keys": .array((keys.keySet["keys"]?.array ?? []).map(ordered))]
        }
    }

    /// A public key with its members in the contract's order (ours).
    private static func ordered(_ key: JSON) -> JSON {
        var members = JSONObject()
        for name in ["kty", "alg", "use", "kid", "n", "e"] { members[name] = key[name] }
        return .object(members)
    }

    /// Answers with the keys as a map of ids to self-signed certificates, the way Google publishes Firebase's.
    static func publishCertificates(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        try publish(&call, &state) { keys throws(Refused) in
            var map = JSONObject()
            // A map cannot hold a key without an id.
            for key in keys.published.map(\.key) where key.id != nil {
                let certificate = try Refused.require(
                    key.selfSignedCertificate(name: "understudy test key \(key.id ?? "")"), .serviceUnavailable,
                    "no certificate could be made of key \(key)")
                map[key.id ?? ""] = .string(certificate)
            }
            return .object(map)
        }
    }

    private static func publish(
        _ call: inout IMSCall, _ state: inout State, _ body: (IssuerKeys) throws(Refused) -> JSON
    ) throws(Refused) -> Reply {
        let name = call.parameters["name"]
        let found: IssuerKeys?
        do throws(ControlRefusal) {
            found = try call.vendor.devKeys(of: name, among: state.devKeys)
        } catch {
            throw Refused(.serviceUnavailable, because: error.description)
        }
        guard var keys = found, let issuer = call.vendor.accounts.devIssuer(name) else {
            throw Refused(
                .issuerNotFound,
                because: "no private key of an issuer \(name) is known here; expected a dev issuer of the fixtures")
        }
        let content = try body(keys)
        guard keys.fetch() != nil else {
            state.store(keys)
            call.findings.note("dev-issuer", note: "The drill break makes this issuer answer 500.")
            return .respond(.empty(.internalServerError))
        }
        state.store(keys)
        // ours: ten minutes, unless the fixtures say something else.
        return .respond(.json(content).with(.cacheControl, issuer.cacheControl ?? "public, max-age=600"))
    }
}
