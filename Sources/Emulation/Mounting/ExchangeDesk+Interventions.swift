import HTTPTypes
import JSON
import Wire

/// What faults and scenarios do to an exchange. Not inlinable: few exchanges come here.
extension ExchangeDesk {
    @usableFromInline
    func intervene(
        _ intervention: Intervention, _ encounter: Encounter, _ exchange: Exchange, _ call: inout Call<V>,
        in cell: VendorCell<V>
    ) -> ExchangeStep {
        var summary = intervention.summary
        if let order = intervention.effect.action, let complaint = perform(order, encounter, exchange, in: cell) {
            summary += "; \(order.name) was not done: \(complaint)"
        }
        let step = replace(intervention, encounter, exchange, call, in: cell) ?? handle(exchange, &call, in: cell)
        return step.amended { [summary] response, record in
            record.intervention = summary
            if intervention.transmission != .plain { response.transmission = intervention.transmission }
        }
    }

    /// Does an action.
    ///
    /// - Returns: why it was not done; `nil` when it was.
    private func perform(
        _ order: ActionOrder, _ encounter: Encounter, _ exchange: Exchange, in cell: VendorCell<V>
    ) -> String? {
        do {
            _ = try cell.perform(
                order.name, order.members(TemplateValues(encounter)), as: self, at: exchange.moment,
                exchange.sandbox.identifiers)
            return nil
        } catch {
            return error.description
        }
    }

    private func replace(
        _ intervention: Intervention, _ encounter: Encounter, _ exchange: Exchange, _ call: Call<V>,
        in cell: VendorCell<V>
    ) -> ExchangeStep? {
        switch intervention.effect.replacement {
        case .failure(let name, let parameters)?:
            // The name was checked when the rule was read.
            guard let failure = V.Failure(rawValue: name) else { return nil }
            return finish(
                exchange, Refusal(failure, parameters, because: intervention.summary), record(of: call), in: cell
            ) { if failure == V.unrouted.methodNotAllowed { completeAllow(&$0, exchange) } }
        case .response(let template)?:
            return finish(exchange, template.response(TemplateValues(encounter)), record(of: call))
        case nil: return nil
        }
    }

    /// An armed 405 names the methods of its path as any other does (RFC 9110 section 15.5.6), the refused one among them:
    /// what a path has does not depend on what a rule makes of it. They are looked for only then.
    private func completeAllow(_ response: inout Response, _ exchange: Exchange) {
        guard response.status == .methodNotAllowed, response.fields[.allow] == nil else { return }
        let member = RouteTable.Member(
            identity: V.identity, routes: table.map { (id: $0.id, endpoints: $0.endpoints) })
        // The same routes made a table when the vendor was mounted.
        let methods = (try? RouteTable([member]))?.methods(at: exchange.request.path)
        if let methods { response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ") }
    }
}
