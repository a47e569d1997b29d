internal import JSON

/// Compares an answer with what an entry expects.
struct ContractJudge {
    let answer: ContractAnswer
    var variables: ContractVariables

    /// What is wrong with the answer; captures go into ``variables``.
    ///
    /// With another status nothing else is checked or captured, since everything would differ.
    mutating func failures(_ response: HurlResponse) -> [ContractFailure] {
        if let failure = status(response) { return [failure] }
        var failures: [ContractFailure] = []
        for capture in response.captures {
            note(&failures) { () throws(ContractFailure) in try self.capture(capture) }
        }
        for field in response.fields {
            note(&failures) { () throws(ContractFailure) in try check(field) }
        }
        if let body = response.body {
            note(&failures) { () throws(ContractFailure) in try check(body) }
        }
        for assert in response.asserts {
            note(&failures) { () throws(ContractFailure) in try check(assert) }
        }
        return failures
    }

    private func note(_ failures: inout [ContractFailure], _ check: () throws(ContractFailure) -> Void) {
        do {
            try check()
        } catch {
            failures.append(error)
        }
    }

    /// Shows the content too, which usually explains the other status.
    private func status(_ response: HurlResponse) -> ContractFailure? {
        guard let expected = response.status, expected != answer.status else { return nil }
        var difference = ["-HTTP \(expected)", "+HTTP \(answer.status)"]
        if let body = response.body, let bytes = try? variables.bytes(body) {
            difference += BodyDifference(expected: bytes, found: answer.body).lines
        } else if !answer.body.isEmpty {
            difference += BodyDifference.shown(answer.body).map { "+" + $0 }
        }
        return ContractFailure(
            place: response.place, message: "status \(answer.status) instead of \(expected)", difference: difference)
    }

    private mutating func capture(_ capture: HurlCapture) throws(ContractFailure) {
        let name = try variables.text(capture.name)
        switch try value(of: capture.query) {
        case .json(let value)?: variables[name] = value
        case .bytes?:
            throw ContractFailure(place: capture.query.place, message: "bytes cannot become the variable \(name)")
        case nil:
            throw ContractFailure(
                place: capture.query.place, message: "nothing was found that could become the variable \(name)")
        }
    }

    private func check(_ field: HurlPair) throws(ContractFailure) {
        let name = try variables.text(field.name)
        let expected = try variables.text(field.value)
        let values = answer.values(of: name)
        guard !values.contains(where: { $0.hasSameBytes(as: expected) }) else { return }
        let found = values.isEmpty ? "none" : values.map { "“\($0)”" }.joined(separator: ", ")
        throw ContractFailure(
            place: field.name.place, message: "field \(name): expected “\(expected)”, found \(found)")
    }

    private func check(_ body: HurlBody) throws(ContractFailure) {
        let expected = try variables.bytes(body)
        guard expected != answer.body else { return }
        let difference = BodyDifference(expected: expected, found: answer.body)
        throw ContractFailure(place: body.place, message: difference.message, difference: difference.lines)
    }

    private func check(_ assert: HurlAssert) throws(ContractFailure) {
        let found = try value(of: assert.query)
        let verdict = try verdict(assert.predicate, found, at: assert.query.place)
        guard let complaint = verdict else { return }
        throw ContractFailure(place: assert.query.place, message: "\(assert.source): \(complaint)")
    }
}
