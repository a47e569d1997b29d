import Emulation
import HTTPTypes
import JSON
import Wire

/// Which of a vendor's routes and failures the calls so far have met.
extension ControlAPI {
    @Sendable static func readCoverage(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let named = try call.query.read { $0.optionalText("vendor") }
        let chosen = try named.map { name throws(ControlProblem) in try call.vendor(name, .badRequest) }
        let coverage = call.existingSandbox?.journal.coverage ?? Coverage()
        let vendors = call.emulator.vendors.enumerated().filter { chosen == nil || $0.offset == chosen }
        let list = vendors.map { index, vendor -> JSON in
            let marks = call.emulator.metrics.vendors[index]
            let failures = CoveredNames(marks.failures, from: marks.firstMark, in: coverage)
            let routes = CoveredNames(
                call.emulator.metrics.routes(of: index), from: marks.firstMark + marks.failures.count, in: coverage)
            return [
                "vendor": .string(vendor.identity.id), "routes": routes.json, "failures": failures.json,
                "summary": .string(
                    "\(failures.words) failures of \(vendor.identity.title), \(routes.words) routes"
                        + CoveredNames.rest(failures.never + routes.never)),
            ]
        }
        return .ready(.json(["sandbox": .string(call.sandboxName), "vendors": .array(list)]))
    }
}

private struct CoveredNames {
    let count: Int
    let never: [String]

    init(_ names: [String], from first: Int, in coverage: Coverage) {
        count = names.count
        never = names.enumerated().filter { !coverage.holds(first + $0.offset) }.map(\.element)
    }

    var words: String { "\(count - never.count) of \(count)" }

    var json: JSON {
        ["met": JSON(count - never.count), "all": JSON(count), "never": .array(never.map(JSON.string))]
    }

    /// ours: that many names are read.
    private static let mostShown = 12

    static func rest(_ never: [String]) -> String {
        guard !never.isEmpty else { return "" }
        let more = never.count > mostShown ? " and \(never.count - mostShown) more" : ""
        return "; never met: " + never.prefix(mostShown).joined(separator: ", ") + more
    }
}
