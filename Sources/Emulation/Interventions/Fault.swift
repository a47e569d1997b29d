import JSON
import Wire

/// A failure to inject into calls of a vendor, set by control call.
package struct Fault: Sendable {
    package let vendor: String
    let routes: Set<String>
    let occurrence: Occurrence
    /// How often it strikes; `nil` for no limit.
    let times: Int?
    let condition: ExchangeCondition
    let effect: Effect
    let description: JSONObject

    package static let members = ["vendor", "route", "when", "times"] + Occurrence.members + Effect.members

    /// Reads a fault. Without `route` it applies to every route of the vendor; `call: 3` means the third call from now
    /// on.
    ///
    /// `times` says how often it strikes, a number or `always`. The default is once, or `always` with `every` or
    /// `probability`.
    package init(_ node: FixtureNode, _ scope: InterventionScope) throws(FixtureProblem) {
        let mapping = try node.mapping(Self.members)
        vendor = scope.vendor
        routes = try mapping["route"].map(scope.routes) ?? Set(scope.routes)
        occurrence = try Occurrence(mapping)
        times = try Self.times(mapping["times"], occurrence)
        condition =
            try mapping["when"].map { node throws(FixtureProblem) in
                try ExchangeCondition(node.mapping(ExchangeCondition.members))
            } ?? ExchangeCondition()
        effect = try Effect(mapping, scope)
        guard !effect.isNone else {
            throw node.problem("this fault has no effect: give fail, fault, respond, do, defects or advance")
        }
        let described = (try node.json().object ?? [:]).filter { $0.name != "vendor" }.map { ($0.name, $0.value) }
        description = JSONObject([("vendor", .string(scope.vendor))] + described)
    }

    private static func times(_ node: FixtureNode?, _ occurrence: Occurrence) throws(FixtureProblem) -> Int? {
        guard let node else {
            return switch occurrence {
            case .always, .call: 1
            case .every, .probability: nil
            }
        }
        let value = try node.json()
        if value == "always" { return nil }
        guard let times = value.int, times > 0 else {
            throw node.problem("times is \(value.text); expected a whole number from 1, or “always”")
        }
        return times
    }
}

struct ArmedFault: Sendable {
    let fault: Fault
    private(set) var strikes = 0
    private var counter: CallCounter

    init(_ fault: Fault, seed: UInt64) {
        self.fault = fault
        counter = CallCounter(fault.occurrence, seed: seed)
    }

    /// Counts a call that the fault applies to.
    ///
    /// - Returns: whether it is due. A fault that gave way to another strikes at the next call.
    mutating func count(_ matchContext: MatchContext, route: String) -> Bool {
        guard fault.routes.contains(route), fault.condition.holds(for: matchContext) else { return false }
        let isHit = counter.count()
        // With `times`, it strikes from that call on.
        if case .call(let number) = fault.occurrence { return counter.calls >= number }
        return isHit
    }

    /// Strikes once; a fault for one call that may strike more often also strikes the next calls.
    ///
    /// - Returns: whether it can strike again.
    mutating func strike() -> Bool {
        counter.strike()
        strikes += 1
        return fault.times.map { strikes < $0 } ?? true
    }

    var author: String {
        switch fault.occurrence {
        case .call(let number) where fault.times == 1: "armed fault at call \(number)"
        case .always, .call, .every, .probability: "armed fault, call \(counter.calls)"
        }
    }

    /// The fault with all that decides its next calls.
    var kept: JSON {
        ["fault": .object(fault.description), "counter": counter.json(.changes), "strikes": JSON(strikes)]
    }

    /// Reads what ``kept`` gives.
    init(_ node: FixtureNode, among loaded: LoadedVendors) throws(FixtureProblem) {
        let mapping = try node.mapping("fault", "counter", "strikes")
        let description = try mapping.required("fault")
        let id = try description.mapping(Fault.members).required("vendor")
        let name = try id.string()
        guard let vendor = loaded.vendors.first(where: { $0.identity.id == name }) else {
            throw id.problem("no vendor is called \(name)")
        }
        self.init(try Fault(description, InterventionScope(vendor)), seed: 0)
        try counter.read(try mapping.required("counter"), .export(.changes))
        strikes = try mapping.required("strikes").int()
    }

    var json: JSON {
        var json = fault.description
        json["calls"] = JSON(counter.calls)
        json["strikes"] = JSON(strikes)
        return .object(json)
    }
}

/// What goes wrong on the wire, as scenarios and faults describe it.
///
/// `reset`, `empty`, `garbage`, or a mapping of `delay` (`2s`, or `{ from: 1s, to: 3s }`), `truncate` (the bytes of
/// content still sent) and `drip` (`{ chunk: 10, every: 50ms }`); a delay may be combined with one of the others.
struct WireFault: Sendable, Hashable {
    /// The longest delay, and the longest pause of a drip (ours): more would only tie up the connection.
    private static let longestDelay = Duration.seconds(600)

    let delay: ClosedRange<Duration>
    let fault: Transmission.Fault?

    init(_ node: FixtureNode) throws(FixtureProblem) {
        if let word = try node.json().string {
            guard let fault = Self.words[word] else {
                throw node.problem("“\(word)” is not a fault\(Nearest.hint(to: word, among: Self.members))")
            }
            (delay, self.fault) = (.zero...(.zero), fault)
            return
        }
        let mapping = try node.mapping(Self.members)
        delay = try mapping["delay"].map(Self.range) ?? .zero...(.zero)
        var faults: [Transmission.Fault] = []
        for (name, value) in mapping.members where name != "delay" {
            if let fault = try Self.fault(name, value) { faults.append(fault) }
        }
        guard faults.count < 2 else {
            throw node.problem("an answer can be damaged in one way only, in addition to a delay")
        }
        fault = faults.first
        guard fault != nil || delay.upperBound > .zero else { throw node.problem("this fault has no effect") }
    }

    private static let members = ["reset", "empty", "garbage", "delay", "truncate", "drip"]
    private static let words: [String: Transmission.Fault] = ["reset": .reset, "empty": .empty, "garbage": .garbage]

    private static func fault(_ name: String, _ value: FixtureNode) throws(FixtureProblem) -> Transmission.Fault? {
        switch name {
        case "truncate": return .truncated(bytes: try value.wholeNumber())
        case "drip":
            let drip = try value.mapping("chunk", "every")
            let bytes = try drip.required("chunk").wholeNumber(from: 1)
            return .drip(bytes: bytes, every: try duration(drip.required("every")))
        default: return try value.bool() ? words[name] : nil
        }
    }

    private static func range(_ node: FixtureNode) throws(FixtureProblem) -> ClosedRange<Duration> {
        guard case .object = try node.json() else {
            let delay = try duration(node)
            return delay...delay
        }
        let mapping = try node.mapping("from", "to")
        let (from, to) = (try duration(mapping.required("from")), try duration(mapping.required("to")))
        guard from <= to else { throw node.problem("the delay ends before it begins") }
        return from...to
    }

    private static func duration(_ node: FixtureNode) throws(FixtureProblem) -> Duration {
        let value = try node.json()
        guard let duration = value.string.flatMap(Duration.init(text:)), (.zero...longestDelay).contains(duration)
        else { throw node.problem("\(value.text) is not a duration from 0s to 600s, such as 250ms or 2s") }
        return duration
    }

    /// How the response is sent; a range of delays is sampled.
    func transmission(_ generator: inout SplitMix64) -> Transmission {
        let spread = (delay.upperBound - delay.lowerBound) * Double.random(in: 0...1, using: &generator)
        return Transmission(delay: delay.lowerBound + spread, fault: fault)
    }

    var summary: String {
        var words: [String] = []
        if delay.upperBound > .zero {
            let (from, to) = (delay.lowerBound.text, delay.upperBound.text)
            words.append(from == to ? "delay \(from)" : "delay \(from) to \(to)")
        }
        switch fault {
        case .reset?: words.append("reset")
        case .empty?: words.append("empty reply")
        case .garbage?: words.append("garbage")
        case .truncated(let bytes)?: words.append("truncated to \(bytes) bytes of content")
        case .drip(let bytes, let pause)?: words.append("drip of \(bytes) bytes every \(pause.text)")
        case nil: break
        }
        return words.joined(separator: ", ")
    }
}

enum Occurrence: Sendable, Hashable {
    case always
    /// The call with that number, counted from 1.
    case call(Int)
    case every(Int)
    /// Each with that probability, drawn from a seed so that runs can be repeated.
    case probability(Double, seed: UInt64?)

    static let members = ["call", "every", "probability", "seed"]

    /// Reads `call`, `every` or `probability` with its `seed`; without any of them, every call is hit.
    init(_ mapping: FixtureMapping) throws(FixtureProblem) {
        let given = try mapping.one(of: "call", "every", "probability")
        let seed = mapping["seed"]
        if let seed, given?.name != "probability" {
            throw seed.nameProblem("a seed needs a probability, and there is none")
        }
        func value<Value>(
            _ node: FixtureNode, _ name: String, _ expected: String, _ read: (JSON) -> Value?
        ) throws(FixtureProblem) -> Value {
            let found = try node.json()
            guard let value = read(found) else { throw node.problem("\(name) is \(found.text); expected \(expected)") }
            return value
        }
        switch given {
        case ("probability", let node)?:
            let probability = try value(node, "probability", "a number from 0 to 1") {
                $0.number.map(\.double).flatMap { (0...1).contains($0) ? $0 : nil }
            }
            let seed = try seed.map { (node) throws(FixtureProblem) in
                try value(node, "seed", "a whole number from 0") { $0.int.flatMap(UInt64.init(exactly:)) }
            }
            self = .probability(probability, seed: seed)
        case (let name, let node)?:
            let count = try value(node, name, "a whole number from 1") { $0.int.flatMap { $0 > 0 ? $0 : nil } }
            self = name == "call" ? .call(count) : .every(count)
        case nil: self = .always
        }
    }

    var summary: String {
        switch self {
        case .always: "every call"
        case .call(let number): "call \(number)"
        case .every(let number): "one call in \(number)"
        case .probability: "a random call"
        }
    }
}

/// Counts matching calls, and decides which of them are hit.
struct CallCounter: CodedRecord {
    let occurrence: Occurrence
    private(set) var calls = 0
    private var dice: SplitMix64

    /// Creates a counter to read into, of which every call is hit.
    init() { self.init(.always, seed: 0) }

    /// - Parameter seed: the initial random state when the occurrence has no seed of its own.
    init(_ occurrence: Occurrence, seed: UInt64) {
        self.occurrence = occurrence
        let own: UInt64? = if case .probability(_, let own) = occurrence { own } else { nil }
        dice = SplitMix64(state: own ?? seed)
    }

    package mutating func code(_ coder: inout RecordCoder) {
        coder.member("calls", &calls)
        coder.member("owing", &isOwing, omitting: false)
        coder.member("dice", &dice)
    }

    /// Whether a call was due but something else took precedence: the next one is hit instead.
    private var isOwing = false

    /// Counts a call, and returns whether this call is hit, possibly in place of an earlier one.
    mutating func count() -> Bool {
        calls += 1
        if isHit() { isOwing = true }
        return isOwing
    }

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
