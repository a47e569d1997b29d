import ArgumentParser
import Contracts
import Emulation
import JSON
import Wire

struct ClockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Shows or moves the clock of a sandbox of a running server.",
        discussion: """
            Example: understudy clock --advance 31m
            Example: understudy clock --now 2027-01-15T08:00:00Z --freeze
            """)

    @Option(help: "The time to set: Unix seconds or RFC 3339.")
    var now: String?

    @Option(parsing: .unconditional, help: "How far to move the clock, such as 31m or -1h.")
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
        Output.line("\(Output.printable(clock.text("now"))) \(kind)")
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
        if server.client.sandbox != nil { throw ValidationError("name the sandbox without --sandbox.") }
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
        let all = try server.call(.get, "sandboxes").elements("sandboxes")
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
        let active = answer.elements("active")
        Output.table(
            [["SCENARIO", "STATE", "ABOUT"]]
                + answer.elements("available").map { scenario in
                    let state = active.first { $0["scenario"] == scenario["scenario"] }?["state"]?.string
                    return [scenario.text("scenario"), state ?? "-", scenario.text("about")]
                })
    }
}

struct CoverageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage", abstract: "Says which routes and failures the calls to a running server have met.",
        discussion: """
            Example: understudy coverage --vendor rezolve --at-least 60%

            It counts in one sandbox, from its start or its last reset. A route was met when any call found it, a failure
            when any call was refused with it, also by a fault or a scenario. Without --vendor, vendors that no call has
            met are left out.
            Exit codes: 0 done, 1 less than --at-least was met, or no answer, 2 misuse.
            """)

    @Option(help: "Only this vendor.", completion: .vendors)
    var vendor: String?

    @Option(help: "The least share of each vendor's routes and failures together, such as 60%.")
    var atLeast: String?

    @Option(help: "A file for the results as JUnit XML.", completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var server: RunningServer

    func run() throws {
        let share = atLeast.map { $0.hasSuffix("%") ? $0.dropLast() : $0[...] }
        guard let least = Int(share ?? "0"), (0...100).contains(least) else {
            throw Misuse("--at-least \(atLeast ?? "") is not a share; expected one from 0% to 100%.")
        }
        if let junit { try ReportFile.check(junit) }
        let query = vendor.map { "?" + PercentEncoding.form([("vendor", $0)]) } ?? ""
        let answer = try server.call(.get, "coverage\(query)")
        let vendors = answer.elements("vendors").filter { vendor != nil || Self.count("met", of: $0) > 0 }
        let tests = vendors.map { Self.test(of: $0, atLeast: least) }
        if let junit {
            try ReportFile.write(
                JUnitReport.text([ContractResult(file: "coverage", cases: tests)], named: "coverage"), to: junit)
        }
        if json { Output.json(answer) } else { for test in tests { Output.line(test.remark) } }
        if vendors.isEmpty { throw AnswerIsNo(message: "no call has met any vendor.") }
        let low = tests.flatMap(\.failures).map(\.message)
        if !low.isEmpty { throw AnswerIsNo(message: low.joined(separator: "\n")) }
    }

    private static func count(_ member: String, of vendor: JSON) -> Int {
        ["routes", "failures"].reduce(0) { $0 + (vendor[$1]?[member]?.int ?? 0) }
    }

    private static func test(of vendor: JSON, atLeast least: Int) -> ContractCase {
        let (name, met, all) = (vendor.text("vendor"), count("met", of: vendor), count("all", of: vendor))
        let failure = ContractFailure(
            place: .none, message: "\(name): \(met) of \(all) were met; expected at least \(least)%.")
        return ContractCase(
            place: .none, title: name, remark: vendor.text("summary"),
            outcome: met * 100 >= least * all ? .passed : .failed([failure]))
    }
}

struct TryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Prints calls to paste: one that a running server accepts, and one that it refuses.",
        discussion: """
            Example: understudy try rezolve

            Their tokens are minted as they are printed. Of a single vendor it also lists the sample accounts.
            Exit codes: 0 done, 1 no answer, 2 misuse.
            """)

    @Argument(help: "Only this vendor, with its sample accounts.", completion: .vendors)
    var vendor: String?

    @OptionGroup var server: RunningServer

    func run() throws {
        let vendors = try server.call(.get, "vendors").elements("vendors")
        guard let vendor else {
            for each in vendors { try show(each) }
            return Output.line("Sample accounts: understudy try VENDOR")
        }
        let named = try Misuse.require(
            vendors.first { $0["id"]?.string == vendor }, "no vendor is called", vendor,
            among: vendors.compactMap { $0["id"]?.string })
        try show(named)
        Output.line("Sample accounts:")
        Output.table(named.elements("samples").map { ["  \($0.text("label"))", $0.text("value")] })
    }

    private func show(_ vendor: JSON) throws {
        let id = vendor.text("id")
        let calls = try server.call(.get, "vendors/\(id)/sample")
        Output.line("\(vendor.text("title")): a call that is accepted")
        // Custom fixtures may leave a vendor without a signing key.
        Output.line("  \(calls["sample"].flatMap(curl) ?? "There is none: its fixtures have no key to sign with.")")
        if let refused = calls["refused"].flatMap(curl) {
            Output.line("One that is refused, and the command that says why")
            Output.line("  \(refused)")
            Output.line("  understudy journal --refused --last 1 --vendor \(id)\(options)")
        }
        Output.line()
    }

    /// The options by which the other commands find the same sandbox.
    private var options: String {
        [("server", server.server), ("sandbox", server.client.sandbox)].reduce("") { text, option in
            text + (option.1.map { " --\(option.0) \(Output.quoted($0))" } ?? "")
        }
    }

    /// A call of the server as a command line; `nil` when there is none.
    private func curl(_ call: JSON) -> String? {
        guard call.object != nil else { return nil }
        let url = call.text("url")
        var command = "curl -i -X \(call.text("method")) \(url)"
        if let file = LocalAuthority.needed(by: url) { command += " --cacert \(Output.quoted(file))" }
        var fields = call.elements("headers").map { $0.array?.compactMap(\.string).joined(separator: ": ") ?? "" }
        if let name = server.client.sandbox { fields.append("x-understudy-sandbox: \(name)") }
        for field in fields { command += " -H \(Output.quoted(field))" }
        let body = call.text("body")
        return body.isEmpty ? command : command + " --data-raw \(Output.quoted(body))"
    }
}
