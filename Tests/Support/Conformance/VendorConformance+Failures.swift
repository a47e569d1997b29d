import Emulation
import Testing

extension VendorConformance {
    /// Checks the failure's status, exact content and name in the journal; a refused call must change nothing.
    public func check(_ failure: FailureCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        let before = try await state(world)
        let answer = try await failure.provoke(world)
        answer.expect(failure.status, failure.body, failure.name)
        inspect(answer)
        if givesReasons { #expect(answer.entry?.explanation?.isEmpty == false) }
        let isAlone = failure.keepsState && world.sandbox.journal.count == 1
        if isAlone { #expect(try await state(world) == before) }
    }

    /// The failures that the mounted vendor lists.
    public var failureNames: [String] { (try? mounted().failures.map(\.name)) ?? [] }

    /// Checks that every failure has a case, with the listed status.
    public func checkFailureCoverage() throws {
        let listed = try mounted().failures
        #expect(Set(failures.map(\.name)) == Set(listed.map(\.name)))
        for failure in failures {
            #expect(failure.status == listed.first { $0.name == failure.name }?.status, "\(failure)")
        }
    }

    /// Checks that an armed failure is answered at every place of every route as `failures.yaml` says: status, fields
    /// and content, under each set of switches in the file; the reason says that it was armed.
    public func checkArmed(_ failure: String) async throws {
        let sheet = try FailureSheet(id, in: server.fixtures)
        let vendor = try mounted()
        let fault = #"{"faults":[{"vendor":"\#(id)","fail":"\#(failure)","times":"always"}]}"#
        for switches in sheet.situations {
            let world = try await world()
            for (name, value) in switches { try await world.set("\(id).\(name)", value) }
            try await world.control(.put, "faults", fault)
            for route in vendor.routes {
                let expected = sheet.answer(failure, route: route.id, switches: switches)
                for endpoint in route.endpoints {
                    let path = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                    let answer = try await world.call(endpoint.method, path)
                    for problem in problems(of: answer, armed: failure, expected) {
                        Issue.record("\(id) \(failure) at \(endpoint.method) \(path), switches \(switches): \(problem)")
                    }
                }
            }
        }
    }

    private func problems(of answer: ReceivedAnswer, armed failure: String, _ expected: FailureSheet.Answer) -> [String]
    {
        var problems: [String] = []
        func compare(_ what: String, _ found: String?, _ expected: String?) {
            if found != expected {
                problems.append("\(what): found \(found ?? "none"), expected \(expected ?? "none")")
            }
        }
        let reason = answer.entry?.explanation ?? ""
        compare("failure", answer.failure, failure)
        compare("status", "\(answer.status)", "\(expected.status)")
        compare("content", answer.text, expected.text)
        for field in expected.fields { compare(field.name, answer[field.name], field.value) }
        if expected.isJSON { compare("content-type", answer["content-type"], contentType) }
        compare("reason", reason, answer.entry?.record.intervention)
        if !reason.contains("fault") || !reason.contains(failure) { problems.append("reason: \(reason)") }
        return problems + ReasonForm.faults(in: reason, isArmed: true)
    }
}
