#if canImport(Darwin) || KQUEUE
    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import CKqueue
        internal import Glibc
    #endif

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
        func add(_ watched: Int32, _ interest: Interest) -> Bool {
            update(watched, from: [], to: interest)
        }

        /// Changes the events to watch on a descriptor.
        func change(_ watched: Int32, from old: Interest, to new: Interest) { _ = update(watched, from: old, to: new) }

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
