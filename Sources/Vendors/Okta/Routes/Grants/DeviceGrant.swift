import Emulation
import JSON
import Tokens

/// The grant `device_code`: a device polls until somebody has answered for it (RFC 8628 section 3.4).
extension Okta {
    static func redeemDeviceCode(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let code = try request.parameters.required("device_code")
        let device = try device(code, request, in: state, at: call.moment)
        switch device.status {
        case .pending: throw poll(device, &call, &state)
        case .denied:
            let user = device.authorization.userID ?? "the user"
            throw Refusal(.deviceDenied, because: "found that \(user) refused the device; expected an approval")
        case .approved, .used:
            try requireActive(device.authorization, in: state, orFail: .deviceDenied)
            return try grantTokens(device.authorization, &call, &state, request) { _, state in
                state.deviceGrants.change(device.key) { $0.status = .used }
            }
        }
    }

    /// The request of a device, if it is this client's and server's and still counts.
    private static func device(
        _ code: String, _ request: OktaTokenRequest, in state: State, at moment: Moment
    ) throws(Refused) -> OktaDeviceGrant {
        let device = try Refused.require(
            state.deviceGrants[code], .deviceCodeInvalid,
            "found a device code that is unknown here; expected one of this sandbox")
        let (client, server) = (device.authorization.clientID, device.authorization.serverID)
        let complaint: String? =
            if !client.hasSameBytes(as: request.client.id) {
                "found client \(request.client.id); expected \(client), which got the device code"
            } else if !server.hasSameBytes(as: request.server.id) {
                "found server \(request.server.id); expected \(server), which gave the device code"
            } else if device.status == .used {
                "found a device code that was used; expected one use"
            } else if moment >= device.expires + OktaDeviceGrant.memory {
                "the device code expired at \(device.expires.rfc3339), long ago; expected a poll before"
            } else {
                nil
            }
        if let complaint { throw Refusal(.deviceCodeInvalid, because: complaint) }
        try Refused.require(
            moment < device.expires, .deviceCodeExpired,
            "the device code expired at \(device.expires.rfc3339); expected a poll before")
        return device
    }

    /// Notes a poll that nobody has answered yet, and how long after the last one it came.
    ///
    /// - Returns: what the device is told.
    private static func poll(_ device: OktaDeviceGrant, _ call: inout OktaCall, _ state: inout State) -> Refused {
        let moment = call.moment
        let pause = device.lastPoll.map { ((moment.unixSeconds - $0.unixSeconds) * 1000).rounded() / 1000 }
        let isEarly = pause.map { (0..<Double(device.interval)).contains($0) } ?? false
        // The time between two polls says nothing while the clock stands still.
        let isJudged = !call.arrival.isClockFrozen
        call.findings.note(
            Finding(
                "poll-interval", !isEarly ? .passed : isJudged ? .failed : .noted,
                expected: .seconds(Double(device.interval)),
                found: pause.map(Fact.seconds) ?? .nothing("the first poll"),
                note: isEarly && !isJudged ? "The clock is frozen, so the pace is not judged." : nil,
                source: "RFC 8628 section 3.5"))
        state.deviceGrants.change(device.key) { $0.poll(at: moment, isTooEarly: isEarly && isJudged) }
        guard isEarly, isJudged, let pause else {
            return Refusal(
                .devicePending, because: "found nobody's answer to user code \(device.userCode); expected an approval")
        }
        return Refusal(
            .deviceSlowDown,
            because:
                "found a poll after \(Fact.seconds(pause)); expected a pause of \(device.interval) s, and 5 s more "
                + "from now on")
    }
}
