#if os(Linux)
    internal import CEpoll
    internal import Glibc

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
