import Emulation
import JSON

/// A device's request to be signed in by somebody at another screen (RFC 8628).
struct OktaDeviceGrant: Sendable, Equatable {
    /// How long its codes are good for. Source: guide:device-authorization-grant, its example.
    static let lifetime = Duration.seconds(600)
    /// How long after its end a poll is told that the code has expired, and not that there is none (ours).
    static let memory = Duration.seconds(600)
    /// ours: how many devices of a client may wait at a time.
    static let mostOpen = 1000
    /// ours: nobody waits longer than a code lives.
    static let longestInterval = 600

    /// What became of it.
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

    /// Whether somebody can still answer.
    func isOpen(at moment: Moment) -> Bool { status == .pending && moment < expires }

    /// Notes a poll; one that came too early slows the next ones down by 5 s (RFC 8628 section 3.5).
    mutating func poll(at moment: Moment, isTooEarly: Bool) {
        lastPoll = moment
        if isTooEarly { interval = min(interval + 5, Self.longestInterval) }
    }

    /// Notes a user's answer.
    mutating func answer(_ authorization: OktaAuthorization, approves: Bool) {
        self.authorization = authorization
        status = approves ? .approved : .denied
    }
}

extension OktaDeviceGrant: KeyedRecord, CodedRecord {
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

/// The code that a user types to tell a device's request from others.
enum OktaUserCode {
    /// Capital letters without vowels, so that no words come up (RFC 8628 section 6.1).
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    private static let length = 8

    static func draw(from identifiers: IdentifierSource) -> String { identifiers.text(length, of: alphabet) }

    /// What a user meant: case, blanks and hyphens do not count (observed, widget).
    static func read(_ text: String) -> String { String(text.uppercased().filter { $0 != "-" && !$0.isWhitespace }) }
}

extension OktaState {
    /// The device that waits for an answer under a user code, as a user types it; `nil` for an unknown, answered or
    /// expired one.
    func openDevice(_ userCode: String, at moment: Moment) -> OktaDeviceGrant? {
        guard let device = deviceGrants[named: ExactText(OktaUserCode.read(userCode))], device.isOpen(at: moment) else {
            return nil
        }
        return device
    }

    /// How many devices of a client wait for an answer; those that need not be remembered any more are removed first.
    mutating func openDevices(of client: OktaClient, at moment: Moment) -> Int {
        let devices = deviceGrants.records(in: ExactText(client.id))
        for device in devices where moment >= device.expires + OktaDeviceGrant.memory {
            deviceGrants.remove(device.key)
        }
        return devices.count { $0.isOpen(at: moment) }
    }

    /// Answers for a user at a device's request.
    mutating func answer(_ device: OktaDeviceGrant, _ authorization: OktaAuthorization, approves: Bool) {
        deviceGrants.change(device.key) { $0.answer(authorization, approves: approves) }
    }
}
