public import HTTPTypes
public import Wire

/// Answers given before a handler is reached. Not inlinable: few exchanges get here.
extension VendorRuntime {
    /// The vendor's answer to a request without a route, when that is not a failure.
    @usableFromInline
    func unrouted(_ exchange: Exchange, in store: VendorStateStore<V>) -> ExchangeStep? {
        guard let response = vendor.unroutedAnswer(to: exchange.request, { store.switches }) else { return nil }
        return finish(exchange, response, record(), in: store)
    }

    /// Refuses a path that has no route, or only other methods.
    @usableFromInline
    func refuse(_ exchange: Exchange, knowing methods: [HTTPRequest.Method]?, in store: VendorStateStore<V>)
        -> ExchangeStep
    {
        var record = record()
        if let allow = methods?.map(\.rawValue).joined(separator: ", ") {
            let failure = V.unrouted.methodNotAllowed
            let reason = "found the method \(exchange.request.method.rawValue); expected \(allow) at this path"
            return finish(exchange, Refusal(failure, because: reason), record, in: store) { response in
                if failure != V.unrouted.routeNotFound { response.fields[.allow] = allow }
            }
        }
        var refusal = Refusal(V.unrouted.routeNotFound, because: "\(V.identity.title) has nothing at this path")
        if let part = V.unrouted.notOffered, let reason = part.reason(at: exchange.request.path) {
            (refusal, record.mayBeMistyped) = (Refusal(part.failure, because: reason), false)
        }
        return finish(exchange, refusal, record, in: store)
    }

    @usableFromInline
    func refuseLongBody(_ exchange: Exchange, at route: Route<V>, in store: VendorStateStore<V>) -> ExchangeStep {
        var record = record()
        record.route = route.id
        let limit = route.bodyLimit ?? V.identity.bodyLimit ?? RouteListing.standardBodyLimit
        let reason = exchange.request.excess(over: limit)
        return finish(exchange, Refusal(V.unrouted.bodyTooLarge, because: reason), record, in: store)
    }

    /// The answer to a failure, in the form that the vendor gives it for the sender of the request.
    @usableFromInline
    func response(
        to exchange: Exchange, _ refusal: Refusal<V.Failure>, at route: String?, in store: VendorStateStore<V>
    ) -> Response {
        let values = store.switchValues
        guard V.presentsFailures else {
            return catalog.response(refusal.failure, refusal.parameters, route: route, switches: values)
        }
        let sandbox = exchange.sandbox
        let setting = FailureSetting<V.Failure, V.Switches>(
            failure: refusal.failure, request: exchange.request, route: route, switches: store.switches,
            identifiers: sandbox.identifiers, moment: sandbox.now,
            base: sandbox.identity.publicBase.address(of: sandbox.name, by: exchange.selector))
        var parameters = vendor.freshParameters(in: setting)
        for parameter in refusal.parameters { parameters[parameter.name] = parameter.value }
        var response = catalog.response(refusal.failure, parameters, route: route, switches: values)
        let context = store.content.withLock { vendor.failureContext(in: $0.state, setting) }
        vendor.present(&response, refusal.parameters, context, in: setting)
        return response
    }

    /// The record of an exchange that reaches no handler.
    private func record() -> ExchangeRecord {
        var record = ExchangeRecord()
        record.vendor = V.identity.id
        record.secrets = secrets
        return record
    }
}
