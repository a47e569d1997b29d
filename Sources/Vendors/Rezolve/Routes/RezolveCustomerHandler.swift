import Emulation

extension Rezolve {
    typealias CustomerHandler = @Sendable (inout RezolveCall, inout RezolveCustomer) throws(Refused) -> Reply

    /// A route's handler that finds the customer, passes a copy to `handler`, and stores the copy unless the handler
    /// threw.
    static func forCustomer(_ handler: @escaping CustomerHandler) -> Route<Rezolve>.Handler {
        { (call, state) throws(Refused) in
            var customer = try owner(of: call, in: state)
            let reply = try handler(&call, &customer)
            state.store(customer)
            return reply
        }
    }

    /// A route's handler that only reads a customer; an adopted customer is stored.
    static func forCustomer(
        reading handler: @escaping @Sendable (RezolveCall, RezolveCustomer) throws(Refused) -> Reply
    ) -> Route<Rezolve>.Handler {
        { (call, state) throws(Refused) in
            if let known = state.customers[call.parameters["entity"]] { return try handler(call, known) }
            let adopted = try owner(of: call, in: state)
            let reply = try handler(call, adopted)
            state.store(adopted)
            return reply
        }
    }

    /// The customer of the path, whom authorization matched with the token; a new one if adopted.
    private static func owner(of call: RezolveCall, in state: State) throws(Refused) -> RezolveCustomer {
        if let customer = state.customers[call.parameters["entity"]] { return customer }
        guard let partner = call.credentials.partner, let token = call.credentials.token else {
            throw Refusal(.maskedOtherUser, because: "nobody was authorized; expected the token of a customer")
        }
        if let other = state.customer(partner: partner.id, partnerEntityID: token.partnerEntityID) {
            throw Refusal(
                .maskedOtherUser,
                because:
                    "partner_entity_id \(token.partnerEntityID) belongs to \(other.entityID), not to \(token.entityID)")
        }
        return RezolveCustomer(
            entityID: token.entityID, partnerID: partner.id, partnerEntityID: token.partnerEntityID,
            created: call.moment)
    }
}
