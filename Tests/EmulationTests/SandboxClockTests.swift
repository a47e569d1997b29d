import Testing

@testable import Emulation

@Suite("A sandbox's clock")
struct SandboxClockTests {
    private let moment = Moment(unixSeconds: 1_800_000_000)

    @Test("shows the machine's time to begin with")
    func machine() {
        let clock = SandboxClock()
        let before = SandboxClock.machine
        let shown = clock.now
        #expect((before...SandboxClock.machine).contains(shown))
        #expect(clock.isMachineTime)
        #expect(!clock.isFrozen)
    }

    @Test("runs on from a moment that is set")
    func set() {
        var clock = SandboxClock()
        clock.set(to: moment)
        let first = clock.now
        #expect(first >= moment && first < moment + .seconds(60))
        #expect(clock.now >= first)
        #expect(!clock.isMachineTime)
        #expect(!clock.isFrozen)
    }

    @Test("stands still when frozen, and shows exactly what it is set and moved to")
    func frozen() {
        var clock = SandboxClock()
        clock.freeze()
        #expect(clock.isFrozen)
        #expect(clock.now == clock.now)
        clock.set(to: moment)
        #expect(clock.isFrozen)
        #expect(clock.now == moment)
        clock.advance(by: .seconds(1860))
        #expect(clock.now.unixSeconds == 1_800_001_860)
        clock.advance(by: .seconds(-60))
        #expect(clock.now.unixSeconds == 1_800_001_800)
    }

    @Test("moves while it runs, forwards and backwards")
    func advance() {
        var clock = SandboxClock()
        clock.advance(by: .seconds(3600))
        #expect(clock.now > SandboxClock.machine + .seconds(3599))
        #expect(!clock.isMachineTime)
        clock.advance(by: .seconds(-7200))
        #expect(clock.now < SandboxClock.machine - .seconds(3599))
    }

    @Test("stops at the end of the year 9999 while it runs, and goes on from there when it is moved back")
    func end() {
        let end = Moment.representable.upperBound
        var clock = SandboxClock()
        clock.set(to: end)
        #expect(clock.now == end)
        #expect(clock.hasRunOut)
        #expect(clock.now.rfc3339 == "9999-12-31T23:59:59.000Z")
        let beyond = clock.advance(by: .seconds(1))
        #expect(!beyond)
        #expect(clock.now == end)
        let back = clock.advance(by: .seconds(-3600))
        #expect(back)
        #expect(clock.now >= end - .seconds(3600) && clock.now < end - .seconds(3540))
        #expect(!clock.hasRunOut)
    }

    @Test("cannot be moved out of its years when it is frozen either")
    func frozenEnd() {
        let end = Moment.representable.upperBound
        var clock = SandboxClock()
        clock.freeze()
        clock.set(to: end)
        #expect(!clock.hasRunOut, "it was stopped by somebody")
        let beyond = clock.advance(by: .seconds(1))
        clock.set(to: Moment.representable.lowerBound)
        let before = clock.advance(by: .seconds(-1))
        #expect([beyond, before] == [false, false])
        #expect(clock.now == Moment.representable.lowerBound)
    }

    @Test("goes on from where it stood when it is released")
    func resume() {
        var clock = SandboxClock()
        clock.freeze()
        clock.set(to: moment)
        clock.resume()
        #expect(!clock.isFrozen)
        #expect(clock.now >= moment && clock.now < moment + .seconds(60))
        let running = clock
        clock.resume()
        #expect(clock == running, "releasing a running clock changes nothing")
    }
}
