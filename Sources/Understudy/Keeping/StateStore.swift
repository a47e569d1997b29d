package import Emulation

/// Where sandboxes are stored, row by row, and which server each of them belongs to.
///
/// Every function may wait for a disk or a network, and may be called on several threads at once. A failure means that
/// nothing was done, as far as anybody can know.
package protocol StateStore: AnyObject, Sendable {
    /// What people call it: the file's path, or the URL without its password.
    var place: String { get }

    /// Eight hexadecimal digits, drawn when the store was made: all servers of the store belong to one start.
    var start: String { get }

    /// This server's name among those that share the store; `nil` when it has the store for itself.
    var replica: String? { get }

    /// Whether all sandboxes that this server has claimed are certainly still its own. Never waits.
    var isAlive: Bool { get }

    /// Makes a sandbox this server's, unless it belongs to another one that is alive, and reads it.
    ///
    /// One that belongs to another server is wished for: that server is told, and the caller tries again.
    func claim(_ sandbox: String) throws(StoreProblem) -> StoreClaiming

    /// Writes what changed in many sandboxes in one transaction, or nothing of it.
    ///
    /// - Returns: the sandboxes that are another server's by now; of them nothing was written.
    func write(_ changes: [StoreChange]) throws(StoreProblem) -> Set<String>

    /// Gives sandboxes up, so that any server may claim them. One that has no rows is forgotten.
    func release(_ claims: [StoreClaim]) throws(StoreProblem)

    /// Forgets a sandbox with all its rows, and gives it up.
    ///
    /// - Returns: whether it was still this server's, and had rows.
    func delete(_ claim: StoreClaim) throws(StoreProblem) -> Bool

    /// Forgets the sandboxes that may be forgotten at that moment and are no server's.
    ///
    /// - Parameter names: those that this server has.
    func deleteExpired(at moment: Moment, sparing names: Set<String>) throws(StoreProblem)

    /// The rows of a sandbox in their order, whoever it belongs to.
    func rows(of sandbox: String) throws(StoreProblem) -> [StateRow]

    /// All sandboxes that have rows or an owner that is alive, by name.
    func list() throws(StoreProblem) -> [StoredSandbox]

    /// Takes part from now on: shows that this server is alive, and tells the member what others wish.
    func join(_ member: any StoreMember)

    /// Takes part no longer: whatever this server has not released may be claimed at once.
    func leave()
}

extension StateStore {
    /// A server alone has no others to tell.
    package var replica: String? { nil }
    package var isAlive: Bool { true }
    package func join(_ member: any StoreMember) {}
    package func leave() {}
}

/// The server as its store sees it. All functions are called on a thread of the store, which they may keep for a while.
package protocol StoreMember: AnyObject, Sendable {
    /// Other servers wish for these sandboxes of this server.
    func wanted(_ sandboxes: [String])

    /// The server could not show for a while that it is alive, and now can: these sandboxes are still its own, each in
    /// that epoch, and all others are not. ``StateStore/isAlive`` holds once the function has returned.
    func regained(_ held: [String: Int])

    /// Why the server cannot show that it is alive; `nil` once it can again.
    func told(_ problem: StoreProblem?)
}

/// A sandbox that belongs to this server.
package struct StoreClaim: Sendable, Hashable {
    package let sandbox: String
    /// Counts the sandbox's owners.
    package let epoch: Int
}

/// The outcome of an attempt to claim a sandbox.
package enum StoreClaiming: Sendable {
    /// It is this server's: in that epoch; since when it may be forgotten; whether another server had it until now.
    case claimed(StoreClaim, [StateRow], expires: Moment?, wasHeld: Bool)
    /// It belongs to the server of that name.
    case held(by: String)
}

/// What is to be written of a sandbox.
package struct StoreChange: Sendable {
    let claim: StoreClaim
    let rows: StateRows
    let created: Moment
    /// When it was last used.
    let used: Moment
    /// When it may be forgotten; `nil` for never.
    let expires: Moment?
}

package struct StoredSandbox: Sendable {
    let name: String
    /// The server that it belongs to; `nil` for none that is alive.
    let owner: String?
    let created: Moment
    let used: Moment
    let expires: Moment?
}

/// Why a store did not do what it should.
package struct StoreProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence without a full stop, and without any secret.
    package let description: String

    init(_ description: String) { self.description = description }
}
