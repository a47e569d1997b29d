import Synchronization

/// Has a sandbox woken when something in it is due by its clock.
///
/// Made before the sandbox, whose stores hold it.
public final class Alarm: Sendable {
    private struct Owner {
        weak var sandbox: Sandbox?
    }

    private let owner = Mutex(Owner())
    private let timer: DeadlineTimer

    init(_ timer: DeadlineTimer) {
        self.timer = timer
    }

    /// Belongs to a sandbox from now on.
    func attach(to sandbox: Sandbox) { owner.withLock { $0.sandbox = sandbox } }

    private var sandbox: Sandbox? { owner.withLock { $0.sandbox } }

    /// Has the vendor's deadlines looked at when its next one comes; `nil` takes that back.
    ///
    /// Called under the lock of the vendor's state, so that of two changes the later one counts. What is due already is
    /// looked at soon, and not here.
    func set(_ deadline: Moment?, for vendor: Int) {
        timer.set(deadline.flatMap(machineMoment), for: self, vendor)
    }

    /// When the sandbox's clock will show the moment, by the machine's; `nil` for never, since it stands still before.
    private func machineMoment(of deadline: Moment) -> Moment? {
        guard let clock = sandbox?.clock else { return nil }
        let wait = deadline.unixSeconds - clock.now.unixSeconds
        // Nor does it ever show what lies behind the end of its years.
        if wait > 0, clock.isFrozen || !Moment.representable.contains(deadline) { return nil }
        return Moment(unixSeconds: SandboxClock.machine.unixSeconds + max(0, wait))
    }

    /// Looks at the vendor's deadlines.
    func ring(_ vendor: Int) { sandbox?.passDeadlines(of: vendor) }
}
