import Emulation
import JSON
import Wire

/// Reading and changing the profile, switches, seed and public base of a sandbox.
extension ControlAPI {
    @Sendable static func readSettings(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(json(call.sandbox.settings, call)))
    }

    /// Changes the settings that the content names; `null` resets a switch, a vendor's profile, the seed or
    /// the public base.
    ///
    /// A seed makes ids and times repeatable: a changed one restarts the ids and stops a clock that shows the machine's
    /// time. Removing the seed leaves the clock as it is.
    @Sendable static func setSettings(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("profile", "switches", "seed", "public_base").object
        let settings = try call.sandbox.adjustSettings { (settings) throws(ControlProblem) in
            var changed = settings
            if let profile = body["profile"] { try setProfile(profile, &changed, call) }
            if let switches = body["switches"] { try setSwitches(switches, &changed, call) }
            if let seed = body["seed"] { changed.seed = try self.seed(seed) }
            if let base = body["public_base"] { changed.publicBase = try publicBase(base) }
            settings = changed
        }
        return .ready(.json(json(settings, call)))
    }

    private static func setProfile(
        _ value: JSON, _ settings: inout Settings, _ call: ControlCall
    ) throws(ControlProblem) {
        guard let vendors = value.object else { return settings.setProfile(try profile(value)) }
        for member in vendors {
            let profile = member.value.isNull ? nil : try profile(member.value)
            try rephrase { () throws(SettingsProblem) in
                try settings.setProfile(profile, of: member.name, among: call.emulator.vendors)
            }
        }
    }

    private static func setSwitches(
        _ value: JSON, _ settings: inout Settings, _ call: ControlCall
    ) throws(ControlProblem) {
        guard let switches = value.object else {
            throw .invalid(
                "switches is a JSON \(value.typeName); expected an object such as {\"VENDOR.SWITCH\": \"VALUE\"}")
        }
        for member in switches {
            let text = member.value.string ?? member.value.number?.literal
            guard text != nil || member.value.isNull else {
                throw .invalid("switch \(member.name) is a JSON \(member.value.typeName); expected a string, or null")
            }
            try rephrase { () throws(SettingsProblem) in
                try settings.set(member.name, to: text, among: call.emulator.vendors)
            }
        }
    }

    private static func profile(_ value: JSON) throws(ControlProblem) -> BehaviourProfile {
        guard let profile = value.string.flatMap(BehaviourProfile.init) else {
            throw .invalid("profile is \(value.text); expected “documented” or “observed”")
        }
        return profile
    }

    private static func seed(_ value: JSON) throws(ControlProblem) -> UInt64? {
        if value.isNull { return nil }
        guard let seed = value.int.flatMap(UInt64.init(exactly:)) else {
            throw .invalid("seed is \(value.text); expected a whole number from 0, or null")
        }
        return seed
    }

    private static func publicBase(_ value: JSON) throws(ControlProblem) -> String? {
        if value.isNull { return nil }
        guard let text = value.string, PublicBase.isValid(text) else {
            throw .invalid(
                "public_base is \(value.text); expected scheme, host and port such as “https://mocks.example.test:8443” "
                    + "without a slash at the end, “from-host”, or null")
        }
        return text
    }

    static func seedJSON(of settings: Settings) -> JSON { settings.seed.map { JSON(Int(clamping: $0)) } ?? .null }

    private static func rephrase(_ change: () throws(SettingsProblem) -> Void) throws(ControlProblem) {
        do { try change() } catch { throw .invalid(error.description) }
    }

    private static func json(_ settings: Settings, _ call: ControlCall) -> JSON {
        var switches = JSONObject()
        for vendor in call.emulator.vendors {
            let values = settings.values(vendor: vendor.identity.id, vendor.switchDeclarations)
            for declaration in vendor.switchDeclarations {
                switches.append("\(vendor.identity.id).\(declaration.name)", .string(values[declaration.name]))
            }
        }
        let profiles = settings.vendorProfiles.sorted { $0.key < $1.key }
        let base = call.sandbox.identity.publicBase
        return [
            "profile": .string(settings.profile.rawValue),
            "public_base": .string(base.followsRequests ? PublicBase.fromHost : base.text),
            "vendor_profiles": .object(JSONObject(profiles.map { ($0.key, .string($0.value.rawValue)) })),
            "seed": seedJSON(of: settings),
            "switches": .object(switches),
        ]
    }
}

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
                throw outOfBounds(changed.now, body.object["advance"])
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

    private static func outOfBounds(_ now: Moment, _ advance: JSON?) -> ControlProblem {
        let (first, last) = (Moment.representable.lowerBound, Moment.representable.upperBound)
        let seconds = (now.wholeSeconds - first.wholeSeconds, last.wholeSeconds - now.wholeSeconds)
        return ControlProblem.invalid(
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
