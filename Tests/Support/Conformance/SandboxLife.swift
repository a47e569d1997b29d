/// A sequence of events of every kind in a sandbox, and what can be observed afterwards.
package struct SandboxLife: Sendable {
    /// Observes the effects.
    package typealias Look = @Sendable (World) async throws -> [String]

    /// The observable result.
    package struct Past: Sendable {
        /// Everything that a client can see.
        let seen: Look
        /// What only clients with the secrets that an export omits can see.
        let kept: Look
        /// A later event.
        let goOn: @Sendable (World) async throws -> Void

        /// The observable result of a life.
        package init(
            seen: @escaping Look, kept: @escaping Look = { _ in [] },
            goOn: @escaping @Sendable (World) async throws -> Void
        ) {
            (self.seen, self.kept, self.goOn) = (seen, kept, goOn)
        }
    }

    /// What an export carries to another sandbox.
    package enum Portability: Sendable {
        /// Everything that a client can see.
        case everything
        /// The records; clients need tokens of that sandbox.
        case records
        /// Nothing, since it depends on secrets of the sandbox.
        case nothing
    }

    /// Makes the events happen.
    let live: @Sendable (World) async throws -> Past
    /// Values that no export may contain.
    let secrets: [String]
    /// What an export carries elsewhere.
    let portability: Portability
    /// Whether it draws random values, so that another seed makes a difference.
    let drawsIDs: Bool

    /// A life, and the secrets in it.
    package init(
        secrets: [String], portability: Portability = .everything, drawsIDs: Bool = true,
        live: @escaping @Sendable (World) async throws -> Past
    ) {
        (self.secrets, self.portability, self.drawsIDs, self.live) = (secrets, portability, drawsIDs, live)
    }
}

/// A state that cannot be imported, and the complaint about it.
package struct WrongState: Sendable, CustomStringConvertible {
    let state: String
    let complaint: String

    /// A state and the complaint about it.
    package init(_ state: String, complaint: String) { (self.state, self.complaint) = (state, complaint) }

    /// The complaint.
    package var description: String { complaint }
}

/// A change of the accounts that prevents the start, and the complaint about it.
package struct WrongAccounts: Sendable, CustomStringConvertible {
    let old: String
    let new: String
    let complaint: String

    /// A change of the accounts and the complaint about it.
    package init(_ old: String, to new: String, complaint: String) {
        (self.old, self.new, self.complaint) = (old, new, complaint)
    }

    /// The complaint.
    package var description: String { complaint }
}

/// How many records of a kind are allowed, and what happens to the next one.
package struct BoundCase: Sendable, CustomStringConvertible {
    /// What happens to a record beyond the limit.
    package enum Beyond: Sendable {
        /// It is refused with that failure.
        case refused(String)
        /// The oldest are evicted, which leaves that many.
        case evicts(leaving: Int)
    }

    let records: String
    let most: Int
    let beyond: Beyond
    let make: @Sendable (World, Int) async throws -> ReceivedAnswer
    let count: @Sendable (World) async throws -> Int?

    /// A limit of records, how to make the one with a given number, and how to count them.
    package init(
        _ records: String, most: Int, beyond: Beyond,
        make: @escaping @Sendable (World, Int) async throws -> ReceivedAnswer,
        count: @escaping @Sendable (World) async throws -> Int?
    ) {
        (self.records, self.most, self.beyond, self.make, self.count) = (records, most, beyond, make, count)
    }

    /// What is limited.
    package var description: String { "\(most) \(records)" }
}
