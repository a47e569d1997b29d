import Emulation
import JSON

extension Call<Bloomreach> {
    /// The project whose data the call uses; authentication rejects a call without one.
    func project() throws(BloomreachRefusal) -> BloomreachProject {
        guard let project = credentials.project else { throw Refusal(.unknownProject) }
        return project
    }

    /// The body of a call about one customer, with the ids that name the customer.
    func customerBody(
        isRequired: Bool = true
    ) throws(BloomreachRefusal) -> (body: Fields<Bloomreach>, ids: BloomreachIDs) {
        let body = try body()
        return (body, try customerIDs(of: body, isRequired: isRequired))
    }

    /// The ids in a body that name its customer, without nulls and empty texts.
    ///
    /// - Parameter isRequired: whether the body must name a customer, unless a token does.
    /// - Throws: ``BloomreachFailure/invalidField``, ``BloomreachFailure/unknownIDName`` with switch `unknown-ids`, and
    ///   ``BloomreachFailure/noCustomerIDs``.
    func customerIDs(of body: Fields<Bloomreach>, isRequired: Bool = true) throws(BloomreachRefusal) -> BloomreachIDs {
        var ids = BloomreachIDs()
        if let value = body.object.present("customer_ids") { ids = try self.ids(value, of: "customer_ids") }
        if ids.isEmpty, isRequired, credentials.token == nil {
            let found = body.object["customer_ids"].map { "customer_ids is \($0.text.prefix(100)), which names nobody" }
            throw Refusal(
                .noCustomerIDs,
                because: "\(found ?? "there is no customer_ids"); expected at least one id with its value")
        }
        return ids
    }

    func ids(_ value: JSON, of field: String) throws(BloomreachRefusal) -> BloomreachIDs {
        let ids: BloomreachIDs
        do {
            ids = try BloomreachIDs(value)
        } catch {
            throw .invalidField(field, because: "\(field): \(error)")
        }
        if switches.unknownIDs == .reject {
            let project = try project()
            if let name = ids.names.first(where: { !project.definesID($0) }) {
                let known = Nearest.known([BloomreachID.cookie, BloomreachID.registered] + project.idNames)
                throw Refusal(
                    .unknownIDName, ["field": .string(field)],
                    because: "\(project.token) defines no id \(name.shown)\(known)")
            }
        }
        return ids
    }
}
