public import JSON

/// Something that can happen to a vendor's state without a request of the client, such as a user being deactivated.
///
/// Scenarios do it with `do:`, people with the control call `state/{vendor}/{action}`.
public struct VendorAction<V: Vendor>: Sendable {
    /// What happens: it checks first and changes state last, and returns what a person may want to know of it.
    public typealias Body = @Sendable (ActionCall<V>, inout V.State) throws(ActionRefusal) -> JSON
    /// The same for an action that has something to tell to open sockets.
    public typealias TellingBody =
        @Sendable (ActionCall<V>, inout V.State, inout Outbox) throws(ActionRefusal) -> JSON
    /// What an action finds in a state, which it leaves as it is.
    public typealias ReadingBody = @Sendable (ActionCall<V>, V.State) throws(ActionRefusal) -> JSON

    /// How the action is done.
    enum Work: Sendable {
        /// Under the state's lock.
        case changes(TellingBody)
        /// On a copy, so that requests need not wait for it.
        case reads(ReadingBody)
    }

    /// The name and the members, for lists.
    public let listing: ActionListing
    let work: Work

    /// Whether it changes nothing, and may take long.
    var isReading: Bool { if case .reads = work { true } else { false } }

    /// An action of these parts.
    public init(_ name: String, about: String, members: [ActionMember], body: @escaping Body) {
        self.init(name, about: about, members: members) { (call, state, _) throws(ActionRefusal) in
            try body(call, &state)
        }
    }

    /// An action of these parts that has something to tell to open sockets.
    public init(_ name: String, about: String, members: [ActionMember], body: @escaping TellingBody) {
        listing = ActionListing(name: name, about: about, members: members)
        work = .changes(body)
    }

    /// An action of these parts that changes nothing, however long it looks.
    public init(_ name: String, about: String, members: [ActionMember], reading: @escaping ReadingBody) {
        listing = ActionListing(name: name, about: about, members: members)
        work = .reads(reading)
    }
}

/// A member that an order for an action may have.
public struct ActionMember: Sendable {
    /// The name.
    public let name: String
    /// What it means.
    public let about: String
    /// Whether it must be there.
    public let isRequired: Bool

    /// A member of that name.
    public init(_ name: String, _ about: String, isRequired: Bool = false) {
        self.name = name
        self.about = about
        self.isRequired = isRequired
    }
}

/// An action as lists show it.
public struct ActionListing: Sendable {
    /// The stable kebab-case name.
    public let name: String
    /// What it does, in a line.
    public let about: String
    /// What it has to be told.
    public let members: [ActionMember]
}

/// What an action works with.
public struct ActionCall<V: Vendor>: Sendable {
    /// The vendor with its accounts and keys.
    public let vendor: V
    /// What the action was told; only members that it declares.
    public let members: JSONObject
    /// The moment at which it happens, by the sandbox's clock.
    public let moment: Moment
    /// Source of ids and other randomness.
    public let identifiers: IdentifierSource
    /// How this sandbox wants the vendor to behave.
    public let switches: V.Switches

    /// What `read` makes of the members.
    public func read<Value>(_ read: (inout FieldReader) -> Value) throws(ActionRefusal) -> Value {
        try Fields<ActionFields>(members).read(read)
    }

    /// A member as text; a number counts as its digits.
    public func text(_ name: String) throws(ActionRefusal) -> String? { try read { $0.optionalText(name) } }

    /// A member as text that must be there.
    public func required(_ name: String) throws(ActionRefusal) -> String { try read { $0.text(name) } }
}

/// How the members of an action are read.
enum ActionFields: FieldDialect {
    static let fieldPolicy = FieldPolicy(readsNumbersAsTexts: true)

    static func refusal(of problems: [FieldProblem]) -> ActionRefusal {
        let problem = problems[0]
        if problem.kind == .missing { return ActionRefusal("member \(problem.path) is missing") }
        return ActionRefusal("\(problem.path) is \(problem.found?.text ?? ""); expected \(problem.expected)")
    }
}

/// Why an action was not done: what was found and what would be right.
public struct ActionRefusal: Error, CustomStringConvertible {
    /// One sentence for people.
    public let description: String

    /// A refusal with that sentence.
    public init(_ description: String) {
        self.description = description
    }
}
