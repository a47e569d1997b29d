import Emulation
import JSON

/// What can happen to a waiting device without a browser (all ours).
extension Okta {
    private static let userCode = ActionMember("user_code", "the code that the device shows", isRequired: true)
    private static let answering = ActionMember("user", "id or login of who answers; the default user")

    static let deviceActions: [VendorAction<Okta>] = [
        VendorAction(
            "approve-device", about: "Lets a device sign in a user, as the page /activate does.",
            members: [userCode, answering],
            body: { (call, state) throws(ActionRefusal) in try answer(call, &state, approves: true) }),
        VendorAction(
            "deny-device", about: "Refuses a device, as a user does on the consent page.",
            members: [userCode, answering],
            body: { (call, state) throws(ActionRefusal) in try answer(call, &state, approves: false) }),
        VendorAction(
            "expire-device", about: "Ends the ten minutes of a device's codes.", members: [userCode],
            body: { (call, state) throws(ActionRefusal) in
                let device = try openDevice(call, state)
                state.deviceGrants.change(device.key) { $0.expires = call.moment }
                return result(device)
            }),
    ]

    private static func answer(
        _ call: ActionCall<Okta>, _ state: inout OktaState, approves: Bool
    ) throws(ActionRefusal) -> JSON {
        let device = try openDevice(call, state)
        let name = try call.text("user") ?? call.vendor.accounts.defaultUserID
        guard let user = state.user(name) else {
            let hint = Nearest.hint(to: name, among: state.users.all.prefix(20).map(\.login))
            throw ActionRefusal("no user has the id or login \(name)\(hint)")
        }
        guard user.isActive else {
            throw ActionRefusal("user \(user.login) is \(user.status.rawValue), and only ACTIVE users sign in")
        }
        state.answer(device, device.authorization.signedIn(user, at: call.moment), approves: approves)
        return result(device)
    }

    private static func openDevice(
        _ call: ActionCall<Okta>, _ state: OktaState
    ) throws(ActionRefusal) -> OktaDeviceGrant {
        let code = try call.required("user_code")
        guard let device = state.openDevice(code, at: call.moment) else {
            throw ActionRefusal("no device waits under user code \(code); it is unknown, answered or expired")
        }
        return device
    }

    private static func result(_ device: OktaDeviceGrant) -> JSON {
        ["user_code": .string(device.userCode), "client": .string(device.authorization.clientID)]
    }
}
