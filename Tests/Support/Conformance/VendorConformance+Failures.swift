import Emulation
import Testing

extension VendorConformance {
    /// The failures that the mounted vendor lists.
    package var failureNames: [String] { (try? mounted().failures.map(\.name)) ?? [] }

    /// Checks that the sheet has each listed status, and that the vendor names the sheet that a start leaves unread.
    package func checkFailureSheet() throws {
        let digest = try FixtureStore(layers: [server.fixtures]).file("\(id)/failures.yaml").digest
        // A start that leaves another file unread would not find its mistakes.
        #expect(judgedFile == nil || judgedFile == digest, "name the digest 0x\(digest.text) as judgedFile")
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        for failure in try mounted().failures {
            #expect(sheet.statuses(of: failure.name).contains(failure.status), "\(failure.name)")
        }
    }

    /// Checks that an armed failure is answered as `failures.yaml` says: status, fields and content, under each set of
    /// switches in the file; the reason says that it was armed.
    ///
    /// It is armed at each route that the file names for it, and at some four others, which differ from failure to
    /// failure like the place of the call, so that each place of each route meets several.
    package func checkArmed(_ failure: String) async throws {
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        let vendor = try mounted()
        let fault = #"{"faults":[{"vendor":"\#(id)","fail":"\#(failure)","times":"always"}]}"#
        let number = vendor.failures.firstIndex { $0.name == failure } ?? 0
        let named = sheet.routes(namedBy: failure)
        let step = max(1, vendor.routes.count / 4)
        let routes = vendor.routes.enumerated().filter { index, route in
            named.contains(route.id) || (index + number).isMultiple(of: step)
        }
        for switches in sheet.situations {
            let world = try await world()
            for (name, value) in switches { try await world.set("\(id).\(name)", value) }
            try await world.control(.put, "faults", fault)
            for (_, route) in routes {
                let expected = sheet.answer(failure, route: route.id, switches: switches)
                let endpoint = route.endpoints[number / step % route.endpoints.count]
                let path = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                let answer = try await world.call(endpoint.method, path, fieldsForArmed)
                for problem in problems(of: answer, at: path, armed: failure, expected) {
                    Issue.record("\(id) \(failure) at \(endpoint.method) \(path), switches \(switches): \(problem)")
                }
            }
        }
    }

    private func problems(
        of answer: ReceivedAnswer, at path: String, armed failure: String, _ expected: FailureSheet.Answer
    ) -> [String] {
        var problems: [String] = []
        func compare(_ what: String, _ found: String?, _ expected: String?) {
            if found != expected {
                problems.append("\(what): found \(found ?? "none"), expected \(expected ?? "none")")
            }
        }
        let reason = answer.entry?.explanation ?? ""
        compare("failure", answer.failure, failure)
        compare("status", "\(answer.status)", "\(expected.status)")
        compare("content", withoutOwnIDs(answer.text), expected.text)
        for field in expected.fields { compare(field.name, answer[field.name], field.value) }
        if expected.isJSON { compare("content-type", answer["content-type"], contentTypeAt(path) ?? contentType) }
        compare("reason", reason, answer.entry?.record.intervention)
        if !reason.contains("fault") || !reason.contains(failure) { problems.append("reason: \(reason)") }
        return problems + ReasonForm.faults(in: reason, isArmed: true)
    }
}
