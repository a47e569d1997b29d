import Emulation
import JSON

/// Enrollment and the user lifecycle. Source: the states are documented (site); the calls are ours.
extension IMS {
    static func enrollUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let enrollment = try call.body { body in
            body.refuseUnknown(
                ["tenant", "email", "enterprise_id", "activation_id", "first_name", "last_name", "activate"])
            let tenant = body.name("tenant")
            return IMSEnrollment(&body, tenant: tenant)
        }
        let user = try enroll(enrollment, call, &state)
        return .json(user.operatorJSON, status: .created)
    }

    /// Enrolls a user.
    ///
    /// - Throws: ``IMSFailure/stateConflict`` or ``IMSFailure/enrollmentExists``.
    static func enroll(_ enrollment: IMSEnrollment, _ call: IMSCall, _ state: inout State) throws(Refused) -> IMSUser {
        try check(enrollment, state)
        return state.users.enroll(enrollment, call.identifiers, at: call.moment)
    }

    /// Checks an enrollment: it can be active, and its unique values are free in its tenant.
    static func check(_ enrollment: IMSEnrollment, _ state: State) throws(Refused) {
        if enrollment.isActive, enrollment.enterpriseID == nil {
            throw Refusal(
                .stateConflict,
                because:
                    "activate needs an enterprise_id, and there is none; expected one, or no activate: then the "
                    + "activation links it")
        }
        guard let (field, other) = state.users.conflict(with: enrollment) else { return }
        throw Refusal(
            .enrollmentExists, ["field": .string(field)],
            because:
                "\(other.id) of tenant \(enrollment.tenant) has the same \(field), \(other.text(of: field)); expected another one"
        )
    }

    static func listUsers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let (tenant, wanted) = try call.query.read {
            ($0.optionalText("tenant"), $0.choice("state", of: IMSUser.State.self))
        }
        let users = state.users.all.filter {
            (tenant == nil || $0.tenant == tenant) && (wanted == nil || $0.state == wanted)
        }
        return .json(["users": .array(users.map(\.operatorJSON))])
    }

    static func readUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try user(call, state).operatorJSON)
    }

    static func activateUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state != .active, .stateConflict,
            "\(user.id) is active already; expected a user who is not: deactivate it first to activate it again")
        try Refused.require(
            user.enterpriseID != nil, .stateConflict,
            "\(user.id) is \(user.state.rawValue) without an enterprise_id; expected one to be active with: the app links "
                + "one with POST /ims/v1/activation, or enroll the user again with one")
        user.activate(at: call.moment)
        state.users.store(user)
        return .json(user.operatorJSON)
    }

    static func deactivateUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state != .deactivated, .stateConflict,
            "\(user.id) is deactivated already; expected a user who is not: activate it first to deactivate it again")
        user.deactivate(at: call.moment)
        state.users.store(user)
        return .json(user.operatorJSON)
    }

    /// Gives an enrolled user a new code; the old one stops working.
    static func renewCode(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state == .enrolled, .stateConflict,
            "\(user.id) is \(user.state.rawValue), and only a user who is enrolled needs a code; expected such a user"
                + (user.state == .deactivated ? "; POST /ims/v1/users/\(user.id)/activate makes it active" : ""))
        user.activation = IMSUser.Activation(call.identifiers, at: call.moment)
        state.users.store(user)
        return .json(user.operatorJSON)
    }

    private static func user(_ call: IMSCall, _ state: State) throws(Refused) -> IMSUser {
        let name = call.parameters["id"]
        return try Refused.require(
            state.user(name, of: call.request.queryValue("tenant")), .userNotFound,
            "no user has the id or the enterprise id \(name); expected that of an imported user")
    }
}

extension IMSEnrollment {
    init(_ body: inout FieldReader, tenant: String) {
        self.tenant = tenant
        email = body.email("email") ?? ""
        if email.isEmpty {
            if body.object["email"] == nil { body.report("email", .missing) }
            body.refuse("email", "is an empty text; expected an address with @")
        }
        enterpriseID = body.optionalText("enterprise_id", atLeast: 1)
        activationID = body.optionalText("activation_id", atLeast: 1)
        firstName = body.optionalText("first_name") ?? ""
        lastName = body.optionalText("last_name") ?? ""
        isActive = body.bool("activate") ?? false
    }
}
