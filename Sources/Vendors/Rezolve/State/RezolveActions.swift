import Emulation
import JSON

/// What can happen to customers and users without a request of the app (all ours).
extension Rezolve {
    static let actions: [VendorAction<Rezolve>] = [
        VendorAction(
            "register-customer", about: "Registers a customer, as the partner's sign-in server would.",
            members: [
                ActionMember("partner_entity_id", "the partner's id of the user", isRequired: true),
                ActionMember("partner", "id of the partner; the first one"),
                ActionMember("entity", "the entity id that the customer gets; a fresh one"),
                ActionMember("email", "email address of the profile; none"),
            ], body: registerCustomer),
        VendorAction(
            "remove-customer",
            about: "Removes a customer with all records, so that their tokens no longer name anybody.",
            members: [ActionMember("entity", "entity id of the customer", isRequired: true)], body: removeCustomer),
        VendorAction(
            "log-out", about: "Ends the session of a RUA user on a device, as a support desk could.",
            members: [
                ActionMember("entity", "entity id of the user's customer", isRequired: true),
                ActionMember("device_id", "the device; the sample device"),
            ], body: logOutUser),
    ]

    private static func registerCustomer(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let accounts = call.vendor.accounts
        let partnerEntityID = try call.required("partner_entity_id")
        let partnerID = try call.text("partner") ?? accounts.partners.first?.id ?? ""
        guard let partner = accounts.partner(id: partnerID) else {
            let hint = Nearest.hint(to: partnerID, among: accounts.partners.map(\.id))
            throw ActionRefusal("no partner has the id \(partnerID)\(hint)")
        }
        if let other = state.customer(partner: partner.id, partnerEntityID: partnerEntityID) {
            throw ActionRefusal("partner \(partner.id) has registered \(partnerEntityID) already, as \(other.entityID)")
        }
        let entity = try call.text("entity") ?? state.freshEntityID(call.identifiers)
        guard !entity.isEmpty, entity != RezolveToken.noEntity, state.customers[entity] == nil else {
            throw ActionRefusal("entity “\(entity)” is taken, or cannot be an entity id")
        }
        state.store(
            RezolveCustomer(
                entityID: entity, partnerID: partner.id, partnerEntityID: partnerEntityID,
                email: try call.text("email") ?? "", created: call.moment))
        return ["entity_id": .string(entity), "partner_id": .string(partner.id)]
    }

    private static func removeCustomer(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let entity = try existingEntity(call, state)
        state.remove(entity: entity)
        return ["entity_id": .string(entity)]
    }

    private static func logOutUser(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let entity = try existingEntity(call, state)
        guard var user = state.users.user(entity: entity) else {
            throw ActionRefusal("customer \(entity) has no user at RUA")
        }
        user.logOut(on: try call.text("device_id") ?? call.vendor.accounts.sampleDeviceID)
        state.users.store(user)
        return ["id": JSON(user.id), "username": .string(user.username)]
    }

    private static func existingEntity(_ call: Action, _ state: State) throws(ActionRefusal) -> String {
        let entity = try call.required("entity")
        guard state.customers[entity] != nil else {
            let hint = Nearest.hint(to: entity, among: state.customers.keys.sorted().prefix(20).map(\.text))
            throw ActionRefusal("no customer has the entity id \(entity)\(hint)")
        }
        return entity
    }
}
