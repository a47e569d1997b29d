/// Which of the matching calls are hit.
enum Occurrence: Sendable, Hashable {
    case always
    /// The call with that number, counted from 1.
    case call(Int)
    /// Every nth call.
    case every(Int)
    /// Each with that probability, drawn from a seed so that runs can be repeated.
    case probability(Double, seed: UInt64?)

    static let members = ["call", "every", "probability", "seed"]

    /// Reads `call`, `every` or `probability` with its `seed`; without any of them, every call is hit.
    init(_ mapping: FixtureMapping) throws(FixtureProblem) {
        let given = ["call", "every", "probability"].compactMap { name in mapping[name].map { (name, $0) } }
        if let second = given.dropFirst().first {
            throw second.1.nameProblem("\(second.0) cannot be combined with \(given[0].0); give one of them")
        }
        let seed = mapping["seed"]
        if let seed, given.first?.0 != "probability" {
            throw seed.nameProblem("a seed is for a probability, and there is none")
        }
        switch given.first {
        case ("call", let node)?: self = .call(try Self.count(node, "call"))
        case ("every", let node)?: self = .every(try Self.count(node, "every"))
        case (_, let node)?: self = .probability(try Self.probability(node), seed: try seed.map(Self.seed))
        case nil: self = .always
        }
    }

    /// Which calls are hit, in words.
    var summary: String {
        switch self {
        case .always: "every call"
        case .call(let number): "call \(number)"
        case .every(let number): "one call in \(number)"
        case .probability: "a call that is drawn"
        }
    }

    private static func count(_ node: FixtureNode, _ name: String) throws(FixtureProblem) -> Int {
        let value = try node.json()
        guard let count = value.int, count > 0 else {
            throw node.problem("\(name) is \(value.text); expected a whole number from 1")
        }
        return count
    }

    private static func probability(_ node: FixtureNode) throws(FixtureProblem) -> Double {
        let value = try node.json()
        guard let probability = value.number?.double, (0...1).contains(probability) else {
            throw node.problem("probability is \(value.text); expected a number from 0 to 1")
        }
        return probability
    }

    private static func seed(_ node: FixtureNode) throws(FixtureProblem) -> UInt64 {
        let value = try node.json()
        guard let seed = value.int.flatMap(UInt64.init(exactly:)) else {
            throw node.problem("seed is \(value.text); expected a whole number from 0")
        }
        return seed
    }
}

/// Counts matching calls, and decides which of them are hit.
struct CallCounter: CodedRecord {
    let occurrence: Occurrence
    /// The matching calls so far.
    private(set) var calls = 0
    private var dice: SplitMix64

    /// Creates a counter to read into, of which every call is hit.
    init() { self.init(.always, seed: 0) }

    /// - Parameter seed: the initial random state when the occurrence has no seed of its own.
    init(_ occurrence: Occurrence, seed: UInt64) {
        self.occurrence = occurrence
        if case .probability(_, let own?) = occurrence {
            dice = SplitMix64(state: own)
        } else {
            dice = SplitMix64(state: seed)
        }
    }

    package mutating func code(_ coder: inout RecordCoder) {
        coder.member("calls", &calls)
        coder.member("owing", &isOwing, omitting: false)
        coder.member("dice", &dice)
    }

    /// Whether a call was due but something else took precedence: the next one is hit instead.
    private var isOwing = false

    /// Counts a call.
    ///
    /// - Returns: whether this call is hit, possibly in place of an earlier one.
    mutating func count() -> Bool {
        calls += 1
        if isHit() { isOwing = true }
        return isOwing
    }

    /// Notes that the last counted call was hit.
    mutating func strike() { isOwing = false }

    private mutating func isHit() -> Bool {
        switch occurrence {
        case .always: true
        case .call(let number): calls == number
        case .every(let number): calls.isMultiple(of: number)
        case .probability(let probability, _): Double.random(in: 0..<1, using: &dice) < probability
        }
    }
}
