import Wire

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
            delay = .zero...(.zero)
            fault = try Self.fault(word, node)
            return
        }
        let mapping = try node.mapping("delay", "reset", "empty", "garbage", "truncate", "drip")
        delay = try mapping["delay"].map(Self.range) ?? .zero...(.zero)
        var faults: [Transmission.Fault] = []
        for (name, value) in mapping.members where name != "delay" {
            if let fault = try Self.fault(name, value: value) { faults.append(fault) }
        }
        guard faults.count < 2 else {
            throw node.problem("an answer can be damaged in one way only, in addition to a delay")
        }
        fault = faults.first
        guard fault != nil || delay.upperBound > .zero else { throw node.problem("this fault has no effect") }
    }

    private static func fault(_ word: String, _ node: FixtureNode) throws(FixtureProblem) -> Transmission.Fault {
        switch word {
        case "reset": return .reset
        case "empty": return .empty
        case "garbage": return .garbage
        default:
            let known = ["reset", "empty", "garbage", "delay", "truncate", "drip"]
            throw node.problem("“\(word)” is not a fault\(Nearest.hint(to: word, among: known))")
        }
    }

    private static func fault(_ name: String, value: FixtureNode) throws(FixtureProblem) -> Transmission.Fault? {
        switch name {
        case "truncate": return .truncated(bytes: try count(value, from: 0))
        case "drip":
            let drip = try value.mapping("chunk", "every")
            return .drip(
                bytes: try count(drip.required("chunk"), from: 1), every: try duration(drip.required("every")))
        default: return try value.bool() ? try fault(name, value) : nil
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

    private static func count(_ node: FixtureNode, from minimum: Int) throws(FixtureProblem) -> Int {
        let count = try node.int()
        guard count >= minimum else { throw node.problem("\(count) is not a whole number from \(minimum)") }
        return count
    }

    /// How the response is sent; a range of delays is sampled.
    func transmission(_ generator: inout SplitMix64) -> Transmission {
        let spread = (delay.upperBound - delay.lowerBound) * Double.random(in: 0...1, using: &generator)
        return Transmission(delay: delay.lowerBound + spread, fault: fault)
    }

    /// The fault in words, for the journal.
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

extension Duration {
    /// In seconds, such as `0.25s`.
    fileprivate var text: String {
        let seconds = inSeconds
        return Int(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
    }
}
