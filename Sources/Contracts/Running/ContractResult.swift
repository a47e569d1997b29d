/// What became of a file.
public struct ContractResult: Sendable {
    /// The file's name.
    public let file: String
    /// What became of each request, in order.
    public private(set) var cases: [ContractCase]

    init(file: String, cases: [ContractCase]) {
        self.file = file
        self.cases = cases
    }

    /// Adds to the case that failed what somebody else knows about it, such as the server's own record.
    public mutating func explain(_ explanation: String) {
        guard let failed = cases.firstIndex(where: { !$0.failures.isEmpty }) else { return }
        cases[failed].explanation = explanation
    }

    /// Whether nothing failed.
    public var hasPassed: Bool { cases.allSatisfy { $0.failures.isEmpty } }

    /// Whether at least one case, other than what only prepares, was run.
    public var hasRun: Bool {
        cases.contains { !$0.isPreparation && ($0.outcome == .passed || !$0.failures.isEmpty) }
    }

    /// How long all requests took together.
    public var duration: Duration { cases.reduce(.zero) { $0 + $1.duration } }
}

/// What became of one request.
public struct ContractCase: Sendable {
    /// How it ended.
    public enum Outcome: Sendable, Hashable {
        /// The answer is the expected one.
        case passed
        /// It is not, or there is none.
        case failed([ContractFailure])
        /// The request steers the emulator, and there is none.
        case leftOut
        /// The file says to skip it.
        case skipped
        /// A case before it failed, on which it may depend.
        case notReached
    }

    /// Where the request stands.
    public let place: HurlPlace
    /// Method and path, as the file has them.
    public let title: String
    /// What the comment above the request says.
    public let remark: String
    /// Whether the request is not about the vendor but prepares what follows.
    public let isPreparation: Bool
    /// The status of the answer; `nil` where none came.
    public let status: Int?
    /// How it ended.
    public let outcome: Outcome
    /// How long it took.
    public let duration: Duration
    /// What somebody else knows about its failure.
    public fileprivate(set) var explanation: String?

    /// What was wrong; nothing unless it failed.
    public var failures: [ContractFailure] {
        if case .failed(let failures) = outcome { failures } else { [] }
    }
}
