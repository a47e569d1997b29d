import Emulation
import HTTPTypes
import JSON
import Tokens

/// Registration by a partner's server. Source: documented, JWT page, "Register a new Rezolve User".
extension Rezolve {
    /// Creates the customer that the registration JWT names, with its own key pair.
    ///
    /// The pair is made on first use; clients see no difference, and the caller need not wait for it.
    static func register(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        if call.credentials.isSampleRenewal { return try renewLikeSample(&call, &state) }
        let email = try call.body { $0.text("email", atLeast: 1) }
        guard let partner = call.credentials.partner, let token = call.credentials.token else {
            throw Refused(.maskedTokenMissing)
        }
        if let known = state.entityID(partner: partner.id, partnerEntityID: token.partnerEntityID) {
            try Refused.require(
                call.switches.duplicateRegistration == .returnExisting, .registrationDuplicate,
                "\(token.partnerEntityID) of partner \(partner.id) is registered as \(known); expected a partner_entity_id that is not"
            )
            return answer(known, of: partner)
        }
        let customer = RezolveCustomer(
            entityID: state.freshEntityID(call.identifiers.uuid), partnerID: partner.id,
            partnerEntityID: token.partnerEntityID, email: email, created: call.moment)
        state.store(customer)
        return answer(customer.entityID, of: partner)
    }

    private static func answer(_ entityID: String, of partner: RezolvePartner) -> Reply {
        .json(["entity_id": .string(entityID), "partner_id": .string(partner.id)])
    }

    /// Answers the renewal of the JWT page's iOS sample, which names device and customer in its body without any proof.
    ///
    /// Source: the shape is documented (JWT page); answering it at all is ours, and off by default.
    private static func renewLikeSample(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        // Any other request without an api key is refused for that, whether or not its body is well-formed.
        let fields = try? call.body()
        _ = fields?.outcome { $0.accept(["device_id", "entityId", "partnerId"], as: "string") }
        let body = fields?.object
        guard let device = body?["device_id"]?.string, let entity = body?["entityId"]?.string,
            let customer = state.customers[entity], customer.partnerID == body?["partnerId"]?.string,
            let partner = call.vendor.accounts.partner(id: customer.partnerID)
        else {
            throw Refused(
                .maskedAPIKey,
                because: "no api key, and the body names no known customer; expected x-rezolve-partner-apikey")
        }
        guard let key = try keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        let token = try sessionToken(for: customer, of: partner, device: device, call.arrival)
        return .json(["access_token": .string(token), "public_key": JSON(key.publicPEM)])
    }
}

/// RUA's users and sessions. Source: observed, sample apps and vendor QA tests; renewing the token by a `ping` is
/// documented (JWT page).
extension Rezolve {
    /// The code of every confirmation mail. Source: observed on the vendor's staging server.
    private static let confirmationCode = "000000"

    static func registerUser(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refused(.ruaAPIKeyMissing) }
        let draft = try call.body(RUA.self, UserDraft.init)
        let (username, email, phone) = (draft.username, draft.email, draft.phone)
        let taken =
            state.users.user(of: partner.id, username: username)
            ?? email.flatMap { state.users.user(of: partner.id, email: $0) }
            ?? phone.flatMap { state.users.user(of: partner.id, phone: $0) }
        if let taken { throw Refused(.ruaUserExists, because: taken.sharing(username, email, phone)) }
        let id = state.nextUserID(of: partner.id)
        let customer = RezolveCustomer(
            entityID: state.freshEntityID(call.identifiers.uuid), partnerID: partner.id,
            partnerEntityID: State.partnerEntityID(ofUser: id), email: email ?? "", created: call.moment)
        let user = RUAUser(
            id: id, customer: customer, username: username, password: draft.password, firstName: draft.firstName,
            lastName: draft.lastName, email: email ?? "", phone: phone ?? "", created: call.moment)
        state.store(customer)
        state.users.store(user)
        return .json(user.answer(without: ["firstName", "lastName"], by: call.switches), status: .created)
    }

    static func confirmUser(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["user"]
        guard var user = Int(id).flatMap({ state.users[$0] }), String(user.id) == id,
            user.partnerID == call.credentials.partner?.id
        else {
            throw Refused(
                .ruaUserNotFound,
                because: "no user of partner \(call.credentials.partner?.id ?? "") has the id \(id); expected that of "
                    + "a user who registered")
        }
        try Refused.require(
            call.parameters["code"] == confirmationCode, .ruaConfirmCodeWrong,
            "the code is \(call.parameters["code"]); expected \(confirmationCode), which is always the code")
        user.isConfirmed = true
        state.users.store(user)
        return .json(user.json)
    }

    /// Signs a user in, even an unconfirmed one (observed).
    static func logIn(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refused(.ruaAPIKeyMissing) }
        let (username, password, device) = try call.body(RUA.self) {
            ($0.text("username"), $0.text("password"), $0.text("deviceId", atLeast: 1))
        }
        let user = try Refused.require(
            state.users.user(of: partner.id, username: username), .ruaWrongCredentials,
            "no user of partner \(partner.id) has the username \(username.shown); expected that of a user who registered"
        )
        guard let known = user.password, known.hasSameBytes(as: password) else {
            throw Refused(.ruaWrongCredentials, because: user.wrongPassword)
        }
        return try openSession(of: user, device: device, call, &state)
    }

    /// Replaces a session's token, even an expired one, since that is the purpose of a renewal (inferred).
    static func ping(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let session = try call.session(in: state)
        // A customer registered at core has no user, and so no session that RUA could have ended.
        let isOver = session.user?.isLoggedOut(on: session.device) ?? false
        let token = try sessionToken(
            for: session.customer, of: session.partner, device: session.device, call.arrival,
            lifetime: isOver ? logoutLifetime : sessionLifetime)
        let value = call.switches.tokenPrefix == .bearer ? "Bearer \(token)" : token
        return .respond(.json(["accessToken": .string(value)]).with(.authorization, value))
    }

    /// Notes that the password was forgotten; no mail is sent.
    static func forgotPassword(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let email = try call.body(RUA.self) { $0.text("email") }
        let partner = call.credentials.partner?.id ?? ""
        let user = try Refused.require(
            state.users.user(of: partner, email: email), .ruaUserNotFound,
            "no user of partner \(partner) has the email \(email.shown); expected that of a user who registered")
        call.findings.note("mail", found: .text("user \(user.id)"), note: "A real server would send a mail now.")
        return .json([:])
    }

    /// Replaces the password; tokens stay valid (ours).
    static func changePassword(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let (current, new) = try call.body(RUA.self) {
            ($0.text("currentPassword"), $0.text("newPassword", atLeast: 1))
        }
        var user = try call.sessionUser(in: state)
        guard let known = user.password, known.hasSameBytes(as: current) else {
            throw Refused(.ruaWrongPassword, because: user.wrongPassword)
        }
        user.password = new
        state.users.store(user)
        return .json([:])
    }

    /// Ends the session of the token's device; core accepts its tokens until they expire (documented idea, JWT page).
    static func logOut(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try call.sessionUser(in: state)
        user.logOut(on: try call.session(in: state).device)
        state.users.store(user)
        return .json([:])
    }
}

/// A client's registration; a phone can replace the username.
private struct UserDraft {
    let password: String
    let phone: String?
    let username: String
    let firstName: String?
    let lastName: String?
    let email: String?

    init(_ body: inout FieldReader) {
        password = body.text("password", atLeast: 1)
        phone = body.optionalText("phone")
        let isNamedByPhone = phone?.isEmpty == false
        username = body.optionalText("username", isRequired: !isNamedByPhone, atLeast: 1) ?? phone ?? ""
        firstName = body.optionalText("firstName")
        lastName = body.optionalText("lastName")
        email = body.optionalText("email")
    }
}

// MARK: - Sessions

extension Rezolve {
    /// The advised maximum. Source: JWT page, "30 minutes or less".
    static let sessionLifetime = Duration.seconds(1800)
    /// A token that is already expired. Source: logging out this way is the JWT page's idea; the length is ours.
    static let logoutLifetime = Duration.seconds(-60)

    /// Answers with the user and, in `Authorization`, the token of a new session.
    static func openSession(
        of user: RUAUser, device: String, without names: [String] = [], _ call: RezolveCall, _ state: inout State
    ) throws(Refused) -> Reply {
        guard let customer = state.customers[user.entityID],
            let partner = call.vendor.accounts.partner(id: user.partnerID)
        else {
            throw Refused(
                .ruaWrongCredentials, because: "the customer of user \(user.id) is gone; expected a user who has one")
        }
        let token = try sessionToken(for: customer, of: partner, device: device, call.arrival)
        var user = user
        user.logIn(on: device)
        state.users.store(user)
        let answer = user.answer(without: names, by: call.switches)
        return .respond(.json(answer).with(.authorization, "Bearer \(token)"))
    }

    /// A login JWT as RUA signs it on behalf of the partner.
    static func sessionToken(
        for customer: RezolveCustomer, of partner: RezolvePartner, device: String, _ arrival: RezolveArrival,
        lifetime: Duration = sessionLifetime
    ) throws(Refused) -> String {
        let key = try Refused.require(
            partner.authKey, .ruaNoAuthKey,
            "partner \(partner.id) has no auth key to sign a token with; expected a partner that has one")
        var draft = TokenDraft.login(
            entityID: customer.entityID, partnerEntityID: customer.partnerEntityID, deviceID: device,
            expiry: arrival.moment + lifetime)
        return arrival.refusedTokens.sign(&draft, key.sign)
    }
}

extension Call<Rezolve> {
    fileprivate func session(
        in state: RezolveState
    ) throws(Rezolve.Refused) -> (customer: RezolveCustomer, user: RUAUser?, partner: RezolvePartner, device: String) {
        guard let token = credentials.token, let customer = state.customers[token.entityID],
            let partner = vendor.accounts.partner(id: customer.partnerID)
        else {
            throw Refused(
                .ruaTokenInvalid, because: "the token names no customer; expected the rezolve_entity_id of a customer")
        }
        return (customer, state.users.user(entity: customer.entityID), partner, token.deviceID)
    }

    /// The RUA user that an authorized session token names.
    func sessionUser(in state: RezolveState) throws(Rezolve.Refused) -> RUAUser {
        let session = try session(in: state)
        return try Rezolve.Refused.require(
            session.user, .ruaTokenInvalid,
            "customer \(session.customer.entityID) has no user at RUA; expected the token of one who registered there")
    }
}

/// Changing the details of an RUA user. Source: the possibility is documented (JWT page, `onUserDetailsUpdateSuccess`
/// gets the user); path and members are ours.
extension Rezolve {
    /// Changes the members that were sent; the username stays, and so does the profile at core (ours).
    static func changeDetails(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let (firstName, lastName, email, phone) = try call.body(RUA.self) {
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
            throw Refused(.ruaUserExists, because: taken.sharing(nil, email, phone))
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
            + " already; expected an unused one"
    }

    /// Why a password is refused; shows no password.
    var wrongPassword: String {
        password == nil
            ? "user \(id) is a guest and has no password; expected a user who registered with one"
            : "the password is not that of user \(id); expected the one that was registered"
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

/// Customers who shop without an account. Source: documented, wiki page Guest-Login; RUA's counterpart is observed, QA
/// tests.
extension Rezolve {
    /// Creates a guest; requires only an api key, and the body is optional.
    static func registerGuest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refused(.maskedAPIKey) }
        if !call.request.body.isEmpty { _ = try call.body() }
        return .json(createGuest(of: partner, call, &state).json)
    }

    /// Opens a session for a guest of the partner.
    static func logInGuest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let (device, entity) = try call.body { ($0.text("deviceId", atLeast: 1), $0.text("entityId")) }
        guard let partner = call.credentials.partner else { throw Refused(.maskedTokenMissing) }
        let guest = try guest(entity, of: partner, in: state, orFail: .maskedOtherUser)
        return try openSession(of: guest, device: device, call, &state)
    }

    /// RUA's call for guests: without content it creates a guest, with content it logs one in.
    static func guest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refused(.ruaAPIKeyMissing) }
        var login: (device: String, entity: String)?
        if !call.request.body.isEmpty {
            login = try call.body(RUA.self) {
                $0.isEmpty ? nil : ($0.text("deviceId", atLeast: 1), $0.text("entityId"))
            }
        }
        guard let (device, entity) = login else { return .json(createGuest(of: partner, call, &state).json) }
        let guest = try guest(entity, of: partner, in: state, orFail: .ruaUserNotFound)
        return try openSession(of: guest, device: device, without: ["timesLoggedIn"], call, &state)
    }

    private static func guest(
        _ entity: String, of partner: RezolvePartner, in state: State, orFail failure: RezolveFailure
    ) throws(Refused) -> RUAUser {
        try Refused.require(
            state.users.user(entity: entity).flatMap { $0.isGuest && $0.partnerID == partner.id ? $0 : nil }, failure,
            "\(entity.shown) is not a guest of partner \(partner.id); expected the entityId of one that was created")
    }

    private static func createGuest(of partner: RezolvePartner, _ call: RezolveCall, _ state: inout State) -> RUAUser {
        let entity = state.freshEntityID(call.identifiers.uuid)
        let customer = RezolveCustomer(
            entityID: entity, partnerID: partner.id, partnerEntityID: entity, created: call.moment)
        var guest = RUAUser(
            id: state.users.nextNumber(upTo: RUAUser.largestID), customer: customer, username: entity,
            created: call.moment)
        guest.isGuest = true
        state.store(customer)
        state.users.store(guest)
        return guest
    }
}
