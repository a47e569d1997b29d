import Emulation
import JSON
import Tokens

/// The grant `authorization_code`, with PKCE (RFC 7636).
extension Okta {
    static func redeemCode(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let text = try request.parameters.required("code")
        let redirectURI = try request.parameters.required("redirect_uri")
        let ticket = try Refused.require(
            state.codes[text], .codeInvalid, "found a code that is unknown here; expected one of this sandbox")
        let code = ticket.content
        try check(code.authorization, request)
        if let grant = code.grant {
            // Somebody else may have had the code, so what it gave ends (RFC 6749 section 4.1.2).
            state.revoke(grant: grant)
            if let grant = state.grants[grant] { state.endDeviceSession(of: grant) }
            throw Refusal(
                .codeInvalid, because: "found a code that was used; expected one use. All tokens from it were revoked")
        }
        let left = ticket.expires.wholeSeconds - call.moment.wholeSeconds
        try Refused.require(
            call.moment < ticket.expires, .codeInvalid, "the code is \(300 - left) s old; expected less than 300 s")
        try Refused.require(
            code.redirectURI.hasSameBytes(as: redirectURI), .redirectURIMismatch,
            "redirect-uri: found \(redirectURI); expected \(code.redirectURI), as at authorize")
        try checkVerifier(of: code, request.parameters["code_verifier"])
        try requireActive(code.authorization, in: state, orFail: .codeInvalid)
        var authorization = code.authorization
        let secret = OktaDeviceSecret(for: &authorization, call.identifiers, at: call.moment)
        let members: JSONObject = secret.map { ["device_secret": .string($0.id)] } ?? [:]
        return try grantTokens(authorization, &call, &state, request, adding: members) { grant, state in
            state.codes.change(ticket.key) { $0.content.grant = grant.number }
            if let secret { state.add(secret, of: grant) }
        }
    }

    /// Whether a code belongs to the client and the server.
    private static func check(_ authorization: OktaAuthorization, _ request: OktaTokenRequest) throws(Refused) {
        try Refused.require(
            authorization.clientID.hasSameBytes(as: request.client.id), .codeOtherClient,
            "found client \(request.client.id); expected \(authorization.clientID), as at authorize")
        try Refused.require(
            authorization.serverID.hasSameBytes(as: request.server.id), .codeOtherServer,
            "found server \(request.server.id); expected \(authorization.serverID), as at authorize")
    }

    /// Source: RFC 7636 section 4.6; a verifier without a challenge: RFC 9700 section 4.8.2.
    private static func checkVerifier(of code: OktaCode, _ verifier: String?) throws(Refused) {
        switch (code.challenge, verifier) {
        case (nil, nil): return
        case (nil, _?):
            throw Refusal(
                .pkceNotBegun, because: "found a code_verifier; expected none, as authorize got no code_challenge")
        case (_?, nil):
            throw Refusal(
                .pkceVerifierMissing, because: "found no code_verifier; expected the one behind code_challenge")
        case (let challenge?, let verifier?):
            let found = Base64URL.encode(Digest.sha256(Array(verifier.utf8)))
            try Refused.require(
                found.hasSameBytes(as: challenge), .pkceFailed,
                "found a code_verifier with the challenge \(found); expected \(challenge), as at authorize")
        }
    }

    /// Whether the user of an authorization can still get tokens; services and guests can.
    static func requireActive(
        _ authorization: OktaAuthorization, in state: State, orFail failure: OktaFailure
    ) throws(Refused) {
        guard let id = authorization.userID else { return }
        let status = state.users[id]?.status
        guard status == .active else {
            let found = status.map { "a user who is \($0.rawValue)" } ?? "a user who was removed"
            throw Refusal(failure, because: "found \(found), \(id); expected ACTIVE")
        }
    }
}
