public import JSON
public import Wire

/// A vendor whose failures look different for different callers, such as a page for a browser, or a redirect.
public protocol PresentsFailures<State, Failure, Switches>: Vendor {
    /// What the form of a failure depends on in the state, such as what the client asked for earlier.
    associatedtype FailureContext: Sendable = Void

    /// What the form of a failure depends on in a state. Read under the lock, so it must be cheap to get.
    func failureContext(in state: State, _ setting: FailureSetting<Failure, Switches>) -> FailureContext

    /// Parameters that the bodies of all failures have anew each time, such as an error's own id.
    func freshParameters(in setting: FailureSetting<Failure, Switches>) -> JSONObject

    /// Gives the answer to a failure its form.
    ///
    /// - Parameters:
    ///   - response: the answer that `failures.yaml` describes.
    ///   - parameters: what the refusal says besides the name of the failure.
    ///   - context: what ``failureContext(in:_:)`` read from the state.
    func present(
        _ response: inout Response, _ parameters: JSONObject, _ context: FailureContext,
        in setting: FailureSetting<Failure, Switches>)
}

extension PresentsFailures {
    /// By default, there are none.
    package func freshParameters(in setting: FailureSetting<Failure, Switches>) -> JSONObject { [:] }

    package var failurePresenter: (any PresentsFailures<State, Failure, Switches>)? { self }

    /// Gives the answer to a failure its form.
    ///
    /// - Parameter read: locks the state while its closure runs.
    package func present(
        _ response: inout Response, _ parameters: JSONObject, in setting: FailureSetting<Failure, Switches>,
        state read: ((State) -> Void) -> Void
    ) {
        var context: FailureContext?
        read { context = failureContext(in: $0, setting) }
        if let context { present(&response, parameters, context, in: setting) }
    }
}

extension PresentsFailures where FailureContext == Void {
    /// By default, the form does not depend on the state.
    package func failureContext(in state: State, _ setting: FailureSetting<Failure, Switches>) {}
}

/// What a vendor knows when it answers with a failure.
public struct FailureSetting<Failure: VendorFailure, Switches: VendorSwitches>: Sendable {
    /// The failure, whether a rule, a handler or a fault chose it.
    package let failure: Failure
    package let request: Request
    /// The id of the route; `nil` when the path has none.
    package let route: String?
    package let switches: Switches
    package let identifiers: IdentifierSource
    /// The time in the sandbox.
    package let moment: Moment
    /// The server's public address, for clients that select the sandbox as the request does.
    package let base: String
}
