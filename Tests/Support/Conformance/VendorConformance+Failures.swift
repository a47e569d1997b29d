import Emulation
import Testing

extension VendorConformance {
    /// Checks the failure's status, exact content and name in the journal; a refused call must change nothing.
    package func check(_ failure: FailureCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        let before = try await state(world)
        let answer = try await failure.provoke(world)
        #expect(answer.status == failure.status, "\(answer.text)")
        #expect(withoutOwnIDs(answer.text) == failure.body)
        #expect(answer.failure == failure.name, "\(answer.entry?.explanation ?? "") \(answer.findings)")
        for (name, value) in failure.fields { #expect(answer[name] == value) }
        inspect(answer)
        if givesReasons { #expect(answer.entry?.explanation?.isEmpty == false) }
        let isAlone = failure.keepsState && world.sandbox.journal.count == 1
        if isAlone { #expect(try await state(world) == before) }
    }

    /// A failure of each status, with fields if one has any.
    package var failuresByStatus: [FailureCase] {
        Dictionary(grouping: failures, by: \.status).values.compactMap { alike in
            alike.first { !$0.fields.isEmpty } ?? alike.first
        }
    }

    /// The failures that the mounted vendor lists.
    package var failureNames: [String] { (try? mounted().failures.map(\.name)) ?? [] }

    /// Checks that every failure has a case, with the listed status.
    package func checkFailureCoverage() throws {
        let listed = try mounted().failures
        #expect(Set(failures.map(\.name)) == Set(listed.map(\.name)))
        let digest = try FixtureStore(layers: [server.fixtures]).file("\(id)/failures.yaml").digest
        // A start that leaves another file unread would not find its mistakes.
        #expect(judgedFile == nil || judgedFile == digest, "name the digest 0x\(digest.text) as judgedFile")
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        for failure in listed { #expect(sheet.statuses(of: failure.name).contains(failure.status), "\(failure.name)") }
        for failure in failures where !failure.isToldElsewhere {
            let statuses = sheet.statuses(of: failure.name)
            #expect(statuses.contains(failure.status), "\(failure): \(failure.status) is not one of \(statuses)")
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
