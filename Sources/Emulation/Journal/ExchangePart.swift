internal import JSON
public import Tokens

/// One of several orders in a request, refused although the request as a whole was answered.
public struct ExchangePart: Sendable {
    /// How many are kept per exchange; the rest are counted.
    static let most = 100
    /// An estimate of the memory that one takes besides its findings, in bytes.
    static let cost = 256

    /// The order's number, counted from 1.
    public let number: Int
    /// What the order asks for, in the vendor's terms.
    public let name: String
    public let failure: String
    /// What was found that led to the failure.
    public let reason: String?
    public let findings: [Finding]

    /// Creates a refused order.
    public init(_ number: Int, named name: String, _ failure: String, because reason: String?, _ findings: [Finding]) {
        (self.number, self.name, self.failure) = (number, name, failure)
        self.reason = reason ?? findings.first { $0.outcome == .failed }?.description
        self.findings = findings
    }

    var json: JSON {
        [
            "number": JSON(number), "name": .string(name), "failure": .string(failure), "reason": JSON(reason),
            "findings": .array(findings.map(\.json)),
        ]
    }
}

/// The first refused orders of a request, and their total.
public struct ExchangeParts: Sendable {
    public private(set) var refused: [ExchangePart] = []
    /// How many were refused in total.
    public private(set) var count = 0

    /// Creates an empty collection.
    public init() {}

    mutating func append(_ part: ExchangePart) {
        count += 1
        if refused.count < ExchangePart.most { refused.append(part) }
    }

    /// An estimate of the memory that they take, in bytes.
    var byteCount: Int {
        refused.reduce(0) { $0 + ExchangePart.cost + $1.findings.count * MemoryLayout<Finding>.stride }
    }

    /// The parts for programs, with their total.
    var json: JSON { ["refused": JSON(count), "first": .array(refused.map(\.json))] }
}
