#if canImport(Darwin)
    internal import Darwin
#else
    internal import CEpoll
    internal import Glibc
#endif

#if KQUEUE
    internal import CKqueue
#endif

#if KQUEUE
    /// Linux's poller, or with `UNDERSTUDY_KQUEUE` that of macOS, so that one build tests both.
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

        func remove(_ watched: Int32) {
            linux?.remove(watched)
            darwin?.remove(watched)
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

#if os(Linux)
    #if !KQUEUE
        typealias Poller = EpollPoller
    #endif

    /// Waits for many descriptors at once; here with epoll, level-triggered.
    final class EpollPoller: Sendable {
        private let descriptor: Int32

        init() throws(ServerError) {
            descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard descriptor >= 0 else { throw .lastFailure(of: "epoll_create1") }
        }

        /// Starts watching a descriptor; false when the system has no room for it.
        func add(_ watched: Int32, _ interest: Interest) -> Bool { control(EPOLL_CTL_ADD, watched, interest) }

        /// Changes the events to watch on a descriptor.
        func change(_ watched: Int32, from old: Interest, to new: Interest) { _ = control(EPOLL_CTL_MOD, watched, new) }

        /// Stops watching a descriptor that is about to be closed.
        ///
        /// Closing alone does so only once nobody has a copy, and a child process has one until it runs its program:
        /// meanwhile events of the old connection would be taken for those of the next one with its descriptor.
        func remove(_ watched: Int32) { _ = control(EPOLL_CTL_DEL, watched, []) }

        /// Waits for events, or until the timeout if there is one.
        func wait(milliseconds: Int32?, into found: inout [Readiness]) {
            found.removeAll(keepingCapacity: true)
            // Above 1,024 bytes the space would come from the heap. Events without room here are reported next time.
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
                let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds ?? -1)
                for event in events.prefix(max(0, Int(count))) { found.append(Readiness(event)) }
            }
        }

        deinit { closeDescriptor(descriptor) }

        private func control(_ operation: Int32, _ watched: Int32, _ interest: Interest) -> Bool {
            var event = epoll_event()
            if interest.contains(.reading) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.writing) { event.events |= EPOLLOUT.rawValue }
            event.data.fd = watched
            return epoll_ctl(descriptor, operation, watched, &event) == 0
        }
    }

    extension Readiness {
        fileprivate init(_ event: epoll_event) {
            descriptor = event.data.fd
            isReadable = event.events & EPOLLIN.rawValue != 0
            isWritable = event.events & EPOLLOUT.rawValue != 0
            isBroken = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        }
    }
#endif

#if canImport(Darwin) || KQUEUE
    #if !KQUEUE
        typealias Poller = KqueuePoller
    #endif

    /// Waits for many descriptors at once; here with kqueue, level-triggered.
    final class KqueuePoller: Sendable {
        private let descriptor: Int32

        init() throws(ServerError) {
            descriptor = kqueue()
            guard descriptor >= 0 else { throw .lastFailure(of: "kqueue") }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }

        /// Starts watching a descriptor; false when the system has no room for it.
        func add(_ watched: Int32, _ interest: Interest) -> Bool { update(watched, from: [], to: interest) }

        /// Changes the events to watch on a descriptor.
        func change(_ watched: Int32, from old: Interest, to new: Interest) { _ = update(watched, from: old, to: new) }

        /// Stops watching a descriptor that is about to be closed, which does so here, whoever has a copy.
        func remove(_ watched: Int32) {}

        /// Waits for events, or until the timeout if there is one.
        func wait(milliseconds: Int32?, into found: inout [Readiness]) {
            found.removeAll(keepingCapacity: true)
            var limit = timespec()
            limit.tv_sec = Int(milliseconds ?? 0) / 1000
            limit.tv_nsec = Int(milliseconds ?? 0) % 1000 * 1_000_000
            withUnsafeTemporaryAllocation(of: kevent.self, capacity: 256) { events in
                let count =
                    milliseconds == nil
                    ? kevent(descriptor, nil, 0, events.baseAddress, Int32(events.count), nil)
                    : kevent(descriptor, nil, 0, events.baseAddress, Int32(events.count), &limit)
                for event in events.prefix(max(0, Int(count))) { found.append(Readiness(event)) }
            }
        }

        deinit { closeDescriptor(descriptor) }

        /// kqueue has a separate filter for each direction.
        private func update(_ watched: Int32, from old: Interest, to new: Interest) -> Bool {
            var changes: [kevent] = []
            for (direction, filter) in [(Interest.reading, EVFILT_READ), (.writing, EVFILT_WRITE)]
            where old.contains(direction) != new.contains(direction) {
                var change = kevent()
                change.ident = UInt(watched)
                change.filter = Int16(filter)
                change.flags = UInt16(new.contains(direction) ? EV_ADD : EV_DELETE)
                changes.append(change)
            }
            return changes.isEmpty || kevent(descriptor, changes, Int32(changes.count), nil, 0, nil) == 0
        }
    }

    extension Readiness {
        /// Reading finds the end of the client's input; only an end with an error is a broken connection.
        fileprivate init(_ event: kevent) {
            descriptor = Int32(event.ident)
            isReadable = event.filter == Int16(EVFILT_READ)
            isWritable = event.filter == Int16(EVFILT_WRITE)
            isBroken = event.flags & UInt16(EV_EOF) != 0 && event.fflags != 0
        }
    }
#endif
