import Emulation
import JSON
import Wire

/// Reading and moving a sandbox's clock.
extension ControlAPI {
    @Sendable static func readClock(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(json(call.sandbox.clock)))
    }

    /// Freezes, sets, moves and releases the clock, as the content requests.
    ///
    /// Freezing comes first, so that a clock that is set and frozen at once shows exactly the given moment.
    @Sendable static func setClock(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("now", "advance", "freeze")
        let isReleased = body.object["now"] == .null
        let (now, advance, freeze) = try body.read { body in
            (
                isReleased ? nil : body.value("now", expecting: momentForm, Moment.init),
                body.value("advance", expecting: "a duration such as “90s”, “31m” or “2h”") {
                    $0.string.flatMap(Duration.init(text:))
                },
                body.value("freeze", expecting: "true or false", \.bool)
            )
        }
        let clock = try call.sandbox.adjustClock { (clock) throws(ControlProblem) in
            var changed = clock
            if isReleased { changed.release() }
            if freeze == true { changed.freeze() }
            if let now { changed.set(to: now) }
            if let advance, !changed.advance(by: advance) {
                throw outOfBounds(changed.now, body.object["advance"], call)
            }
            if freeze == false { changed.resume() }
            clock = changed
        }
        return .ready(.json(json(clock)))
    }

    private static let momentForm = "Unix seconds, an RFC 3339 time, or null for the machine's time"

    /// Returns to the machine's time, even in a sandbox with a seed, until it is reset.
    @Sendable static func releaseClock(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(json(call.sandbox.adjustClock { $0.release() })))
    }

    private static func outOfBounds(_ now: Moment, _ advance: JSON?, _ call: ControlCall) -> ControlProblem {
        let (first, last) = (Moment.representable.lowerBound, Moment.representable.upperBound)
        let seconds = (now.wholeSeconds - first.wholeSeconds, last.wholeSeconds - now.wholeSeconds)
        return call.invalid(
            "advance is \(advance?.text ?? ""), the clock shows \(now.rfc3339), and it can show the years 1970 to 9999; expected a duration from -\(seconds.0)s to \(seconds.1)s"
        )
    }

    private static func json(_ clock: SandboxClock) -> JSON {
        let now = clock.now
        var object: JSONObject = [
            "now": .string(now.rfc3339), "unix": .number(JSONNumber(now.unixSeconds)), "frozen": .bool(clock.isFrozen),
            "machine_time": .bool(clock.isMachineTime),
        ]
        if clock.hasRunOut { object["note"] = .string(SandboxClock.runOutNote) }
        return .object(object)
    }
}
