import Emulation
import JSON
import Understudy

/// Runs an app against the sandboxes of a server in this process.
struct DrillRunner: Sendable {
    let emulator: Emulator
    /// Such as `http://127.0.0.1:49213`.
    let address: String
    /// Whether the app only knows the address, so that all runs share the standard sandbox.
    let isFixed: Bool
    let command: AppCommand

    /// Runs the app in a fresh sandbox, where it meets a behaviour or nothing special.
    private func run(
        _ drill: Drill?, number: Int
    ) async throws(Misuse) -> (ending: AppCommand.Ending, entries: [JournalEntry], redactor: Redactor) {
        let name = isFixed ? SandboxName.standard : "drill-\(number)"
        let sandbox = emulator.sandboxes.sandbox(name)
        if isFixed { sandbox.reset() }
        drill?.arm(sandbox)
        let url = isFixed ? address : "\(address)/~\(name)"
        // ours: some room is left for the calls until the next look.
        let ending = try await command.run(at: url, in: name) {
            sandbox.journal.count > 900 || sandbox.journal.bytes > 3 << 20
        }
        // Nothing keeps it elsewhere.
        defer { if !isFixed { _ = try? emulator.sandboxes.remove(name) } }
        return (ending, sandbox.journal.entries(), sandbox.redactor)
    }

    /// Runs the app for a behaviour, and judges what it did.
    func item(for drill: Drill, number: Int) async throws(Misuse) -> DrillReport.Item {
        let run = try await run(drill, number: number)
        let verdict = drill.verdict(on: run.entries, masking: run.redactor)
        let shown = run.entries.filter { verdict.entries.contains($0.id) }.map {
            MaskedExchange($0, by: run.redactor).json(routes: emulator.routes)
        }
        return DrillReport.Item(drill: drill, verdict: verdict, interruption: run.ending.interruption, entries: shown)
    }

    /// The vendors that the app calls in a run without any behaviour, which must succeed.
    ///
    /// - Throws: what is missing.
    func calledVendors(_ wanted: Set<String>) async throws(Misuse) -> Set<String> {
        let run = try await run(nil, number: 0)
        let all = Set(run.entries.compactMap(\.record.vendor))
        let called = all.intersection(wanted)
        let hasSucceeded = run.ending.code == 0
        if hasSucceeded, !called.isEmpty { return called }
        let problem =
            hasSucceeded
            ? "it called \(all.isEmpty ? "no vendor" : "only \(all.sorted().joined(separator: ", "))"); expected calls of"
                + " \(wanted.sorted().joined(separator: " or ")) to the address in UNDERSTUDY_URL, or to {url} in the"
                + " command, or to that of --listen"
            : run.ending.interruption ?? run.ending.code.map { "its exit code was \($0)" } ?? "a signal ended it"
        let calls = run.entries.filter { hasSucceeded || $0.record.failure != nil || $0.record.reason != nil }.suffix(4)
        let lines = calls.map { entry in
            EntryText(
                entry: MaskedExchange(entry, by: run.redactor).json(routes: emulator.routes), isColoured: false
            ).line
        }
        let output = run.ending.lastLines.map { "  \(Output.printable($0))" }
        throw Misuse(
            (["without any behaviour armed the command must succeed and call a vendor, and \(problem)."] + lines
                + (output.isEmpty ? [] : ["The last lines of its output:"]) + output)
                .joined(separator: "\n"))
    }
}
