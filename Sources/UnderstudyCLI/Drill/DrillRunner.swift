import Emulation
import HTTPEngine
import JSON
import Understudy

/// Runs an app against the sandboxes of a server in this process.
struct DrillRunner: Sendable {
    let emulator: Emulator
    /// Such as `http://127.0.0.1:49213`.
    let address: String
    /// Whether the app only knows the address, so that all runs share the standard sandbox.
    let isFixed: Bool
    let words: [String]
    let limit: Duration

    /// What a run of the app left behind.
    struct Run: Sendable {
        let ending: AppCommand.Ending
        let entries: [JournalEntry]
        let redactor: Redactor
    }

    /// Runs the app in a fresh sandbox.
    ///
    /// - Parameters:
    ///   - drill: the behaviour that it meets there; `nil` for none.
    ///   - number: makes the sandbox's name.
    func run(_ drill: Drill?, number: Int) async throws(Misuse) -> Run {
        let name = isFixed ? SandboxName.standard : "drill-\(number)"
        let sandbox = emulator.sandboxes.sandbox(name)
        if isFixed { sandbox.reset() }
        drill?.arm(sandbox)
        let url = isFixed ? address : "\(address)/~\(name)"
        let command = AppCommand(words: words.map { $0.replacing("{url}", with: url) }, limit: limit)
        let ending = try await command.run(["UNDERSTUDY_URL": url, "UNDERSTUDY_SANDBOX": name]) { sandbox.exchanges }
        let run = Run(ending: ending, entries: sandbox.journal.entries(), redactor: sandbox.redactor)
        // Nothing keeps it elsewhere.
        if !isFixed { _ = try? emulator.sandboxes.remove(name) }
        return run
    }

    /// Runs the app for a behaviour, and judges what it did.
    func item(for drill: Drill, number: Int) async throws(Misuse) -> DrillReport.Item {
        let run = try await run(drill, number: number)
        let verdict = drill.verdict(on: run.entries, masking: run.redactor)
        let shown = run.entries.filter { verdict.entries.contains($0.id) }.map { json(of: $0, run.redactor) }
        return DrillReport.Item(drill: drill, verdict: verdict, ending: run.ending, entries: shown)
    }

    /// The vendors that the app calls in a run without any behaviour, which must succeed.
    ///
    /// - Throws: what is missing.
    func calledVendors(_ wanted: Set<String>) async throws(Misuse) -> Set<String> {
        let run = try await run(nil, number: 0)
        let output = run.ending.lastLines.map { "\n  \(Output.printable($0))" }.joined()
        let printed = output.isEmpty ? "It printed nothing." : "The last lines of its output:\(output)"
        let called = Set(run.entries.compactMap(\.record.vendor)).intersection(wanted)
        guard run.ending.code == 0 else {
            let ending =
                run.ending.interruption ?? run.ending.code.map { "its exit code was \($0)" } ?? "a signal ended it"
            throw Misuse(
                "without any behaviour armed the command must succeed, and \(ending).\(refusals(run)) \(printed)")
        }
        guard !called.isEmpty else {
            throw Misuse(
                "the command succeeded without calling \(wanted.sorted().joined(separator: " or ")); expected calls to the"
                    + " address in UNDERSTUDY_URL, or to {url} in the command, or to that of --listen.\(strays(run)) \(printed)"
            )
        }
        return called
    }

    private func refusals(_ run: Run) -> String {
        lines(run, " Refused were:") { $0.record.failure != nil || $0.record.reason != nil }
    }

    private func strays(_ run: Run) -> String { lines(run, " It called:") { _ in true } }

    private func lines(_ run: Run, _ title: String, where isShown: (JournalEntry) -> Bool) -> String {
        let shown = run.entries.filter(isShown).suffix(4)
        return shown.isEmpty ? "" : title + shown.map { "\n  \(text(of: $0, run.redactor))" }.joined() + "\n"
    }

    /// An entry in one line.
    func text(of entry: JournalEntry, _ redactor: Redactor) -> String {
        EntryText(entry: json(of: entry, redactor), isColoured: false).line
    }

    func json(of entry: JournalEntry, _ redactor: Redactor) -> JSON {
        MaskedExchange(entry, by: redactor).json(routes: emulator.routes)
    }
}
