/// The result of a file.
public struct ContractResult: Sendable {
    /// The file's name.
    public let file: String
    /// The result of each request, in order.
    public private(set) var cases: [ContractCase]

    init(file: String, cases: [ContractCase]) {
        self.file = file
        self.cases = cases
    }

    /// Adds to the failed case what another source knows, such as the server's journal.
    public mutating func explain(_ explanation: String) {
        guard let failed = cases.firstIndex(where: { !$0.failures.isEmpty }) else { return }
        cases[failed].explanation = explanation
    }

    /// Whether nothing failed.
    public var hasPassed: Bool { cases.allSatisfy { $0.failures.isEmpty } }

    /// Whether any case other than a preparation ran.
    public var hasRun: Bool {
        cases.contains { !$0.isPreparation && ($0.outcome == .passed || !$0.failures.isEmpty) }
    }

    /// The total time of all requests.
    public var duration: Duration { cases.reduce(.zero) { $0 + $1.duration } }
}

/// The result of one request.
public struct ContractCase: Sendable {
    /// The outcome of a request.
    public enum Outcome: Sendable, Hashable {
        /// The answer met the expectations.
        case passed
        /// It did not, or there was no answer.
        case failed([ContractFailure])
        /// A control request, omitted because no emulator is asked.
        case leftOut
        /// The file skips it.
        case skipped
        /// An earlier case failed, on which it may depend.
        case notReached
    }

    /// The request's place in the file.
    public let place: HurlPlace
    /// Method and path as in the file.
    public let title: String
    /// The comment above the request.
    public let remark: String
    /// Whether the request prepares later ones and does not test the vendor.
    public let isPreparation: Bool
    /// The answer's status; `nil` without an answer.
    public let status: Int?
    /// The outcome.
    public let outcome: Outcome
    /// The time it took.
    public let duration: Duration
    /// What another source knows about its failure.
    public fileprivate(set) var explanation: String?

    /// What was wrong; empty unless it failed.
    public var failures: [ContractFailure] {
        if case .failed(let failures) = outcome { failures } else { [] }
    }
}
