/// Runs files of cases: sends their requests in order and compares the answers with the expected ones.
///
/// It knows neither sockets nor the server; ``Send`` does.
package struct ContractRunner: Sendable {
    package typealias Send = @Sendable (ContractRequest) async throws(ContractSendingProblem) -> ContractAnswer

    private let isPreparation: @Sendable (_ url: String) -> Bool
    private let leavesOutPreparations: Bool
    private let send: Send

    /// A runner.
    ///
    /// - Parameters:
    ///   - isPreparation: Whether a request to that URL prepares later ones and is not a case.
    ///   - leavesOutPreparations: Whether the server does not understand such requests; their captures must then be
    ///     among the variables.
    ///   - send: Sends a request.
    package init(
        isPreparation: @escaping @Sendable (_ url: String) -> Bool = { _ in false },
        leavesOutPreparations: Bool = false, send: @escaping Send
    ) {
        self.isPreparation = isPreparation
        self.leavesOutPreparations = leavesOutPreparations
        self.send = send
    }

    /// Runs a file up to its first failed case, since later cases may depend on it.
    package func run(_ file: HurlFile, variables: ContractVariables) async -> ContractResult {
        var variables = variables
        var hasFailed = false
        var cases: [ContractCase] = []
        for entry in file.entries {
            let isPreparation = isPreparation(variables.knownText(entry.request.url))
            let start = ContinuousClock.now
            let (outcome, status) =
                hasFailed ? (.notReached, nil) : await outcome(of: entry, isPreparation: isPreparation, &variables)
            if case .failed = outcome { hasFailed = true }
            cases.append(
                ContractCase(
                    place: entry.request.place, title: Self.title(entry.request), remark: entry.remark,
                    isPreparation: isPreparation, status: status, outcome: outcome, duration: .now - start))
        }
        return ContractResult(file: file.name, cases: cases)
    }

    /// Method and path, without the variable or server that starts the URL.
    private static func title(_ request: HurlRequest) -> String {
        let url = request.url.source
        let path =
            url.hasPrefix("http") ? url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...] : url[...]
        return "\(request.method.rawValue) \(path.firstIndex(of: "/").map { path[$0...] } ?? path)"
    }

    private func outcome(
        of entry: HurlEntry, isPreparation: Bool, _ variables: inout ContractVariables
    ) async -> (ContractCase.Outcome, status: Int?) {
        if isPreparation && leavesOutPreparations {
            for (name, place) in Self.given(by: entry) { variables.lose(name, at: place) }
            return (.leftOut, nil)
        }
        do throws(ContractFailure) {
            guard try prepare(entry.request, &variables) else { return (.skipped, nil) }
            let answer = try await answer(entry.request, variables)
            guard let response = entry.response else { return (.passed, answer.status) }
            var judge = ContractJudge(answer: answer, variables: variables)
            let failures = judge.failures(response)
            variables = judge.variables
            return (failures.isEmpty ? .passed : .failed(failures), answer.status)
        } catch {
            return (.failed([error]), nil)
        }
    }

    /// The variables that an entry sets.
    private static func given(by entry: HurlEntry) -> [(String, HurlPlace)] {
        let options = entry.request.options.compactMap { option -> (String, HurlPlace)? in
            if case .variable(let name, _, let place) = option { (name, place) } else { nil }
        }
        return options + (entry.response?.captures ?? []).map { ($0.name.source, $0.name.place) }
    }

    /// Applies the options; returns false when the request is skipped.
    private func prepare(
        _ request: HurlRequest, _ variables: inout ContractVariables
    ) throws(ContractFailure) -> Bool {
        var isSkipped = false
        for option in request.options {
            switch option {
            case .skip(let value): isSkipped = value
            case .variable(let name, .constant(let value), _): variables[name] = value
            case .variable(let name, .text(let template), _): variables[name] = .string(try variables.text(template))
            }
        }
        return !isSkipped
    }

    private func answer(
        _ request: HurlRequest, _ variables: ContractVariables
    ) async throws(ContractFailure) -> ContractAnswer {
        let message = try ContractRequest(request, variables)
        do {
            return try await send(message)
        } catch {
            throw ContractFailure(place: request.url.place, message: "no answer from \(message.url): \(error)")
        }
    }
}
