import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Customers who shop without an account. Source: documented, wiki page Guest-Login; RUA's counterpart is observed, QA
/// tests.
extension Rezolve {
    /// Creates a guest; requires only an api key, and the body is optional.
    static func registerGuest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.maskedAPIKey) }
        if !call.request.body.isEmpty { _ = try call.body() }
        return .json(createGuest(of: partner, call, &state).json)
    }

    /// Opens a session for a guest of the partner.
    static func logInGuest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        let (device, entity) = try call.body { ($0.text("deviceId", atLeast: 1), $0.text("entityId")) }
        guard let partner = call.credentials.partner else { throw Refusal(.maskedTokenMissing) }
        guard let guest = state.users.user(entity: entity), guest.isGuest, guest.partnerID == partner.id else {
            throw Refusal(.maskedOtherUser, because: whyNoGuest(entity, partner))
        }
        return try openSession(of: guest, device: device, call, &state)
    }

    /// RUA's call for guests: without content it creates a guest, with content it logs one in.
    static func guest(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        guard let partner = call.credentials.partner else { throw Refusal(.ruaAPIKeyMissing) }
        let body = call.request.body.isEmpty ? Fields([:]) : try call.signInBody()
        if body.object.isEmpty { return .json(createGuest(of: partner, call, &state).json) }
        let (device, entity) = try body.read { ($0.text("deviceId", atLeast: 1), $0.text("entityId")) }
        guard let guest = state.users.user(entity: entity), guest.isGuest, guest.partnerID == partner.id else {
            throw Refusal(.ruaUserNotFound, because: whyNoGuest(entity, partner))
        }
        return try openSession(of: guest, device: device, without: ["timesLoggedIn"], call, &state)
    }

    private static func whyNoGuest(_ entity: String, _ partner: RezolvePartner) -> String {
        "\(entity.shown) is not a guest of partner \(partner.id); expected the entityId of one that was created"
    }

    private static func createGuest(of partner: RezolvePartner, _ call: RezolveCall, _ state: inout State) -> RUAUser {
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
