import Contracts
import Emulation
import JSON
import Understudy

/// What the drills showed about an app.
struct DrillReport: Sendable {
    struct Item: Sendable {
        let drill: Drill
        let verdict: Drill.Verdict
        let interruption: String?
        /// The exchanges that show it, as the journal shows them.
        let entries: [JSON]
    }

    let items: [Item]
    /// The drills that were broken before; `nil` without a baseline.
    let baseline: Set<String>?
    let duration: Duration

    /// Those that fail the run.
    var broken: [Item] { items.filter { $0.verdict.outcome == .broken && baseline?.contains($0.drill.name) != true } }

    /// The drills that a report lists as broken.
    static func baseline(_ path: String) throws(Misuse) -> Set<String> {
        let bytes = try Files.read(path, "the baseline")
        // What is wrong with it is said below.
        guard let items = (try? JSON.parse(bytes))?["behaviours"]?.array else {
            throw Misuse("the baseline \(path) is not a report; expected the JSON that understudy drill --json writes.")
        }
        return Set(items.filter { $0["result"] == "broken" }.compactMap { $0["drill"]?.string })
    }

    // MARK: For people

    var lines: [String] {
        let table = items.map { item in
            let calls = item.verdict.entries.map { "#\($0)" }.joined(separator: " ")
            return [item.drill.name, word(item), calls, item.drill.client]
        }
        let broken = items.filter { $0.verdict.outcome == .broken }
        return Output.lines(of: table) + broken.flatMap(explanation) + ["", summary]
    }

    private func word(_ item: Item) -> String {
        guard item.verdict.outcome == .broken else { return item.verdict.outcome.rawValue }
        return baseline?.contains(item.drill.name) == true ? "broken as before" : "BROKEN"
    }

    private func explanation(of item: Item) -> [String] {
        var lines = ["", "\(word(item))  \(item.drill.name) (\(item.drill.severity.rawValue)): \(item.drill.about)"]
        for (otherwise, message) in item.verdict.faults { lines += ["  \(otherwise)", "    \(message)"] }
        if let interruption = item.interruption { lines.append("  The command was ended: \(interruption).") }
        lines += item.entries.map { "  " + EntryText(entry: $0, isColoured: false).line }
        return (lines + ["  A correct client: \(item.drill.client) (\(item.drill.source))"]).map(Output.printable)
    }

    private var counts: [(outcome: String, count: Int)] {
        [Drill.Outcome.held, .broken, .notReached].map { outcome in
            (outcome.rawValue, items.count { $0.verdict.outcome == outcome })
        }
    }

    private var summary: String {
        let words = counts.map { "\($1) \($0)" }.joined(separator: ", ")
        let known = baseline == nil ? "" : " (\(broken.count) of them new)"
        return
            "\(items.count) \(items.count == 1 ? "behaviour" : "behaviours"): \(words)\(known); \(duration.components.seconds) s"
    }

    // MARK: For programs

    var json: JSON {
        let counts = counts.map { ($0.replacing(" ", with: "_"), JSON($1)) }
        return .object(JSONObject(counts + [("new", JSON(broken.count)), ("behaviours", .array(items.map(json)))]))
    }

    private func json(of item: Item) -> JSON {
        let drill = item.drill
        return [
            "drill": .string(drill.name), "vendor": .string(drill.vendor),
            "result": .string(item.verdict.outcome.rawValue), "severity": .string(drill.severity.rawValue),
            "about": .string(drill.about), "client": .string(drill.client), "source": .string(drill.source),
            "evidence": JSON(drill.evidence?.rawValue),
            "faults": .array(
                item.verdict.faults.map { ["otherwise": .string($0.otherwise), "message": .string($0.message)] }),
            "entries": .array(item.entries), "interruption": JSON(item.interruption),
        ]
    }

    var junit: String { JUnitReport.text([ContractResult(file: "drill", cases: items.map(test))], named: "drill") }

    private func test(of item: Item) -> ContractCase {
        let outcome: ContractCase.Outcome =
            switch item.verdict.outcome {
            case .held: .passed
            case .notReached: .notReached
            case .broken where baseline?.contains(item.drill.name) == true: .skipped
            case .broken:
                .failed([
                    ContractFailure(
                        place: .none, message: item.verdict.faults.map(\.otherwise).joined(separator: " "),
                        difference: Array(explanation(of: item).dropFirst(2)))
                ])
            }
        return ContractCase(place: .none, title: item.drill.name, remark: item.drill.about, outcome: outcome)
    }
}
