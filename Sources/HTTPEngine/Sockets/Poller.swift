#if KQUEUE
    internal import Glibc

    /// That of Linux, or with `UNDERSTUDY_KQUEUE` that of macOS, so that one build tests both.
    enum Poller: Sendable {
        case linux(EpollPoller)
        case darwin(KqueuePoller)

        init() throws(ServerError) {
            self = getenv("UNDERSTUDY_KQUEUE") == nil ? .linux(try EpollPoller()) : .darwin(try KqueuePoller())
        }

        func add(_ watched: Int32, _ interest: Interest) -> Bool {
            switch self {
            case .linux(let poller): poller.add(watched, interest)
            case .darwin(let poller): poller.add(watched, interest)
            }
        }

        func change(_ watched: Int32, from old: Interest, to new: Interest) {
            switch self {
            case .linux(let poller): poller.change(watched, from: old, to: new)
            case .darwin(let poller): poller.change(watched, from: old, to: new)
            }
        }

        func wait(milliseconds: Int32?, into found: inout [Readiness]) {
            switch self {
            case .linux(let poller): poller.wait(milliseconds: milliseconds, into: &found)
            case .darwin(let poller): poller.wait(milliseconds: milliseconds, into: &found)
            }
        }
    }
#endif

/// The events to watch on a descriptor. A broken connection is always reported; by kqueue while any event is watched.
struct Interest: OptionSet, Sendable {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
}

/// The events that occurred on a descriptor.
struct Readiness: Sendable {
    let descriptor: Int32
    let isReadable: Bool
    let isWritable: Bool
    /// Whether both directions have ended, so that neither an answer nor a request gets through.
    let isBroken: Bool
}
