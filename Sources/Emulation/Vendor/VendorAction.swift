package import JSON

/// A change to a vendor's state that no client requests, such as a user being deactivated.
///
/// Scenarios perform it with `do:`, people with the control call `state/{vendor}/{action}`.
public struct VendorAction<V: Vendor>: Sendable {
    /// Performs the action: it checks first and changes state last, and returns a result for people.
    package typealias Body = @Sendable (ActionCall<V>, inout V.State) throws(ControlRefusal) -> JSON
    /// The same for an action that sends messages to open sockets.
    package typealias SendingBody =
        @Sendable (ActionCall<V>, inout V.State, inout Outbox) throws(ControlRefusal) -> JSON
    /// Reads a state without changing it.
    package typealias ReadingBody = @Sendable (ActionCall<V>, V.State) throws(ControlRefusal) -> JSON

    enum Work: Sendable {
        /// Under the state's lock.
        case changes(SendingBody)
        /// On a copy, so that requests need not wait for it.
        case reads(ReadingBody)
    }

    public let listing: ActionListing
    let work: Work

    var mayTakeLong: Bool { if case .changes = work { false } else { true } }
}

extension Vendor {
    package typealias Action = ActionCall<Self>

    package static func action(
        _ name: String, about: String, members: [ActionMember], body: @escaping VendorAction<Self>.Body
    ) -> VendorAction<Self> {
        action(name, about: about, members: members) { (call, state, _) throws(ControlRefusal) in
            try body(call, &state)
        }
    }

    /// An action that also sends messages to open sockets.
    package static func action(
        _ name: String, about: String, members: [ActionMember], body: @escaping VendorAction<Self>.SendingBody
    ) -> VendorAction<Self> {
        VendorAction(listing: ActionListing(name: name, about: about, members: members), work: .changes(body))
    }

    /// An action that changes nothing, however long it takes.
    package static func action(
        _ name: String, about: String, members: [ActionMember], reading: @escaping VendorAction<Self>.ReadingBody
    ) -> VendorAction<Self> {
        VendorAction(listing: ActionListing(name: name, about: about, members: members), work: .reads(reading))
    }
}

package struct ActionMember: Sendable {
    package let name: String
    package let about: String
    package let isRequired: Bool

    package static func required(_ name: String, _ about: String) -> ActionMember {
        ActionMember(name: name, about: about, isRequired: true)
    }

    package static func optional(_ name: String, _ about: String) -> ActionMember {
        ActionMember(name: name, about: about, isRequired: false)
    }
}

public struct ActionListing: Sendable {
    /// The stable kebab-case name.
    package let name: String
    package let about: String
    package let members: [ActionMember]
}

package struct ActionCall<V: Vendor>: Sendable {
    package let vendor: V
    package let members: JSONObject
    /// The moment of the action, by the sandbox's clock.
    package let moment: Moment
    package let identifiers: IdentifierSource
    package let switches: V.Switches
    package let sandbox: SandboxIdentity
    /// How the request that caused the action named the sandbox.
    package let selector: SandboxSelector

    /// The server's public address, for clients that select the sandbox in that way.
    package var base: String { sandbox.publicBase.address(of: sandbox.name, by: selector) }

    package func read<Value>(_ read: (inout FieldReader) -> Value) throws(ControlRefusal) -> Value {
        try Fields<ActionFields>(members).read(read)
    }

    /// A member as a string; a number counts as its digits.
    package func text(_ name: String) throws(ControlRefusal) -> String? { try read { $0.optionalText(name) } }

    package func required(_ name: String) throws(ControlRefusal) -> String { try read { $0.text(name) } }
}

enum ActionFields: FieldDialect {
    static let fieldPolicy = FieldPolicy(readsNumbersAsTexts: true)

    static func refusal(of problems: [FieldProblem]) -> ControlRefusal {
        let problem = problems[0]
        switch problem.kind {
        case .missing: return ControlRefusal("member \(problem.path) is missing")
        case .wrongType, .wrongValue, .noChoice, .noTime:
            return ControlRefusal("\(problem.path) is \(problem.found?.text ?? ""); expected \(problem.expected)")
        case .notJSON, .otherContent, .tooShort, .tooLong, .unknown, .other: return ControlRefusal("\(problem)")
        }
    }
}
