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
                exchange, Refusal(failure, parameters, because: intervention.summary), record(of: call), in: cell)
        case .response(let template)?:
            return finish(exchange, template.response(TemplateValues(encounter)), record(of: call), in: cell)
        case nil: return nil
        }
    }
}
