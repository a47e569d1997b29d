import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Customers who shop without an account. Source: documented, wiki page Guest-Login; RUA's twin is observed, qa.
extension Rezolve {
    /// Creates a guest; an api key is all it takes, and a body may be absent.
    static func registerGuest(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.maskedAPIKey) }
        if !call.request.body.isEmpty { _ = try call.bodyObject() }
        return .json(createGuest(of: partner, call, &state).json)
    }

    /// Opens a session for a guest of the partner.
    static func logInGuest(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        var reader = FieldReader(try call.bodyObject())
        let device = reader.string("deviceId", isRequired: true, minimumLength: 1)
        let entity = reader.string("entityId", isRequired: true)
        try call.refuse(reader.problems)
        guard let partner = call.credentials.partner, let device, let entity else {
            throw Refusal(.maskedTokenMissing)
        }
        guard let guest = state.users.user(entity: entity), guest.isGuest, guest.partnerID == partner.id else {
            throw Refusal(.maskedOtherUser, because: whyNoGuest(entity, partner))
        }
        return try openSession(of: guest, device: device, call, &state)
    }

    /// RUA's call for guests: without content it creates one, with content it logs one in.
    static func guest(_ call: inout RezolveCall, _ state: inout RezolveState) throws(RezolveRefusal) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.ruaAPIKeyMissing) }
        let object = call.request.body.isEmpty ? [:] : try call.signInBody()
        if object.isEmpty { return .json(createGuest(of: partner, call, &state).json) }
        var reader = FieldReader(object)
        let device = reader.string("deviceId", isRequired: true, minimumLength: 1)
        let entity = reader.string("entityId", isRequired: true)
        guard let device, let entity else { throw call.invalidBody(reader.problems) }
        guard let guest = state.users.user(entity: entity), guest.isGuest, guest.partnerID == partner.id else {
            throw Refusal(.ruaUserNotFound, because: whyNoGuest(entity, partner))
        }
        return try openSession(of: guest, device: device, call, &state)
    }

    private static func whyNoGuest(_ entity: String, _ partner: RezolvePartner) -> String {
        "\(entity.shown) is no guest of partner \(partner.id); expected the entityId of one that was created"
    }

    private static func createGuest(
        of partner: RezolvePartner, _ call: RezolveCall, _ state: inout RezolveState
    ) -> RUAUser {
        let entity = state.freshEntityID(call.identifiers)
        let customer = RezolveCustomer(
            entityID: entity, partnerID: partner.id, partnerEntityID: entity, created: call.moment)
        var guest = RUAUser(
            id: state.users.nextNumber(upTo: RUAUser.largestID), customer: customer, username: entity, password: nil,
            firstName: nil, lastName: nil,
            email: "", phone: "", created: call.moment)
        guest.isGuest = true
        state.store(customer)
        state.users.store(guest)
        return guest
    }
}
