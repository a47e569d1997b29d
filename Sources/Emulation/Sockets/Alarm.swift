import Synchronization

/// Wakes a sandbox when something in it is due by its clock.
///
/// Created before the sandbox, whose stores hold it.
public final class Alarm: Sendable {
    private struct Owner {
        weak var sandbox: Sandbox?
    }

    private let owner = Mutex(Owner())
    private let timer: DeadlineTimer

    init(_ timer: DeadlineTimer) {
        self.timer = timer
    }

    func attach(to sandbox: Sandbox) { owner.withLock { $0.sandbox = sandbox } }

    private var sandbox: Sandbox? { owner.withLock { $0.sandbox } }

    /// Sets when the vendor's deadlines are checked next; `nil` cancels that.
    ///
    /// Called under the lock of the vendor's state, so that the later of two changes wins. What is already due is
    /// handled soon, but not in this call.
    func set(_ deadline: Moment?, for vendor: Int) {
        timer.set(deadline.flatMap(machineMoment), for: self, vendor)
    }

    /// The machine's time at which the sandbox's clock will show the moment; `nil` for never, since it stops before
    /// that.
    private func machineMoment(of deadline: Moment) -> Moment? {
        guard let clock = sandbox?.clock else { return nil }
        let wait = deadline.unixSeconds - clock.now.unixSeconds
        // Nor does the clock ever show a moment beyond its range.
        if wait > 0, clock.isFrozen || !Moment.representable.contains(deadline) { return nil }
        return Moment(unixSeconds: SandboxClock.machine.unixSeconds + max(0, wait))
    }

    func ring(_ vendor: Int) { sandbox?.passDeadlines(of: vendor) }
}
