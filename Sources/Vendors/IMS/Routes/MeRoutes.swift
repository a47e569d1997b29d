import Emulation
import JSON

/// A user's view of itself. Source: that it can be retrieved and updated is documented (site); the calls are ours.
extension IMS {
    static func readMe(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        .json(user.ownJSON)
    }

    /// Changes the members that were sent; ignores those that cannot be changed.
    static func updateMe(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let changed = try call.body { body in
            var user = user
            user.firstName = body.optionalText("first_name") ?? user.firstName
            user.lastName = body.optionalText("last_name") ?? user.lastName
            user.phone = body.optionalText("phone") ?? user.phone
            user.locale = body.optionalText("locale") ?? user.locale
            return user
        }
        state.users.store(changed)
        return .json(changed.ownJSON)
    }
}
