import HTTPTypes
import JSON
import Wire

/// Faults and scenarios in an exchange. Not inlinable: few exchanges get here.
extension SandboxedVendor {
    /// Carries out a decision: performs an action on the state, replaces the answer, disturbs the wire.
    @usableFromInline
    func carryOut(
        _ intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange, _ call: inout Call<V>,
        by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        guard let order = intervention.effect.action else {
            return answer(intervention, intervention.summary, matchContext, exchange, &call, by: loaded)
        }
        guard V.actions.contains(where: { $0.listing.name == order.name && $0.mayTakeLong }) else {
            return perform(order, of: intervention, matchContext, exchange, call, by: loaded)
        }
        // An action that reads through a state may visit a million records, too long for an event loop.
        return .waiting { [call] in self.perform(order, of: intervention, matchContext, exchange, call, by: loaded) }
    }

    private func perform(
        _ order: ActionRequest, of intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange,
        _ call: Call<V>, by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        var call = call
        var summary = intervention.summary
        do {
            _ = try self.perform(
                order.name, try order.members(TemplateValues(matchContext)), as: loaded, at: exchange.moment,
                exchange.sandbox.identifiers, by: exchange.selector)
        } catch {
            summary += "; \(order.name) was not done: \(error)"
        }
        return answer(intervention, summary, matchContext, exchange, &call, by: loaded)
    }

    /// Replaces the answer, or lets the vendor make it, and disturbs the wire.
    private func answer(
        _ intervention: Intervention, _ summary: String, _ matchContext: MatchContext, _ exchange: Exchange,
        _ call: inout Call<V>, by loaded: LoadedVendor<V>
    ) -> ExchangeStep {
        var summary = summary
        let step: ExchangeStep
        do {
            step =
                try replace(intervention, matchContext, exchange, call, by: loaded)
                ?? handle(exchange, &call, by: loaded)
        } catch {
            // ours: the vendor's own answer rather than half of the intended one; the journal says why.
            summary += "; respond was not done: \(error)"
            step = handle(exchange, &call, by: loaded)
        }
        return step.amended { [summary] response, record in
            let effect = intervention.effect
            var notes =
                effect.defects.isEmpty
                ? [] : self.spoil(effect.defects, in: &response, of: exchange, by: self.latest(loaded))
            record.isStruck = !effect.isNone && (effect.defects.isEmpty || notes.count < effect.defects.count)
            if let duration = effect.advance {
                var isShown = true
                _ = exchange.sandbox.adjustClock { isShown = $0.advance(by: duration) }
                if !isShown { notes.append("the clock was not moved: it cannot show that time") }
            }
            record.intervention = ([summary] + notes).joined(separator: "; ")
            if intervention.transmission != .plain { response.transmission = intervention.transmission }
        }
    }

    private func replace(
        _ intervention: Intervention, _ matchContext: MatchContext, _ exchange: Exchange, _ call: Call<V>,
        by loaded: LoadedVendor<V>
    ) throws(TemplateExcess) -> ExchangeStep? {
        switch intervention.effect.replacement {
        case .failure(let name, let parameters)?:
            // The name was checked when the rule was read.
            guard let failure = V.Failure(rawValue: name) else { return nil }
            return finish(
                exchange, Refusal(failure, parameters, because: intervention.summary), record(of: call, by: loaded),
                by: loaded
            ) { if failure == V.Failure.methodNotAllowed { completeAllow(&$0, exchange, by: loaded) } }
        case .response(let template)?:
            return finish(
                exchange, try template.response(TemplateValues(matchContext)), record(of: call, by: loaded), by: loaded)
        case nil: return nil
        }
    }

    /// Like any other, a 405 from a rule lists the methods of its path (RFC 9110 section 15.5.6), including the refused
    /// one: rules do not change what a path supports. They are looked up only then.
    private func completeAllow(_ response: inout Response, _ exchange: Exchange, by loaded: LoadedVendor<V>) {
        guard response.status == .methodNotAllowed, response.fields[.allow] == nil else { return }
        // The same routes already formed a table when the vendor was mounted.
        let methods = LoadedVendor.table(of: loaded.table)?.methods(at: exchange.request.path)
        if let methods { response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ") }
    }
}
