import Emulation
import JSON
import Wire

/// Listing, deleting and resetting sandboxes, and setting their time to live.
extension ControlAPI {
    @Sendable static func listSandboxes(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let emulator = call.emulator
        guard let store = emulator.keeper?.store else { return .ready(.json(.object(list(emulator)))) }
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
        var list: JSONObject = [
            "sandboxes": .array(emulator.sandboxes.all.map { json($0, at: now, emulator.replica) })
        ]
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

    @Sendable static func setSandbox(_ call: ControlCall) throws(ControlProblem) -> Answer {
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
            return .ready(.json(json(sandbox, at: emulator.machine(), emulator.replica)))
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

    @Sendable static func deleteSandbox(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let name = call.parameters["name"]
        let emulator = call.emulator
        let isKnown = emulator.sandboxes.existing(name) != nil
        // Off the event loop: destroying a sandbox takes as long as creating it.
        let remove = { @Sendable () -> Answer in call.reading { removed(name, isKnown, emulator) } }
        guard emulator.sandboxes.mustFetch(name), SandboxName.isValid(name) else { return remove() }
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

    @Sendable static func reset(_ call: ControlCall) throws(ControlProblem) -> Answer {
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

    @Sendable static func exportState(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        // Off the event loop: a state may have tens of thousands of records.
        return call.reading { export(index, call) }
    }

    private static func export(_ index: Int, _ call: ControlCall) -> Response {
        .json(call.sandbox.vendor(index).export(.whole) ?? [:])
    }

    /// Replaces the state once all of it was read and validated.
    @Sendable static func importState(_ call: ControlCall) throws(ControlProblem) -> Answer {
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
