import Emulation
import JSON

/// The first half of the device authorization grant (RFC 8628). Source: ref, guide:device-authorization-grant.
extension Okta {
    /// Gives a device its codes.
    static func startDevice(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client(using: .deviceCode)
        let scopes = try server.scopes(of: call.credentials.parameters.words("scope"))
        let open = state.openDevices(of: client, at: call.moment)
        try Refused.require(
            open < OktaDeviceGrant.mostOpen, .userCodesTooMany,
            "found \(open) devices of client \(client.id) that wait for an answer; expected fewer than "
                + "\(OktaDeviceGrant.mostOpen)")
        let device = OktaDeviceGrant(
            id: call.identifiers.uuid(), userCode: state.freshUserCode(call.identifiers),
            authorization: OktaAuthorization(clientID: client.id, serverID: server.id, scopes: scopes),
            expires: call.moment + OktaDeviceGrant.lifetime, interval: call.switches.deviceIntervalSeconds)
        state.deviceGrants.add(device, within: OktaState.shortBound)
        let address = call.arrival.base + "/activate"
        return .json([
            "device_code": .string(device.id), "user_code": .string(device.userCode),
            "verification_uri": .string(address),
            "verification_uri_complete": .string("\(address)?user_code=\(device.userCode)"),
            "expires_in": JSON(Int(OktaDeviceGrant.lifetime.inSeconds)), "interval": JSON(device.interval),
        ])
    }
}

extension OktaCall {
    /// The authenticated client, if it may use a grant.
    ///
    /// - Throws: ``OktaFailure/grantTypeNotAllowed``
    func client(using grant: OktaGrantType) throws(OktaRefusal) -> OktaClient {
        let client = try client()
        guard client.allows(grant.rawValue) else {
            let own = client.grants.joined(separator: ", ")
            throw Refusal(
                .grantTypeNotAllowed, ["grants": .string(own)],
                because: "found client \(client.id), which has the grants \(own); expected one with \(grant.rawValue)")
        }
        return client
    }
}

extension OktaState {
    fileprivate func freshUserCode(_ identifiers: IdentifierSource) -> String {
        while true {
            let code = OktaUserCode.draw(from: identifiers)
            if deviceGrants[named: ExactText(code)] == nil { return code }
        }
    }
}
