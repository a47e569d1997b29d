/// Something of every kind that happens in a sandbox, and what can be seen of it afterwards.
public struct SandboxLife: Sendable {
    /// A look at what happened.
    public typealias Look = @Sendable (World) async throws -> [String]

    /// What is left of it.
    public struct Past: Sendable {
        /// Everything that a client sees of it.
        let seen: Look
        /// What only those see who have the secrets that an export leaves out.
        let kept: Look
        /// Something that happens later.
        let goOn: @Sendable (World) async throws -> Void

        /// What is left of a life.
        public init(
            seen: @escaping Look, kept: @escaping Look = { _ in [] },
            goOn: @escaping @Sendable (World) async throws -> Void
        ) {
            (self.seen, self.kept, self.goOn) = (seen, kept, goOn)
        }
    }

    /// What of it an export takes to another sandbox.
    public enum Portability: Sendable {
        /// All that a client sees.
        case everything
        /// The records, while clients need tokens of that sandbox.
        case records
        /// Nothing, since secrets of the sandbox belong to it.
        case nothing
    }

    /// Lives it.
    let live: @Sendable (World) async throws -> Past
    /// What no export may hold.
    let secrets: [String]
    /// What of it can be had elsewhere.
    let portability: Portability
    /// Whether something in it is drawn, so that another seed shows.
    let drawsIDs: Bool

    /// A life, and the secrets in it.
    public init(
        secrets: [String], portability: Portability = .everything, drawsIDs: Bool = true,
        live: @escaping @Sendable (World) async throws -> Past
    ) {
        (self.secrets, self.portability, self.drawsIDs, self.live) = (secrets, portability, drawsIDs, live)
    }
}

/// A state that cannot be imported, and what the answer says of it.
public struct WrongState: Sendable, CustomStringConvertible {
    let state: String
    let complaint: String

    /// A state and the complaint about it.
    public init(_ state: String, complaint: String) { (self.state, self.complaint) = (state, complaint) }

    /// The complaint.
    public var description: String { complaint }
}

/// A change of the accounts that stops the start, and what the problem says of it.
public struct WrongAccounts: Sendable, CustomStringConvertible {
    let old: String
    let new: String
    let complaint: String

    /// A change of the accounts and the complaint about it.
    public init(_ old: String, to new: String, complaint: String) {
        (self.old, self.new, self.complaint) = (old, new, complaint)
    }

    /// The complaint.
    public var description: String { complaint }
}

/// How many records of a kind there may be, and what becomes of the next one.
public struct BoundCase: Sendable, CustomStringConvertible {
    /// What becomes of a record beyond the bound.
    public enum Beyond: Sendable {
        /// It is refused with that failure.
        case refused(String)
        /// The oldest go, and so many are left.
        case evicts(leaving: Int)
    }

    let records: String
    let most: Int
    let beyond: Beyond
    let make: @Sendable (World, Int) async throws -> ReceivedAnswer
    let count: @Sendable (World) async throws -> Int?

    /// A bound of records, how the one of a number is made, and how those are counted that are there.
    public init(
        _ records: String, most: Int, beyond: Beyond,
        make: @escaping @Sendable (World, Int) async throws -> ReceivedAnswer,
        count: @escaping @Sendable (World) async throws -> Int?
    ) {
        (self.records, self.most, self.beyond, self.make, self.count) = (records, most, beyond, make, count)
    }

    /// What is bounded.
    public var description: String { "\(most) \(records)" }
}
