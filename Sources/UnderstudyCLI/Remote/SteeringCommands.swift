import ArgumentParser
import Emulation
import JSON

struct ClockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Shows or moves the clock of a sandbox of a running server.",
        discussion: """
            Example: understudy clock --advance 31m
            Example: understudy clock --now 2027-01-15T08:00:00Z --freeze
            """)

    @Option(help: "The time to set: Unix seconds or RFC 3339.")
    var now: String?

    @Option(help: "How far to move the clock, such as 31m or -1h.")
    var advance: String?

    @Flag(help: "Freeze the clock.")
    var freeze = false

    @Flag(help: "Let a frozen clock run again.")
    var resume = false

    @Flag(help: "Return to the machine's time.")
    var machine = false

    @OptionGroup var server: RunningServer

    func validate() throws {
        if freeze, resume { throw ValidationError("--freeze and --resume exclude each other.") }
        if machine, now != nil || advance != nil || freeze || resume {
            throw ValidationError("--machine undoes every change and cannot be combined with another option.")
        }
    }

    func run() throws {
        var change = JSONObject()
        change["now"] = now.map(JSON.string)
        change["advance"] = advance.map(JSON.string)
        if freeze || resume { change["freeze"] = .bool(freeze) }
        let clock =
            machine
            ? try server.call(.delete, "clock")
            : change.isEmpty ? try server.call(.get, "clock") : try server.call(.put, "clock", .object(change))
        let kind = clock["frozen"] == true ? "frozen" : clock["machine_time"] == true ? "machine time" : "moved"
        Output.line("\(Output.printable(clock["now"]?.string ?? "")) \(kind)")
    }
}

struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox", abstract: "Lists, creates, resets and deletes sandboxes of a running server.",
        discussion: """
            Example: understudy sandbox
            Example: understudy sandbox shop-42 --ttl 10m
            Example: understudy sandbox shop-42 --reset
            """)

    @Argument(help: "A sandbox; without one, all are listed.", completion: .sandboxes)
    var name: String?

    @Option(help: "How long it may be unused before it is removed, such as 10m.")
    var ttl: String?

    @Flag(help: "Restore its initial state: users, clock, settings, scenarios, faults, journal.")
    var reset = false

    @Flag(help: "Delete it with everything in it.")
    var delete = false

    @OptionGroup var server: RunningServer

    func validate() throws {
        if name == nil, ttl != nil || reset || delete { throw ValidationError("name the sandbox.") }
        if reset, delete { throw ValidationError("--reset and --delete exclude each other.") }
    }

    func run() throws {
        guard let name else { return try list() }
        if delete { _ = try server.call(.delete, "sandboxes/\(name)") }
        if reset {
            var own = server
            own.client.sandbox = name
            _ = try own.call(.post, "reset")
        }
        if !reset, !delete { _ = try server.call(.put, "sandboxes/\(name)", ["ttl": JSON(ttl)]) }
        try list()
    }

    private func list() throws {
        let all = try server.call(.get, "sandboxes")["sandboxes"]?.array ?? []
        let names = ["name", "age_seconds", "idle_seconds", "exchanges", "journal_entries", "sockets", "clock", "now"]
        let rows = all.map { sandbox in
            names.map { name in
                let text = sandbox[name].map { $0.string ?? $0.text } ?? ""
                return name.hasSuffix("_seconds") ? "\(text) s" : text
            }
        }
        Output.table([["NAME", "AGE", "UNUSED", "CALLS", "JOURNAL", "SOCKETS", "CLOCK", "NOW"]] + rows)
    }
}

struct ScenarioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "Shows, starts and ends scenarios in a sandbox of a running server.",
        discussion: """
            Example: understudy scenario rezolve-token-expires-mid-session
            Example: understudy scenario --end
            """)

    @Argument(
        help: "The scenarios to start, in order of priority; they replace the active ones.",
        completion: .scenarios)
    var names: [String] = []

    @Flag(help: "End all active scenarios.")
    var end = false

    @OptionGroup var server: RunningServer

    func validate() throws {
        if end, !names.isEmpty { throw ValidationError("--end ends all scenarios and takes no name.") }
    }

    func run() throws {
        if end { _ = try server.call(.delete, "scenarios") }
        let answer =
            names.isEmpty
            ? try server.call(.get, "scenarios")
            : try server.call(.put, "scenarios", ["scenarios": .array(names.map(JSON.string))])
        let active = answer["active"]?.array ?? []
        Output.table(
            [["SCENARIO", "STATE", "ABOUT"]]
                + (answer["available"]?.array ?? []).map { scenario in
                    let state = active.first { $0["scenario"] == scenario["scenario"] }?["state"]?.string
                    return [scenario["scenario"]?.string ?? "", state ?? "-", scenario["about"]?.string ?? ""]
                })
    }
}
