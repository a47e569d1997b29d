import Emulation
import JSON

/// Changing the details of an RUA user. Source: the possibility is documented (JWT page, `onUserDetailsUpdateSuccess`
/// gets the user); path and members are ours.
extension Rezolve {
    /// Changes the members that were sent; the username stays, and so does the profile at core (ours).
    static func changeDetails(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let (firstName, lastName, email, phone) = try call.signInBody().read {
            (
                $0.optionalText("firstName"), $0.optionalText("lastName"), $0.optionalText("email"),
                $0.optionalText("phone")
            )
        }
        var user = try call.sessionUser(in: state)
        let others = [
            email.flatMap { state.users.user(of: user.partnerID, email: $0) },
            phone.flatMap { state.users.user(of: user.partnerID, phone: $0) },
        ]
        if let taken = others.compactMap(\.self).first(where: { $0.id != user.id }) {
            throw Refusal(.ruaUserExists, because: taken.sharing(nil, email, phone))
        }
        user.firstName = firstName ?? user.firstName
        user.lastName = lastName ?? user.lastName
        user.email = email ?? user.email
        user.phone = phone ?? user.phone
        user.updated = call.moment
        state.users.store(user)
        return .json(user.json)
    }
}

extension RUAUser {
    /// Which of the requested names this user already has, and what was expected.
    func sharing(_ username: String?, _ email: String?, _ phone: String?) -> String {
        let shared = [
            ("username", username, self.username), ("email", email, self.email), ("phone", phone, self.phone),
        ].filter { $0.1?.hasSameBytes(as: $0.2) == true }
        return "user \(id) has " + shared.map { "the \($0.0) \($0.2)" }.joined(separator: " and ")
            + " already; expected one that nobody has"
    }

    /// Why a password is refused; shows no password.
    var wrongPassword: String {
        password == nil
            ? "user \(id) is a guest and has no password; expected a user who registered with one"
            : "the password of user \(id) is another one; expected the one that was registered"
    }

    /// The user as a route answers it. With switch `rua-user-answers` = `schema`, as in the schemas of the vendor's
    /// tests: names null after registering, sign-ins null after a guest's login by body.
    ///
    /// - Parameter names: the members that are null then.
    func answer(without names: [String], by switches: RezolveSwitches) -> JSON {
        guard switches.userAnswers == .schema, var object = json.object else { return json }
        for name in names { object[name] = .null }
        return .object(object)
    }
}
