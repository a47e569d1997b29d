import ArgumentParser
import Contracts
import JSON
import Wire

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
        let vendors = (answer["vendors"]?.array ?? []).filter { vendor != nil || Self.count("met", of: $0) > 0 }
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
        let (name, met, all) = (vendor["vendor"]?.string ?? "", count("met", of: vendor), count("all", of: vendor))
        let failure = ContractFailure(
            place: .none, message: "\(name): \(met) of \(all) were met; expected at least \(least)%.")
        return ContractCase(
            place: .none, title: name, remark: vendor["summary"]?.string ?? "",
            outcome: met * 100 >= least * all ? .passed : .failed([failure]))
    }
}
