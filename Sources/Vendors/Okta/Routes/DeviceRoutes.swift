import Emulation
import JSON
import Tokens

/// The first half of the device authorization grant (RFC 8628). Source: ref, guide:device-authorization-grant.
extension Okta {
    static func startDevice(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client(using: .deviceCode)
        let scopes = try server.scopes(of: call.credentials.parameters.words("scope"))
        let (open, most) = (state.openDevices(of: client, at: call.moment), OktaDeviceGrant.mostOpen)
        try Refused.require(
            open < most, .userCodesTooMany,
            "found \(open) devices of client \(client.id) that wait for an answer; expected fewer than \(most)")
        let id = call.identifiers.uuid()
        var userCode: String
        repeat {
            userCode = call.identifiers.text(8, of: OktaDeviceGrant.alphabet)
        } while state.deviceGrants[named: ExactText(userCode)] != nil
        let device = OktaDeviceGrant(
            id: id, userCode: userCode,
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

/// The grant `device_code`: a device polls until somebody has answered for it (RFC 8628 section 3.4).
extension OktaTokenRequest {
    func redeemDeviceCode(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let device = try device(try parameters.required("device_code"), in: state)
        switch device.status {
        case .pending: throw poll(device, &call, &state)
        case .denied:
            let user = device.authorization.userID ?? "the user"
            throw Refused(.deviceDenied, because: "found that \(user) refused the device; expected an approval")
        case .approved, .used:
            try Okta.requireActive(device.authorization, in: state, orFail: .deviceDenied)
            return try grantTokens(device.authorization, &call, &state) { _, state in
                state.deviceGrants.change(device.key) { $0.status = .used }
            }
        }
    }

    /// The request of a device, if it is this client's and server's and still counts.
    private func device(_ code: String, in state: State) throws(Refused) -> OktaDeviceGrant {
        let device = try Refused.require(
            state.deviceGrants[code], .deviceCodeInvalid,
            "found a device code that is unknown here; expected one of this sandbox")
        try requireOwn(
            device.authorization, (.deviceCodeInvalid, .deviceCodeInvalid), "which got the device code",
            "which gave the device code")
        try Refused.require(
            device.status != .used, .deviceCodeInvalid, "found a device code that was used; expected one use")
        try Refused.require(
            moment < device.expires + OktaDeviceGrant.memory, .deviceCodeInvalid,
            "the device code expired at \(device.expires.rfc3339), long ago; expected a poll before")
        try Refused.require(
            moment < device.expires, .deviceCodeExpired,
            "the device code expired at \(device.expires.rfc3339); expected a poll before")
        return device
    }

    /// Notes a poll that nobody has answered yet, and how long after the last one it came.
    private func poll(_ device: OktaDeviceGrant, _ call: inout OktaCall, _ state: inout State) -> Refused {
        let pause = device.lastPoll.map { ((moment.unixSeconds - $0.unixSeconds) * 1000).rounded() / 1000 }
        let isEarly = pause.map { (0..<Double(device.interval)).contains($0) } ?? false
        // The time between two polls means nothing while the clock is frozen.
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
            return Refused(
                .devicePending, because: "found no answer to user code \(device.userCode); expected an approval")
        }
        return Refused(
            .deviceSlowDown,
            because: "found a poll after \(Fact.seconds(pause)); expected a pause of \(device.interval) s, and 5 s "
                + "more from now on")
    }
}

/// A device's request to be signed in by somebody at another screen (RFC 8628).
struct OktaDeviceGrant: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// How long its codes are valid. Source: guide:device-authorization-grant, its example.
    static let lifetime = Duration.seconds(600)
    /// How long after its end a poll gets the answer that the code has expired, and not that it is unknown (ours).
    static let memory = Duration.seconds(600)
    /// ours: how many devices of a client may wait at a time.
    static let mostOpen = 1000
    /// ours: nobody waits longer than a code lives.
    static let longestInterval = 600
    /// Of user codes: capital letters without vowels, so that no words come up (RFC 8628 section 6.1).
    static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)

    enum Status: String, CaseIterable, RecordValue { case pending, approved, denied, used }

    var id = ""
    /// What the user types, without a hyphen.
    var userCode = ""
    /// Client, server and scopes; the user as soon as somebody has answered.
    var authorization = OktaAuthorization()
    var status = Status.pending
    var expires = Moment(unixSeconds: 0)
    /// How many seconds must lie between two polls.
    var interval = 5
    var lastPoll: Moment?

    func isOpen(at moment: Moment) -> Bool { status == .pending && moment < expires }

    /// Notes a poll; one that came too early slows the next ones down by 5 s (RFC 8628 section 3.5).
    mutating func poll(at moment: Moment, isTooEarly: Bool) {
        lastPoll = moment
        if isTooEarly { interval = min(interval + 5, Self.longestInterval) }
    }

    var key: ExactText { ExactText(id) }
    var names: [ExactText] { [ExactText(userCode)] }
    /// The devices of a client are counted together.
    var group: ExactText? { ExactText(authorization.clientID) }
    var secretText: String? { id }

    func clash(over name: ExactText?) -> String {
        name == nil ? "another device has this code" : "another device has the user code \(userCode)"
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("user_code", &userCode)
        coder.member("authorization", &authorization)
        coder.member("status", &status)
        coder.end("expires", &expires)
        coder.member("interval", &interval, in: 1...Self.longestInterval)
        coder.member("last_poll", &lastPoll)
    }
}

extension OktaState {
    /// The device that waits for an answer under a user code; `nil` for an unknown, answered or expired one. Case, blanks
    /// and hyphens do not count (observed, widget).
    func openDevice(_ userCode: String, at moment: Moment) -> OktaDeviceGrant? {
        let meant = userCode.uppercased().filter { $0 != "-" && !$0.isWhitespace }
        return deviceGrants[named: ExactText(meant)].flatMap { $0.isOpen(at: moment) ? $0 : nil }
    }

    /// How many devices of a client wait for an answer; those that need not be remembered any more are removed first.
    mutating func openDevices(of client: OktaClient, at moment: Moment) -> Int {
        let devices = deviceGrants.records(in: ExactText(client.id))
        for device in devices where moment >= device.expires + OktaDeviceGrant.memory {
            deviceGrants.remove(device.key)
        }
        return devices.count { $0.isOpen(at: moment) }
    }

    mutating func answer(_ device: OktaDeviceGrant, _ authorization: OktaAuthorization, approves: Bool) {
        deviceGrants.change(device.key) {
            ($0.authorization, $0.status) = (authorization, approves ? .approved : .denied)
        }
    }
}

/// Actions on a waiting device without a browser (all ours).
extension Okta {
    private static let userCode = ActionMember.required("user_code", "the code that the device shows")
    private static let answering = ActionMember.optional(
        "user", "id or login of who answers; by default the fixtures' default user")

    static let deviceActions = [
        action(
            "approve-device", about: "Lets a device sign in a user, as the page /activate does.",
            members: [userCode, answering],
            body: { (call, state) throws(ControlRefusal) in try answer(call, &state, approves: true) }),
        action(
            "deny-device", about: "Refuses a device, as a user does on the consent page.",
            members: [userCode, answering],
            body: { (call, state) throws(ControlRefusal) in try answer(call, &state, approves: false) }),
        action(
            "expire-device", about: "Ends the ten minutes of a device's codes.", members: [userCode],
            body: { (call, state) throws(ControlRefusal) in
                let device = try openDevice(call, state)
                state.deviceGrants.change(device.key) { $0.expires = call.moment }
                return result(device)
            }),
    ]

    private static func answer(_ call: Action, _ state: inout State, approves: Bool) throws(ControlRefusal) -> JSON {
        let device = try openDevice(call, state)
        let user = try state.user(named: try call.text("user") ?? call.vendor.accounts.defaultUserID)
        try ControlRefusal.require(
            user.isActive, "user \(user.login) is \(user.status.rawValue), and only ACTIVE users sign in")
        // As if the user had signed in with the password now.
        var authorization = device.authorization
        (authorization.userID, authorization.authenticated) = (user.id, call.moment)
        (authorization.methods, authorization.sessionID) = (["pwd"], nil)
        state.answer(device, authorization, approves: approves)
        return result(device)
    }

    private static func openDevice(_ call: Action, _ state: State) throws(ControlRefusal) -> OktaDeviceGrant {
        let code = try call.required("user_code")
        return try ControlRefusal.require(
            state.openDevice(code, at: call.moment),
            "no device waits under user code \(code); it is unknown, answered or expired")
    }

    private static func result(_ device: OktaDeviceGrant) -> JSON {
        ["user_code": .string(device.userCode), "client": .string(device.authorization.clientID)]
    }
}
