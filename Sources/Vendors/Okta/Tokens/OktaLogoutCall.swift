import Emulation
import HTTPTypes
import JSON
import Tokens

/// The request of a Universal Logout. Source: docs:guides/oin-universal-logout-overview.
struct OktaLogoutCall {
    /// The outgoing request, with its token.
    let request: OutgoingRequest

    private static let type = "global-token-revocation+jwt"
    private static let scheme = "Bearer "
    /// The seconds before and after now in which the token is good.
    private static let margin = 300
    /// The name of the refusal to call an address.
    private static let refusal = "logout-target-refused"

    /// The defects of Okta that this token can have.
    static let defects: [OktaDefect] = [
        .issuedInFuture, .iatMilliseconds, .unknownKeyID, .retiredKey, .nextKey, .wrongIssuer, .wrongAudience,
        .audienceArray, .typOther,
    ]

    init(_ call: ActionCall<Okta>, _ state: OktaState) throws(ActionRefusal) {
        let user = try Okta.user(call, state)
        let client = try Okta.client(call)
        let defect = try call.text("defect")
        guard let url = client.logoutURI else {
            throw ActionRefusal("client \(client.id) has no universal_logout_uri to call", code: Self.refusal)
        }
        let format = try call.read { $0.choice("format", of: OktaSwitches.LogoutSubject.self) }
        let subject: JSON =
            switch format ?? call.switches.logoutSubject {
            case .email: ["format": "email", "email": .string(user.address)]
            case .issuerAndSubject: ["format": "iss_sub", "iss": .string(call.base), "sub": .string(user.id)]
            }
        let token: String
        do throws(MintRefusal) {
            token = try Self.token(call, state, for: client, at: url, spoiledBy: defect)
        } catch {
            throw ActionRefusal(error.description)
        }
        let content: JSON = ["sub_id": subject]
        request = OutgoingRequest(
            url: url, fields: [.contentType: "application/json", .authorization: Self.scheme + token],
            body: content.bytes, allowedHosts: call.switches.logoutHosts, refusal: Self.refusal)
    }

    private static func token(
        _ call: ActionCall<Okta>, _ state: OktaState, for client: OktaClient, at url: String, spoiledBy name: String?
    ) throws(MintRefusal) -> String {
        guard let keys = try call.vendor.keys(of: OktaServer.orgID, in: state) else {
            throw MintRefusal("the org server has no keys")
        }
        let now = call.moment.wholeSeconds
        let header: JSONObject = ["typ": .string(type), "kid": JSON(keys.signing.id), "alg": "RS256"]
        let claims: JSONObject = [
            "jti": .string(call.identifiers.opaque(ofLength: 22)), "iss": .string(call.base),
            "sub": .string(client.id), "aud": .string(String(url.prefix { $0 != "?" && $0 != "#" })),
            "exp": JSON(now + margin), "nbf": JSON(now - margin), "iat": JSON(now),
        ]
        var draft = UnsignedToken(
            TokenDraft(header: header, claims: claims), key: keys.signing, algorithm: keys.algorithm)
        if let defect = defects.first(where: { $0.rawValue == name }) {
            try defect.apply(to: &draft, of: keys)
        } else {
            draft.defect = name
        }
        return try draft.signed(at: call.moment).token
    }

    /// The result for people: the status with what was sent, or why there is none.
    static func result(of request: OutgoingRequest, _ answer: OutgoingAnswer) -> JSON {
        if case .failed(let problem) = answer { return ["status": nil, "reason": .string(problem.kind.rawValue)] }
        let token = request.fields[.authorization].map { $0.dropFirst(scheme.utf8.count) } ?? ""
        // The signature stays out: the rest of the token says all that people need.
        let sent = CompactToken(String(token), encoding: .lenient)
        return [
            "status": answer.status,
            "request": [
                "method": .string(request.method.rawValue), "url": .string(request.url),
                "header": sent.header.map(JSON.object) ?? .null, "claims": sent.claims.map(JSON.object) ?? .null,
                "body": (try? JSON.parse(request.body)) ?? .null,
            ],
        ]
    }
}
