import Emulation
import JSON

/// The token endpoint. Each grant has a function of one form, in a file of its own.
extension Okta {
    typealias GrantHandler = (inout OktaCall, inout State, OktaTokenRequest) throws(Refused) -> Reply

    static func createToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client()
        let request = OktaTokenRequest(
            server: server, client: client, parameters: call.credentials.parameters, proofKey: call.credentials.proofKey
        )
        return try handler(of: grantType(of: request))(&call, &state, request)
    }

    /// What the request asks tokens for.
    ///
    /// - Throws: ``OktaFailure/grantTypeMissing``, ``OktaFailure/grantTypeUnsupported``, and
    ///   ``OktaFailure/grantTypeNotAllowed`` for this client.
    private static func grantType(of request: OktaTokenRequest) throws(Refused) -> OktaGrantType {
        let names = OktaGrantType.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = request.parameters["grant_type"] else {
            throw Refusal(
                .grantTypeMissing, ["grants": .string(names)],
                because: "found no parameter grant_type with a value; expected one of \(names)")
        }
        guard let type = OktaGrantType(rawValue: name) else {
            throw Refusal(
                .grantTypeUnsupported, ["grants": .string(names)],
                because: "found grant_type \(name); expected one of \(names)")
        }
        let (client, own) = (request.client, request.client.grants.joined(separator: ", "))
        guard client.allows(name) else {
            throw Refusal(
                .grantTypeNotAllowed, ["grants": .string(own)],
                because: "found grant_type \(name) of client \(client.id); expected one of its own: \(own)")
        }
        return type
    }

    private static func handler(of type: OktaGrantType) -> GrantHandler {
        switch type {
        case .authorizationCode: redeemCode
        case .refreshToken: refreshTokens
        case .password: redeemPassword
        case .clientCredentials: grantToClient
        case .deviceCode: redeemDeviceCode
        case .tokenExchange: exchangeToken
        case .otp: redeemOneTimePassword
        case .oob: redeemOutOfBandCode
        case .mfaOTP: redeemSecondOneTimePassword
        case .mfaOOB: redeemSecondOutOfBandCode
        }
    }
}

extension OktaCall {
    /// The client that authenticated itself.
    func client() throws(OktaRefusal) -> OktaClient {
        let client = try OktaRefusal.require(
            credentials.client, .clientCredentialsMissing, "found no authenticated client; expected one")
        return client
    }
}
