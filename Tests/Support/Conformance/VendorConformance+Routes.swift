import HTTPTypes
import Testing

extension VendorConformance {
    /// Checks the answer's status, content and type, and the journal's route; HEAD must be answered like GET.
    package func check(_ route: RouteCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        let request = try await route.request(in: world)
        if route.status == 101 {
            _ = try await world.openSocket(request.target, request.fields)
            return
        }
        let answer = try await request.send(in: world)
        #expect(answer.status == route.status, "\(answer.text) \(answer.entry?.explanation ?? "")")
        #expect(answer.failure == route.failure)
        if let expected = route.answer { #expect(answer.text == expected) }
        #expect(answer.entry?.record.route == route.route)
        let type = answer.text.isEmpty ? nil : route.contentType ?? contentTypeAt(route.path) ?? contentType
        #expect(answer["content-type"] == type)
        inspect(answer)
        guard route.method == .get else { return }
        let head = try await world.call(.head, request.target, request.fields)
        #expect(head.status == answer.status)
        #expect(head.entry?.record.route == route.route)
    }

    /// Checks that the call without credentials is refused, with a reason in the journal.
    package func checkRefusal(_ route: RouteCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        var request = try await route.request(in: world)
        dropCredentials(&request)
        let answer = try await request.send(in: world)
        #expect(
            answer.failure == refusal(route),
            "\(answer.status) \(answer.text); the journal has \(world.sandbox.journal.count) entries")
        guard let failure = answer.failure else { return }
        #expect(try FailureSheet.read(id, in: server.fixtures).statuses(of: failure).contains(answer.status))
        #expect(answer.entry?.record.route == route.route)
        if givesReasons { #expect(answer.entry?.explanation?.isEmpty == false) }
    }

    /// Checks that every place of every route has a case.
    package func checkRouteCoverage() throws {
        let listed = try mounted().routes
        #expect(Set(routes.map(\.route)).subtracting(listed.map(\.id)) == [], "cases of no route of \(id)")
        for route in listed {
            for endpoint in route.endpoints
            where !routes.contains(where: {
                $0.route == route.id && $0.method == endpoint.method && $0.shows(endpoint.pattern)
            }) {
                Issue.record("\(id): route \(route.id) has no case at \(endpoint.method.rawValue) \(endpoint.pattern)")
            }
        }
    }

    /// Checks that the vendor accepts any content or refuses it in its own shape, with a reason, and that a refused
    /// call changes nothing.
    ///
    /// A route gets every other content, so that neighbours, which read alike, share all of them.
    package func checkHostileBodies(of route: RouteCase) async throws {
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        var world = try await world()
        var request = try await route.request(in: world)
        var before = try wholeState(world)
        let contents = HostileBody.all(insteadOf: try route.body())
        let first = routes.firstIndex { $0.description == route.description } ?? 0
        for hostile in stride(from: first % 2, to: contents.count, by: 2).map({ contents[$0] }) {
            let answer = try await request.send(hostile, in: world)
            if answer.status < 400 {
                // Each content must meet the original state.
                try await world.delete()
                world = try await self.world()
                request = try await route.request(in: world)
                before = try wholeState(world)
                continue
            }
            for problem in problems(of: answer, by: sheet) { Issue.record("\(id) \(route), \(hostile): \(problem)") }
            let after = try wholeState(world)
            if after != before {
                Issue.record("\(id) \(route), \(hostile) was refused, and changed \(before.text) to \(after.text)")
            }
        }
        try await world.delete()
    }

    /// The problems of a refusal; empty if it has a shape of its failure and a reason.
    private func problems(of answer: ReceivedAnswer, by sheet: FailureSheet) -> [String] {
        guard answer.status < 500 else {
            return ["status \(answer.status) is the server's fault; found \(answer.text)"]
        }
        guard let failure = answer.failure else { return ["status \(answer.status) without a failure in the journal"] }
        var problems: [String] = []
        let statuses = sheet.statuses(of: failure)
        if !statuses.contains(answer.status) {
            problems.append("\(failure) has status \(answer.status); expected one of \(statuses.sorted())")
        }
        let names = answer.json.object?.map(\.name) ?? []
        if !sheet.shapes(of: failure).contains(names) {
            problems.append("\(failure) has the members \(names); expected one of \(sheet.shapes(of: failure))")
        }
        if givesReasons, answer.entry?.explanation?.isEmpty != false {
            problems.append("\(failure) has no reason in the journal")
        }
        return problems
    }

    /// Checks that a content of the maximum length is read, and one that is a byte longer is refused.
    package func checkBodyLimit(of route: RouteCase) async throws {
        let world = try await world()
        let request = try await route.request(in: world)
        let limit = try server.stage().bodyLimit(route.method, request.target)
        let statuses = try FailureSheet.read(id, in: server.fixtures).statuses(of: bodyTooLarge)
        for (excess, isTooLong) in [(0, false), (1, true)] {
            let content = [UInt8](repeating: UInt8(ascii: " "), count: limit + excess - 2) + Array("{}".utf8)
            let answer = try await world.call(request.method, request.target, request.fields, bytes: content)
            #expect((answer.failure == bodyTooLarge) == isTooLong, "\(limit) + \(excess) bytes: \(answer.text)")
            #expect(statuses.contains(answer.status) == isTooLong, "\(limit) + \(excess) bytes: \(answer.text)")
        }
        // Its long journal would push out those of others.
        try await world.delete()
    }

    /// Checks that the sample request works, and that no sample is a secret.
    package func checkSamples(_ depth: Depth) async throws {
        let (world, vendor) = (try await world(depth), try mounted())
        if !vendor.tokenKinds.isEmpty {
            let request = try vendor.sampleRequest(
                at: world.sandbox.now, base: world.sandbox.identity.publicBase.text)
            let fields = request.fields.map { ($0.name, $0.value) }
            let answer = try await world.call(request.endpoint.method, request.endpoint.pattern, fields, request.body)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let shown = vendor.samples.map(\.value)
        #expect(Set(samples).subtracting(shown) == [])
        let secrets = vendor.secretTexts + ["PRIVATE", "operator", "secret"]
        for text in shown where secrets.contains(where: text.contains) { Issue.record("\(id) shows \(text)") }
    }
}
