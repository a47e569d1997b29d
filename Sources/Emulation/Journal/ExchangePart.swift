internal import JSON
public import Tokens

/// One of several orders in a request, refused while the request as a whole was answered.
public struct ExchangePart: Sendable {
    /// How many are kept of one exchange; the others are counted.
    static let most = 100
    /// An estimate of the memory that one takes besides its findings, in bytes.
    static let cost = 256

    /// Which of the orders, counted from 1.
    public let number: Int
    /// What the order asks for, in the vendor's words.
    public let name: String
    /// The failure's name.
    public let failure: String
    /// What was found that led to the failure.
    public let reason: String?
    /// Every check that was made for it.
    public let findings: [Finding]

    /// A refused order.
    public init(_ number: Int, named name: String, _ failure: String, because reason: String?, _ findings: [Finding]) {
        (self.number, self.name, self.failure) = (number, name, failure)
        self.reason = reason ?? findings.first { $0.outcome == .failed }?.description
        self.findings = findings
    }

    /// The part for programs.
    var json: JSON {
        [
            "number": JSON(number), "name": .string(name), "failure": .string(failure), "reason": JSON(reason),
            "findings": .array(findings.map(\.json)),
        ]
    }
}

/// The refused orders of a request, the first of them.
public struct ExchangeParts: Sendable {
    /// Those that are kept.
    public private(set) var refused: [ExchangePart] = []
    /// How many were refused in all.
    public private(set) var count = 0

    /// None yet.
    public init() {}

    mutating func append(_ part: ExchangePart) {
        count += 1
        if refused.count < ExchangePart.most { refused.append(part) }
    }

    /// An estimate of the memory that they take, in bytes.
    var byteCount: Int {
        refused.reduce(0) { $0 + ExchangePart.cost + $1.findings.count * MemoryLayout<Finding>.stride }
    }

    /// The parts for programs, and how many more there were.
    var json: JSON { ["refused": JSON(count), "first": .array(refused.map(\.json))] }
}
