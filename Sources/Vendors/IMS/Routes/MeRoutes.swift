import Emulation
import JSON

/// What a user sees of itself. Source: that it can be retrieved and updated is documented (site); the calls are ours.
extension IMS {
    static func readMe(
        _ call: inout IMSCall, _ user: IMSUser, _ state: inout IMSState
    ) throws(IMSRefusal) -> Reply {
        .json(user.ownJSON)
    }

    /// Changes the members that are sent; those that cannot be changed are ignored.
    static func updateMe(
        _ call: inout IMSCall, _ user: IMSUser, _ state: inout IMSState
    ) throws(IMSRefusal) -> Reply {
        let body = try call.body()
        var user = user
        user.firstName = try body.text("first_name") ?? user.firstName
        user.lastName = try body.text("last_name") ?? user.lastName
        user.phone = try body.text("phone") ?? user.phone
        user.locale = try body.text("locale") ?? user.locale
        state.users.store(user)
        return .json(user.ownJSON)
    }
}
