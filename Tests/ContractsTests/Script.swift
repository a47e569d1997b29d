import Contracts
import HTTPTypes
import JSON
import Synchronization

/// A server that gives prepared answers and records its requests.
final class Script: Sendable {
    private struct State {
        var answers: [ContractAnswer]
        var requests: [ContractRequest] = []
    }

    private let state: Mutex<State>

    init(_ answers: [ContractAnswer] = []) {
        state = Mutex(State(answers: answers))
    }

    /// A script that answers 200 with these bodies.
    convenience init(_ bodies: String...) {
        self.init(bodies.map { ContractAnswer(status: 200, fields: [], body: Array($0.utf8)) })
    }

    /// The requests, in order.
    var requests: [ContractRequest] { state.withLock { $0.requests } }

    /// Runs a file against the script.
    func run(
        _ file: HurlFile, _ variables: [String: JSON] = [:], leavesOutPreparations: Bool = false
    ) async -> ContractResult {
        let runner = ContractRunner(
            isPreparation: { $0.contains("/prepare") }, leavesOutPreparations: leavesOutPreparations
        ) { (request) throws(ContractSendingProblem) in try self.answer(request) }
        return await runner.run(file, variables: ContractVariables(variables))
    }

    /// Runs a text as a file named `a.hurl`.
    func run(
        _ text: String, _ variables: [String: JSON] = [:], leavesOutPreparations: Bool = false
    ) async throws -> ContractResult {
        let file = try HurlFile(name: "a.hurl", bytes: Array(text.utf8))
        return await run(file, variables, leavesOutPreparations: leavesOutPreparations)
    }

    private func answer(_ request: ContractRequest) throws(ContractSendingProblem) -> ContractAnswer {
        let answer = state.withLock { state -> ContractAnswer? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw ContractSendingProblem("nobody is there.") }
        return answer
    }
}
