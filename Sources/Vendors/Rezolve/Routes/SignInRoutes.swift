import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// RUA's users and sessions. Source: observed, sample apps and vendor QA tests; that the app renews its token by a
/// `ping` is documented (seed).
extension Rezolve {
    /// The code of every confirmation mail. Source: observed on the vendor's staging server.
    private static let confirmationCode = "000000"

    static func registerUser(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.ruaAPIKeyMissing) }
        var reader = FieldReader(try call.signInBody())
        let password = reader.string("password", isRequired: true, minimumLength: 1)
        let phone = reader.string("phone")
        let isNamedByPhone = phone?.isEmpty == false
        let username = reader.string("username", isRequired: !isNamedByPhone, minimumLength: 1) ?? phone
        let firstName = reader.string("firstName")
        let lastName = reader.string("lastName")
        let email = reader.string("email")
        guard reader.problems.isEmpty, let username, let password else { throw call.invalidBody(reader.problems) }
        let taken =
            state.users.user(of: partner.id, username: username)
            ?? email.flatMap { state.users.user(of: partner.id, email: $0) }
            ?? phone.flatMap { state.users.user(of: partner.id, phone: $0) }
        if let taken { throw Refusal(.ruaUserExists, because: taken.sharing(username, email, phone)) }
        let id = state.nextUserID(of: partner.id)
        let customer = RezolveCustomer(
            entityID: state.freshEntityID(call.identifiers), partnerID: partner.id,
            partnerEntityID: RezolveState.partnerEntityID(ofUser: id),
            email: email ?? "", created: call.moment)
        let user = RUAUser(
            id: id, customer: customer, username: username, password: password, firstName: firstName,
            lastName: lastName, email: email ?? "", phone: phone ?? "", created: call.moment)
        state.store(customer)
        state.users.store(user)
        return .json(user.answer(to: "rua.register", call.switches), status: .created)
    }

    static func confirmUser(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        let id = call.parameters["user"]
        guard var user = Int(id).flatMap({ state.users[$0] }), String(user.id) == id,
            user.partnerID == call.credentials.partner?.id
        else {
            throw Refusal(
                .ruaUserNotFound,
                because:
                    "no user of partner \(call.credentials.partner?.id ?? "") has the id \(id); expected that of a user who registered"
            )
        }
        guard call.parameters["code"] == confirmationCode else {
            throw Refusal(
                .ruaConfirmCodeWrong,
                because: "the code is \(call.parameters["code"]); expected \(confirmationCode), which it always is")
        }
        user.isConfirmed = true
        state.users.store(user)
        return .json(user.json)
    }

    /// Signs a user in; an unconfirmed one too (observed).
    static func logIn(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.ruaAPIKeyMissing) }
        var reader = FieldReader(try call.signInBody())
        let username = reader.string("username", isRequired: true)
        let password = reader.string("password", isRequired: true)
        let device = reader.string("deviceId", isRequired: true, minimumLength: 1)
        guard let username, let password, let device else { throw call.invalidBody(reader.problems) }
        guard let user = state.users.user(of: partner.id, username: username) else {
            throw Refusal(
                .ruaWrongCredentials,
                because:
                    "no user of partner \(partner.id) has the username \(username.shown); expected that of a user who registered"
            )
        }
        guard let known = user.password, known.hasSameBytes(as: password) else {
            throw Refusal(.ruaWrongCredentials, because: user.wrongPassword)
        }
        return try openSession(of: user, device: device, call, &state)
    }

    /// Replaces the token of a session; an expired one too, since that is what a renewal is for (inferred).
    static func ping(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        let session = try call.session(in: state)
        // A customer of the core register has no user, and so no session that RUA could have ended.
        let isOver = session.user?.isLoggedOut(on: session.device) ?? false
        let token = try sessionToken(
            for: session.customer, of: session.partner, device: session.device, at: call.moment,
            lifetime: isOver ? logoutLifetime : sessionLifetime)
        let value = call.switches.tokenPrefix == .bearer ? "Bearer \(token)" : token
        return .respond(withToken(value, ["accessToken": .string(value)]))
    }

    /// Notes that the password was forgotten; no mail is sent.
    static func forgotPassword(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        var reader = FieldReader(try call.signInBody())
        guard let email = reader.string("email", isRequired: true) else { throw call.invalidBody(reader.problems) }
        let partner = call.credentials.partner?.id ?? ""
        guard let user = state.users.user(of: partner, email: email) else {
            throw Refusal(
                .ruaUserNotFound,
                because:
                    "no user of partner \(partner) has the email \(email.shown); expected that of a user who registered"
            )
        }
        call.findings.note(
            Finding("mail", .noted, found: .text("user \(user.id)"), note: "A real server would send a mail now."))
        return .json([:])
    }

    /// Replaces the password; tokens stay valid (ours).
    static func changePassword(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        var reader = FieldReader(try call.signInBody())
        let current = reader.string("currentPassword", isRequired: true)
        let new = reader.string("newPassword", isRequired: true, minimumLength: 1)
        guard let current, let new else { throw call.invalidBody(reader.problems) }
        var user = try call.sessionUser(in: state)
        guard let known = user.password, known.hasSameBytes(as: current) else {
            throw Refusal(.ruaWrongPassword, because: user.wrongPassword)
        }
        user.password = new
        state.users.store(user)
        return .json([:])
    }

    /// Ends the session of the token's device; tokens of core live on until they expire (documented idea, seed).
    static func logOut(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        var user = try call.sessionUser(in: state)
        user.logOut(on: try call.session(in: state).device)
        state.users.store(user)
        return .json([:])
    }
}

// MARK: - Sessions

extension Rezolve {
    /// The advised maximum. Source: seed, "30 minutes or less".
    static let sessionLifetime = Duration.seconds(1800)
    /// A token that is over when it is made. Source: logging out so is the seed's idea; the length is ours.
    static let logoutLifetime = Duration.seconds(-60)

    /// Answers a user with the token of a new session in `Authorization`.
    static func openSession(
        of user: RUAUser, device: String, _ call: RezolveCall, _ state: inout RezolveState
    ) throws(RezolveRefusal) -> Reply {
        guard let customer = state.customers[user.entityID],
            let partner = call.vendor.accounts.partner(id: user.partnerID)
        else {
            throw Refusal(
                .ruaWrongCredentials, because: "the customer of user \(user.id) is gone; expected a user who has one")
        }
        let token = try sessionToken(for: customer, of: partner, device: device, at: call.moment)
        var user = user
        user.logIn(on: device)
        state.users.store(user)
        return .respond(withToken("Bearer \(token)", user.answer(to: call.route.id, call.switches)))
    }

    /// A login JWT as RUA signs it, for the partner.
    static func sessionToken(
        for customer: RezolveCustomer, of partner: RezolvePartner, device: String, at moment: Moment,
        lifetime: Duration = sessionLifetime
    ) throws(RezolveRefusal) -> String {
        guard let key = partner.authKey?.signing else {
            throw Refusal(
                .ruaNoAuthKey,
                because: "partner \(partner.id) has no auth key to sign a token with; expected a partner that has one")
        }
        let draft = TokenDraft.login(
            entityID: customer.entityID, partnerEntityID: customer.partnerEntityID, deviceID: device,
            expiry: moment + lifetime)
        do {
            return try draft.mint(key: key, algorithm: .hs512, at: moment.unixSeconds)
        } catch {
            throw Refusal(
                .serviceUnavailable,
                because: "the token could not be signed: \(error); expected an auth key that signs HS512")
        }
    }

    private static func withToken(_ value: String, _ body: JSON) -> Response {
        var response = Response.json(body)
        response.fields[.authorization] = value
        return response
    }
}

extension Call<Rezolve> {
    /// The customer, user and device that an authorized session token names.
    fileprivate func session(
        in state: RezolveState
    ) throws(RezolveRefusal) -> (customer: RezolveCustomer, user: RUAUser?, partner: RezolvePartner, device: String) {
        guard let token = credentials.token, let customer = state.customers[token.entityID],
            let partner = vendor.accounts.partner(id: customer.partnerID)
        else {
            throw Refusal(
                .ruaTokenInvalid, because: "the token names nobody; expected the rezolve_entity_id of a customer")
        }
        return (customer, state.users.user(entity: customer.entityID), partner, token.deviceID)
    }

    /// The user of RUA whom an authorized session token names.
    func sessionUser(in state: RezolveState) throws(RezolveRefusal) -> RUAUser {
        let session = try session(in: state)
        guard let user = session.user else {
            throw Refusal(
                .ruaTokenInvalid,
                because:
                    "customer \(session.customer.entityID) has no user at RUA; expected the token of one who registered there"
            )
        }
        return user
    }

    /// The body of a request to RUA, which must be a JSON object.
    func signInBody() throws(RezolveRefusal) -> JSONObject {
        let body: JSON
        if request.body.isEmpty { throw Refusal(.ruaBodyInvalid, because: "the body is empty, not a JSON object") }
        do {
            body = try JSON.parse(request.body)
        } catch {
            throw Refusal(.ruaBodyInvalid, because: "the body is not JSON: \(error); expected a JSON object")
        }
        guard let object = body.object else {
            throw Refusal(.ruaBodyInvalid, because: "the body is a JSON \(body.typeName), not an object")
        }
        return object
    }

    /// The refusal of a body with wrong members.
    func invalidBody(_ problems: [FieldProblem]) -> RezolveRefusal {
        Refusal(.ruaBodyInvalid, because: problems.reason)
    }
}
