import Emulation
import JSON
import Wire

/// The end of all that a user has, at the wish of a security product. Source: api.
extension Okta {
    static func revokeGlobally(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let subject = try call.json { $0.object("sub_id", isRequired: true) } ?? [:]
        let user = try user(subject, call, state)
        state.endSessions(of: user.id)
        state.revokeGrants(of: user.id)
        return .empty()
    }

    /// The user whom a subject identifier names (RFC 9493 section 3.2).
    private static func user(
        _ subject: JSONObject, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaUser {
        let format = subject["format"]?.string ?? ""
        let name: String?
        switch format {
        case "opaque": name = subject["id"]?.string
        case "iss_sub":
            let sandbox = call.arrival.sandbox
            let issuer = subject["iss"]?.string ?? ""
            try Refused.require(
                sandbox.publicBase.addresses(of: sandbox.name).contains(where: { $0.hasSameBytes(as: issuer) }),
                .subIDInvalid, "iss is “\(issuer)”; expected \(call.arrival.base)")
            name = subject["sub"]?.string
        default:
            throw Refusal(.subIDInvalid, because: "format is “\(format)”; expected opaque or iss_sub")
        }
        let user = try Refused.require(
            name.flatMap(state.user), .subIDInvalid,
            "sub_id names nobody: \(name ?? "it has no id"); expected the id of a user")
        return user
    }
}
