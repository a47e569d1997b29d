package struct ContractResult: Sendable {
    package let file: String
    /// The result of each request, in order.
    package internal(set) var cases: [ContractCase]

    /// Adds to the failed case what another source knows, such as the server's journal.
    package mutating func explain(_ explanation: String) {
        guard let failed = cases.firstIndex(where: { !$0.failures.isEmpty }) else { return }
        cases[failed].explanation = explanation
    }

    package var hasPassed: Bool { cases.allSatisfy { $0.failures.isEmpty } }

    /// Whether any case other than a preparation ran.
    package var hasRun: Bool {
        cases.contains { !$0.isPreparation && ($0.outcome == .passed || !$0.failures.isEmpty) }
    }

    /// The total time of all requests.
    package var duration: Duration { cases.reduce(.zero) { $0 + $1.duration } }
}

package struct ContractCase: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// The answer met the expectations.
        case passed
        case failed([ContractFailure])
        /// A control request, omitted because no emulator is asked.
        case leftOut
        case skipped
        /// An earlier case failed, on which it may depend.
        case notReached
    }

    /// The request's place in the file.
    package let place: HurlPlace
    /// Method and path as in the file.
    package let title: String
    /// The comment above the request.
    package let remark: String
    /// Whether the request prepares later ones and does not test the vendor.
    package let isPreparation: Bool
    /// The answer's status; `nil` without an answer.
    package let status: Int?
    package let outcome: Outcome
    /// The time it took.
    package let duration: Duration
    /// What another source knows about its failure.
    package fileprivate(set) var explanation: String?

    /// What was wrong; empty unless it failed.
    package var failures: [ContractFailure] {
        if case .failed(let failures) = outcome { failures } else { [] }
    }
}
