import Emulation
import JSON

/// What can happen to users and keys without a request of the app (all ours).
extension IMS {
    private static let userMembers = [
        ActionMember("user", "id or enterprise id of the user", isRequired: true),
        ActionMember("tenant", "tenant of the enterprise id; without one that of the issuer"),
        ActionMember("issuer", "iss of the user's tokens; the oldest user counts without it and a tenant"),
    ]

    static let actions: [VendorAction<IMS>] = [
        VendorAction(
            "enroll-user", about: "Enrolls a user, as the people at IMS would.",
            members: [
                ActionMember("email", "email address", isRequired: true),
                ActionMember("tenant", "the tenant; that of the first issuer"),
                ActionMember("enterprise_id", "the sub of the user's tokens; none until an activation links it"),
                ActionMember("activation_id", "what the user enters to activate the app; the email"),
                ActionMember("activate", "true for a user who is active at once; needs an enterprise_id"),
            ], body: enrollByAction),
        VendorAction(
            "activate-user", about: "Makes a user active.", members: userMembers,
            body: { (call, state) throws(ActionRefusal) in try change(call, &state, to: .active) }),
        VendorAction(
            "deactivate-user", about: "Deactivates a user: valid tokens are refused from the next request on.",
            members: userMembers,
            body: { (call, state) throws(ActionRefusal) in try change(call, &state, to: .deactivated) }),
        .drillKeys(of: "dev issuer"),
    ]

    private static func enrollByAction(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        var members = call.members
        let tenant = try call.text("tenant") ?? state.issuers.all.first?.record.tenant ?? "demo"
        members["tenant"] = .string(tenant)
        if let text = members["activate"]?.string { members["activate"] = .bool(text == "true") }
        do throws(Refused) {
            let enrollment = try IMSBody(members).read { body in
                let tenant = body.text("tenant")
                return IMSEnrollment(&body, tenant: tenant)
            }
            try check(enrollment, state)
            return state.users.enroll(enrollment, call.identifiers, at: call.moment).operatorJSON
        } catch {
            throw ActionRefusal(error.reason ?? error.failure.rawValue)
        }
    }

    private static func change(
        _ call: Action, _ state: inout State, to wanted: IMSUser.State
    ) throws(ActionRefusal) -> JSON {
        let name = try call.required("user")
        let issuer = try call.text("issuer")
        let tenant = try call.text("tenant") ?? issuer.flatMap { state.issuers.issuer($0)?.record.tenant }
        guard var user = state.user(name, of: tenant) else {
            let known = state.users.all.prefix(20).map(\.id)
            throw ActionRefusal(
                "no user has the id or the enterprise id \(name)\(Nearest.hint(to: name, among: known))")
        }
        guard user.state != wanted else { throw ActionRefusal("\(user.id) is \(wanted.rawValue) already") }
        if wanted == .deactivated {
            user.deactivate(at: call.moment)
        } else {
            guard user.enterpriseID != nil else {
                throw ActionRefusal("\(user.id) has no enterprise id to be active with")
            }
            user.activate(at: call.moment)
        }
        state.users.store(user)
        return ["id": .string(user.id), "state": .string(user.state.rawValue)]
    }
}
