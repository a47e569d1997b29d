package import Dispatch
package import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where sandboxes are stored, row by row, and which server each of them belongs to.
///
/// Every function may wait for a disk or a network, and may be called on several threads at once. A failure means that
/// nothing was done, as far as anybody can know.
package protocol StateStore: AnyObject, Sendable {
    /// What people call it: the file's path, or the URL without its password.
    var place: String { get }

    /// Eight hexadecimal digits, drawn when the store was made: all servers of the store belong to one start.
    var start: String { get }

    /// This server's name among those that share the store; `nil` when it has the store to itself.
    var replica: String? { get }

    /// How long changes gather before they are written: whatever changes twice meanwhile is written once.
    var delay: DispatchTimeInterval { get }

    /// Whether all sandboxes that this server has claimed are certainly still its own. Never waits.
    var isAlive: Bool { get }

    /// Makes a sandbox this server's, unless it belongs to another one that is alive, and reads it.
    ///
    /// A sandbox of another server is wished for: that server is notified, and the caller tries again.
    func claim(_ sandbox: String) throws(StoreProblem) -> StoreClaiming

    /// Writes what changed in many sandboxes in one transaction, or nothing of it.
    ///
    /// - Returns: the sandboxes that another server owns by now; nothing of them was written.
    func write(_ changes: [StoreChange]) throws(StoreProblem) -> Set<String>

    /// Gives sandboxes up, so that any server may claim them. One that has no rows is forgotten.
    func release(_ claims: [StoreClaim]) throws(StoreProblem)

    /// Forgets a sandbox with all its rows, and gives it up.
    ///
    /// - Returns: whether it was still this server's, and had rows.
    func delete(_ claim: StoreClaim) throws(StoreProblem) -> Bool

    /// Forgets the sandboxes that may be forgotten at that moment and belong to no server.
    ///
    /// - Parameter names: those that this server has.
    func deleteExpired(at moment: Moment, sparing names: Set<String>) throws(StoreProblem)

    /// The rows of a sandbox in their order, whoever it belongs to.
    func rows(of sandbox: String) throws(StoreProblem) -> [StateRow]

    /// All sandboxes that have rows or an owner that is alive, by name.
    func list() throws(StoreProblem) -> [StoredSandbox]

    /// Joins the servers of the store: shows from now on that this server is alive, and passes on to the member what
    /// others wish for.
    func join(_ member: any StoreMember)

    /// Leaves them: whatever this server has not released may be claimed at once.
    func leave()
}

extension StateStore {
    /// By default, a server has the store to itself.
    package var replica: String? { nil }
    package var delay: DispatchTimeInterval { .milliseconds(200) }
    package var isAlive: Bool { true }
}

/// The server as its store sees it. All functions are called on a thread of the store, which they may keep for a while.
package protocol StoreMember: AnyObject, Sendable {
    /// Other servers wish for these sandboxes of this server.
    func wanted(_ sandboxes: [String])

    /// The server's lease had lapsed, and is renewed: these sandboxes are still its own, each in that epoch, and all
    /// others are not. ``StateStore/isAlive`` holds once the function has returned.
    func regained(_ held: [String: Int])

    /// Why the server cannot renew its lease; `nil` once it can again.
    func told(_ problem: StoreProblem?)
}

package struct StoreClaim: Sendable, Hashable {
    package let sandbox: String
    /// Counts the sandbox's owners.
    package let epoch: Int
}

package enum StoreClaiming: Sendable {
    /// It is this server's: in that epoch; since when it may be forgotten; whether another server had it until now.
    case claimed(StoreClaim, [StateRow], expires: Moment?, wasHeld: Bool)
    case held(by: String)
}

package struct StoreChange: Sendable {
    let claim: StoreClaim
    let rows: StateRows
    /// `nil` while the store knows them well enough.
    let times: StoreTimes?
}

package struct StoredSandbox: Sendable {
    let name: String
    /// The server that it belongs to; `nil` for none that is alive.
    let owner: String?
    let times: StoreTimes
}

package struct StoreTimes: Sendable, Equatable {
    let created: Moment
    let used: Moment
    /// When it may be forgotten; `nil` for never.
    let expires: Moment?

    /// The times in a row, where the first two are never missing.
    init(created: Moment?, used: Moment?, expires: Moment?) {
        (self.created, self.used) = (created ?? Moment(unixSeconds: 0), used ?? Moment(unixSeconds: 0))
        self.expires = expires
    }

    /// Whether a store that has those times can do without these: with a sandbox in use, they change with every call.
    func isNear(_ known: StoreTimes?) -> Bool {
        func isNear(_ one: Moment?, _ other: Moment?) -> Bool {
            guard let one, let other else { return one == other }
            return abs(one.unixSeconds - other.unixSeconds) < 5
        }
        return created == known?.created && isNear(used, known?.used) && isNear(expires, known?.expires)
    }
}

package struct StoreProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence without a full stop, and without any secret.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Keeps two servers from saving to the same place, where the one that writes last would overwrite the other's state.
///
/// The lock is on a separate file, since each save replaces a state file. The system releases it when the process ends
/// for any reason; a leftover file means nothing.
package final class StateLock: Sendable {
    package enum Failure: Error {
        /// Another process holds it: its id, if it is known.
        case taken(by: Int?)
        case system(Files.Failure)
    }

    private let path: String
    private let descriptor: Int32
    /// Why the file system has no locks, so that only its user can keep other servers away; `nil` when it has.
    package let lack: Files.Failure?

    /// Takes the lock at a path for this process alone.
    package init(_ path: String) throws(Failure) {
        self.path = path
        (descriptor, lack) = try Self.open(path)
        write()
    }

    deinit {
        guard descriptor >= 0 else { return }
        // Removed while locked, and only if it is still this file: nobody else can hold it then.
        if Self.lies(descriptor, at: path) { unlink(path) }
        close(descriptor)
    }

    /// The locked file, or -1 with the reason on a file system without locks.
    private static func open(_ path: String) throws(Failure) -> (Int32, lack: Files.Failure?) {
        // A server that ends may remove the file between opening and locking it.
        for _ in 0..<100 {
            let descriptor: Int32
            do {
                descriptor = try Files.descriptor(of: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
            } catch {
                throw .system(error)
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let failure = Files.Failure.last
                defer { close(descriptor) }
                if failure.code == EINTR { continue }
                guard failure.code != EWOULDBLOCK else { throw .taken(by: owner(descriptor)) }
                return (-1, failure)
            }
            if lies(descriptor, at: path) { return (descriptor, nil) }
            close(descriptor)
        }
        throw .taken(by: nil)
    }

    private static func lies(_ descriptor: Int32, at path: String) -> Bool {
        var (open, named) = (stat(), stat())
        return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0 && open.st_ino == named.st_ino
            && open.st_dev == named.st_dev
    }

    /// The holder of the lock according to the file.
    private static func owner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 >= UInt8(ascii: "0") }, as: UTF8.self))
    }

    /// Writes the process id for the message of a second server. Without it that message only says less.
    private func write() {
        guard descriptor >= 0 else { return }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }
}
