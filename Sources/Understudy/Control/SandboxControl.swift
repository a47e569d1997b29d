import Emulation
import JSON
import Wire

/// Listing, deleting and resetting sandboxes, and setting their time to live.
extension ControlAPI {
    static func listSandboxes(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let emulator = call.emulator
        guard let store = emulator.keeper?.store else { return .json(.object(list(emulator))) }
        return call.reading { () throws(ControlProblem) in
            var list = list(emulator)
            do throws(StoreProblem) {
                list["stored"] = .array(try store.list().map { json($0, emulator.replica) })
            } catch {
                throw ControlProblem(.serviceUnavailable, "store-unavailable", "\(error).")
            }
            return .json(.object(list))
        }
    }

    private static func list(_ emulator: Emulator) -> JSONObject {
        let now = emulator.machine()
        var list: JSONObject = ["sandboxes": .array(emulator.sandboxes.all.map { json($0, at: now, emulator.replica) })]
        list["replica"] = emulator.replica.map(JSON.string)
        return list
    }

    private static func json(_ sandbox: StoredSandbox, _ replica: String?) -> JSON {
        var json: JSONObject = [
            "name": .string(sandbox.name), "created_at": .string(sandbox.times.created.rfc3339),
            "used_at": .string(sandbox.times.used.rfc3339), "expires_at": JSON(sandbox.times.expires?.rfc3339),
        ]
        if replica != nil { json["replica"] = JSON(sandbox.owner) }
        return .object(json)
    }

    static func setSandbox(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let name = call.parameters["name"]
        guard SandboxName.isValid(name) else { throw SandboxSelection.invalid(name) }
        let body = try call.body("ttl")
        guard body.object["ttl"] != nil else {
            throw .invalid("member ttl is missing; expected a duration such as “10m”, or null")
        }
        let duration = try body.read(timeToLive)
        if name == SandboxName.standard, duration != nil {
            throw .invalid("the sandbox \(name) never expires; ttl can only be null")
        }
        let emulator = call.emulator
        let set = { @Sendable () -> Answer in
            let sandbox = emulator.sandboxes.setTimeToLive(duration, of: name)
            return .json(json(sandbox, at: emulator.machine(), emulator.replica))
        }
        guard emulator.sandboxes.isKept else { return set() }
        return .deferred {
            await emulator.fetching(name) { sandbox in
                guard sandbox.beginControlCall() else { return .ready(Emulator.moving(name)) }
                defer { sandbox.endControlCall() }
                return set()
            }
        }
    }

    private static func timeToLive(_ body: inout FieldReader) -> Duration? {
        let form = "a duration over 0 such as “90s”, “10m” or “2h”, or null"
        return body.isNull("ttl")
            ? nil
            : body.value("ttl", expecting: form) { value in
                value.string.flatMap(Duration.init(text:)).flatMap { $0 > .zero ? $0 : nil }
            }
    }

    static func deleteSandbox(_ call: ControlCall) -> Answer {
        let name = call.parameters["name"]
        let (emulator, sandboxes) = (call.emulator, call.emulator.sandboxes)
        let isKnown = sandboxes.existing(name) != nil
        // Off the event loop: destroying a sandbox takes as long as creating it.
        let remove = { @Sendable () -> Answer in call.reading { removed(name, isKnown, emulator) } }
        guard sandboxes.isKept, sandboxes.ready(name) == nil, SandboxName.isValid(name) else { return remove() }
        return .deferred { await emulator.fetching(name) { _ in remove() } }
    }

    private static func removed(_ name: String, _ isKnown: Bool, _ emulator: Emulator) -> Response {
        guard isKnown || SandboxName.isValid(name) else { return missing(name) }
        do throws(SandboxUnavailable) {
            return try emulator.sandboxes.remove(name, wasKnown: isKnown) ? .empty() : missing(name)
        } catch {
            return Emulator.unavailable(error)
        }
    }

    private static func missing(_ name: String) -> Response {
        ControlProblem(.notFound, "no-such-sandbox", "There is no sandbox \(name).").response
    }

    static func reset(_ call: ControlCall) -> Answer {
        call.reading {
            call.sandbox.reset()
            return .empty()
        }
    }

    private static func json(_ sandbox: Sandbox, at moment: Moment, _ replica: String?) -> JSON {
        let idle = moment.unixSeconds - sandbox.lastUsed.unixSeconds
        let (clock, timeToLive, sockets) = (sandbox.clock, sandbox.timeToLive?.inSeconds, sandbox.sockets)
        let rest = sockets > 0 ? nil : timeToLive.map { ($0 - idle).rounded() }
        var json: JSONObject = [
            "name": .string(sandbox.name), "created_at": .string(sandbox.created.rfc3339),
            // The machine's clock may have been set back.
            "age_seconds": JSON(max(0, Int(moment.unixSeconds - sandbox.created.unixSeconds))),
            "idle_seconds": JSON(max(0, Int(idle))),
            "ttl_seconds": timeToLive.map { .number(JSONNumber($0)) } ?? .null,
            "expires_in_seconds": rest.map { .number(JSONNumber($0)) } ?? .null,
            "clock": .string(clock.isFrozen ? "frozen" : clock.isMachineTime ? "machine" : "moved"),
            "now": .string(clock.now.rfc3339), "seed": seedJSON(of: sandbox.settings),
            "exchanges": JSON(sandbox.exchanges), "sockets": JSON(sockets),
            "journal_entries": JSON(sandbox.journal.count), "refusals": JSON(sandbox.journal.refusals),
            "journal_bytes": JSON(sandbox.journal.bytes),
        ]
        json["replica"] = replica.map(JSON.string)
        return .object(json)
    }
}

/// Reading and replacing a vendor's state in a sandbox.
extension ControlAPI {
    /// Up to this size a loop may read a state itself: it takes a few milliseconds.
    private static let quickLimit = 64 << 10

    static func exportState(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        // Off the event loop: a state may have tens of thousands of records.
        return call.reading { export(index, call) }
    }

    private static func export(_ index: Int, _ call: ControlCall) -> Response {
        .json(call.sandbox.vendor(index).export(.whole) ?? [:])
    }

    /// Replaces the state once all of it was read and validated.
    static func importState(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        if call.request.body.count <= quickLimit { return .ready(try replaceState(index, call)) }
        guard call.emulator.imports.count < mostWaiting else {
            throw ControlProblem(
                .tooManyRequests, "too-many-imports",
                "\(mostWaiting) states wait to be read, one at a time; send this one once they are answered.")
        }
        return .deferred {
            await call.emulator.imports.run {
                ControlProblem.response { () throws(ControlProblem) in try replaceState(index, call) }
            }
        }
    }

    /// ours: each waiting import holds its content.
    private static let mostWaiting = 16

    private static func replaceState(_ index: Int, _ call: ControlCall) throws(ControlProblem) -> Response {
        let state = JSON.object(try call.object(maximumDepth: Emulator.stateDepth))
        let install = try call.read(state) { (node) throws(FixtureProblem) in
            try call.sandbox.vendor(index).read(node, .whole)
        }
        install()
        return export(index, call)
    }
}

/// Reading and changing the profile, switches, seed and public base of a sandbox.
extension ControlAPI {
    static func readSettings(_ call: ControlCall) -> Answer { .json(json(call.sandbox.settings, call)) }

    /// Changes the settings that the content names; `null` resets a switch, a vendor's profile, the seed or
    /// the public base.
    ///
    /// A seed makes ids and times repeatable: a changed one restarts the ids and stops a clock that shows the machine's
    /// time. Removing the seed leaves the clock as it is.
    static func setSettings(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("profile", "switches", "seed", "public_base").object
        let settings = try call.sandbox.adjustSettings { (settings) throws(ControlProblem) in
            var changed = settings
            if let profile = body["profile"] { try setProfile(profile, &changed, call) }
            if let switches = body["switches"] { try setSwitches(switches, &changed, call) }
            if let seed = body["seed"] { changed.seed = try self.seed(seed) }
            if let base = body["public_base"] { changed.publicBase = try publicBase(base) }
            settings = changed
        }
        return .json(json(settings, call))
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
    static func readClock(_ call: ControlCall) -> Answer { .json(json(call.sandbox.clock)) }

    /// Freezes, sets, moves and releases the clock, as the content requests.
    ///
    /// Freezing comes first, so that a clock that is set and frozen at once shows exactly the given moment.
    static func setClock(_ call: ControlCall) throws(ControlProblem) -> Answer {
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
            if let advance, !changed.advance(by: advance) { throw outOfBounds(changed.now, body.object["advance"]) }
            if freeze == false { changed.resume() }
            clock = changed
        }
        return .json(json(clock))
    }

    private static let momentForm = "Unix seconds, an RFC 3339 time, or null for the machine's time"

    /// Returns to the machine's time, even in a sandbox with a seed, until it is reset.
    static func releaseClock(_ call: ControlCall) -> Answer { .json(json(call.sandbox.adjustClock { $0.release() })) }

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
