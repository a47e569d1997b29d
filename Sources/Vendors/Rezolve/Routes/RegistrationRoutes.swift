import Emulation
import JSON
import Tokens

/// Registration by a partner's server. Source: documented, JWT page, "Register a new Rezolve User".
extension Rezolve {
    /// Creates the customer that the registration JWT names, with its own key pair.
    ///
    /// The pair is made on first use; clients cannot tell the difference, and the caller need not wait for it.
    static func register(_ call: inout RezolveCall, _ state: inout State) throws(Refused) -> Reply {
        if call.credentials.isSampleRenewal { return try renewLikeSample(&call, &state) }
        let email = try call.body { $0.text("email", atLeast: 1) }
        guard let partner = call.credentials.partner, let token = call.credentials.token else {
            throw Refusal(.maskedTokenMissing)
        }
        if let known = state.entityID(partner: partner.id, partnerEntityID: token.partnerEntityID) {
            try Refused.require(
                call.switches.duplicateRegistration == .returnExisting, .registrationDuplicate,
                "\(token.partnerEntityID) of partner \(partner.id) is registered as \(known); expected a partner_entity_id that is not"
            )
            return answer(known, of: partner)
        }
        let customer = RezolveCustomer(
            entityID: state.freshEntityID(call.identifiers), partnerID: partner.id,
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
        let body = try? JSON.parse(call.request.body)
        guard let device = body?["device_id"]?.string, let entity = body?["entityId"]?.string,
            let customer = state.customers[entity], customer.partnerID == body?["partnerId"]?.string,
            let partner = call.vendor.accounts.partner(id: customer.partnerID)
        else {
            throw Refusal(
                .maskedAPIKey,
                because: "no api key, and the body names no known customer; expected x-rezolve-partner-apikey")
        }
        guard let key = try keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        let token = try sessionToken(for: customer, of: partner, device: device, call.arrival)
        return .json(["access_token": .string(token), "public_key": JSON(key.publicPEM)])
    }
}
