import Foundation

extension Sandbox {
    /// The time that a sandbox believes in: lifetimes of tokens, minting and the journal read it.
    ///
    /// Every change returns what the clock shows then.
    public struct Clock: Sendable {
        let control: Control

        /// What it shows, and whether it stands.
        public func read() async throws -> Control.Clock { try await control.clockGet() }

        /// The moment that it shows.
        public var now: Date {
            get async throws { Date(timeIntervalSince1970: try await read().unix) }
        }

        /// Moves it; tokens issued earlier age by that duration.
        @discardableResult
        public func advance(by duration: Duration) async throws -> Control.Clock {
            try await control.clockSet(.init(advance: duration.wire))
        }

        /// Sets it; it goes on from there.
        @discardableResult
        public func set(to moment: Date) async throws -> Control.Clock {
            try await control.clockSet(.init(now: .number(moment.timeIntervalSince1970)))
        }

        /// Stops it where it stands.
        @discardableResult
        public func freeze() async throws -> Control.Clock { try await control.clockSet(.init(freeze: true)) }

        /// Stops it there.
        @discardableResult
        public func freeze(at moment: Date) async throws -> Control.Clock {
            try await control.clockSet(.init(now: .number(moment.timeIntervalSince1970), freeze: true))
        }

        /// Stops it at a time in seconds since 1970-01-01T00:00:00Z.
        @discardableResult
        public func freeze(at unixSeconds: Int) async throws -> Control.Clock {
            try await control.clockSet(.init(now: .integer(unixSeconds), freeze: true))
        }

        /// Lets a frozen clock go on from where it stands.
        @discardableResult
        public func resume() async throws -> Control.Clock { try await control.clockSet(.init(freeze: false)) }

        /// Returns to the machine's time.
        @discardableResult
        public func useMachineTime() async throws -> Control.Clock { try await control.clockClear() }
    }
}
