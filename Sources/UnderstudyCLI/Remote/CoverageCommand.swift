import ArgumentParser
import Contracts
import JSON
import Wire

/// `understudy coverage`
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
        let least = try atLeast.map(Self.share) ?? 0
        if let junit { try ReportFile.check(junit) }
        let query = vendor.map { "?" + PercentEncoding.form([("vendor", $0)]) } ?? ""
        let answer = try server.call(.get, "coverage\(query)")
        let vendors = (answer["vendors"]?.array ?? []).map(CoveredVendor.init).filter { vendor != nil || $0.met > 0 }
        if let junit {
            try ReportFile.write(JUnitReport.text(vendors.map { $0.result(least) }, named: "coverage"), to: junit)
        }
        if json { Output.json(answer) } else { for vendor in vendors { Output.line(vendor.summary) } }
        if vendors.isEmpty { throw AnswerIsNo(message: "no call has met any vendor.") }
        let low = vendors.filter { !$0.reaches(least) }
        guard low.isEmpty else {
            throw AnswerIsNo(
                message: low.map { "\($0.name): \($0.met) of \($0.all) were met; expected at least \(least)%." }
                    .joined(separator: "\n"))
        }
    }

    private static func share(_ text: String) throws(Misuse) -> Int {
        let number = text.hasSuffix("%") ? text.dropLast() : text[...]
        guard let share = Int(number), (0...100).contains(share) else {
            throw Misuse("--at-least \(text) is not a share; expected one from 0% to 100%.")
        }
        return share
    }
}

/// What was met of a vendor.
private struct CoveredVendor {
    let json: JSON

    var name: String { json["vendor"]?.string ?? "" }
    var summary: String { json["summary"]?.string ?? "" }
    var met: Int { count("met") }
    var all: Int { count("all") }

    private func count(_ member: String) -> Int {
        ["routes", "failures"].reduce(0) { $0 + (json[$1]?[member]?.int ?? 0) }
    }

    func reaches(_ least: Int) -> Bool { met * 100 >= least * all }

    /// One test for routes and one for failures, with the names that were never met.
    func result(_ least: Int) -> ContractResult {
        let cases = ["routes", "failures"].map { kind -> ContractCase in
            let part = json[kind]
            let never = part?["never"]?.array?.compactMap(\.string) ?? []
            let title = "\(part?["met"]?.text ?? "0") of \(part?["all"]?.text ?? "0") \(kind)"
            let failure = ContractFailure(place: .none, message: "\(title); expected \(least)%", difference: never)
            return ContractCase(
                place: .none, title: title, remark: "", outcome: reaches(least) ? .passed : .failed([failure]))
        }
        return ContractResult(file: name, cases: cases)
    }
}
