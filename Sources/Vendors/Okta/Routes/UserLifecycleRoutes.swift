import Emulation
import JSON
import Wire

/// The steps of users' lives, and the end of their sessions.
extension Okta {
    static func takeLifecycleStep(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let name = call.parameters["step"]
        guard let step = OktaLifecycleStep(rawValue: name) else {
            let hint = Nearest.hint(to: name, among: OktaLifecycleStep.allCases.map(\.rawValue))
            throw Refusal(.pathNotFound, because: "no step is called \(name)\(hint)")
        }
        let sendsEmail = try call.query.read { $0.flag("sendEmail", or: true) }
        let user = try call.user(in: state)
        try Refused.require(
            step.isAllowed(for: user), .userStatus,
            "\(user.login) is \(user.status.rawValue); expected \(step.condition) for \(name)")
        let changed = state.take(step, for: user, call.identifiers, at: call.moment)
        switch step {
        case .expirePassword: return .json(changed.json(at: call.arrival.base))
        case .resetPassword where !sendsEmail:
            let address = "\(call.arrival.base)/reset_password/\(changed.recoveryToken ?? "")"
            return .json(["resetPasswordUrl": .string(address)])
        case .activate, .deactivate, .suspend, .unsuspend, .unlock, .resetFactors, .resetPassword: return .json([:])
        }
    }

    static func endUserSessions(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let endsTokens = try call.query.read { $0.flag("oauthTokens", or: false) }
        let user = try call.user(in: state)
        state.endSessions(of: user.id)
        if endsTokens { state.revokeGrants(of: user.id) }
        return .empty()
    }
}
