#if KQUEUE
    internal import Glibc

    /// That of Linux, or with `UNDERSTUDY_KQUEUE` that of macOS, so that one build tests both.
    struct Poller: Sendable {
        private let linux: EpollPoller?
        private let darwin: KqueuePoller?

        init() throws(ServerError) {
            let isLinux = getenv("UNDERSTUDY_KQUEUE") == nil
            linux = isLinux ? try EpollPoller() : nil
            darwin = isLinux ? nil : try KqueuePoller()
        }

        func add(_ watched: Int32, _ interest: Interest) -> Bool {
            linux?.add(watched, interest) ?? darwin?.add(watched, interest) ?? false
        }

        func change(_ watched: Int32, from old: Interest, to new: Interest) {
            linux?.change(watched, from: old, to: new)
            darwin?.change(watched, from: old, to: new)
        }

        func wait(milliseconds: Int32?, into found: inout [Readiness]) {
            linux?.wait(milliseconds: milliseconds, into: &found)
            darwin?.wait(milliseconds: milliseconds, into: &found)
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
