import Testing

extension VendorConformance {
    /// Checks the request's outcome under the switch's value.
    package func check(_ example: SwitchCase) async throws {
        let answer = try await answer(to: example, under: example.value)
        #expect(answer.failure == example.failure, "\(answer.text)")
        // A failure may be told by a redirect, too.
        if answer.status >= 400 || example.failure == nil {
            #expect((200...399).contains(answer.status) == (example.failure == nil), "\(answer.status) \(answer.text)")
        }
        if let shows = example.shows { #expect(answer.wire.contains(shows), "\(answer.wire)") }
    }

    /// Checks that every switch has the expected defaults and a case for every value, and that for each value one case
    /// is answered differently under another value.
    package func checkSwitchCoverage() async throws {
        let declarations = try mounted().switchDeclarations
        #expect(declarations.map { "\($0.name) \($0.documented) \($0.observed)" } == profiles)
        #expect(Set(switches.map(\.name)) == Set(declarations.map(\.name)))
        for declaration in declarations {
            let cases = switches.filter { $0.name == declaration.name }
            let tested = Set(cases.map(\.value))
            if case .choice(let values) = declaration.domain { #expect(tested == Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
            let isChoice = if case .choice = declaration.domain { true } else { false }
            var idle: Set<String> = []
            for value in tested {
                let cases = cases.filter { $0.value == value }
                if try await !changesSomething(cases, tested.subtracting([value])) { idle.insert(value) }
            }
            // Some values of a number may only test its limits.
            if isChoice ? !idle.isEmpty : idle == tested {
                Issue.record(
                    "\(id): switch \(declaration.name) answers alike with \(idle.sorted()), as far as cases show")
            }
        }
    }

    /// Whether one of a value's cases is answered differently under another value.
    private func changesSomething(_ cases: [SwitchCase], _ others: Set<String>) async throws -> Bool {
        for example in cases {
            let found = try await seen(example, under: example.value)
            for other in others where try await seen(example, under: other) != found { return true }
        }
        return false
    }

    private func seen(_ example: SwitchCase, under value: String) async throws -> [String] {
        let answer = try await answer(to: example, under: value)
        return ["\(answer.status)", answer.failure ?? "", example.shows.map { "\(answer.wire.contains($0))" } ?? ""]
    }

    private func answer(to example: SwitchCase, under value: String) async throws -> ReceivedAnswer {
        let world = try await world()
        try await world.set("\(id).\(example.name)", value)
        return try await example.send(world)
    }
}
