import Emulation
import JSON

/// A time in content: Unix seconds, or a duration since a sandbox first served content (ours).
///
/// Durations keep fixtures valid in any year: an inbox whose messages had all expired would be empty.
enum ContentTime: RecordValue, Sendable, Hashable {
    /// Unix seconds, as written.
    case at(JSONNumber)
    /// Seconds since the sandbox began; negative before that.
    case after(seconds: Double)

    static func read(_ node: FixtureNode) throws(FixtureProblem) -> ContentTime { try ContentTime(node) }

    /// Reads a number, or a text such as `30d` or `-90s`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        guard let text = try node.json().string else {
            _ = try node.moment()
            // A moment is always read from a number.
            self = .at(try node.json().number ?? JSONNumber(0))
            return
        }
        guard let duration = Duration(text: text) else {
            throw node.problem("“\(text)” is neither Unix seconds nor a duration such as 30d or -90s")
        }
        // Times are exposed to the millisecond; rounding also avoids an exponent in the text.
        self = .after(seconds: (duration.inSeconds * 1000).rounded() / 1000)
    }

    /// Unix seconds in a sandbox that began at `start`, to the millisecond.
    func number(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(((start.unixSeconds + seconds) * 1000).rounded() / 1000)
        }
    }

    /// The same in whole seconds, rounded down.
    func whole(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(Moment(unixSeconds: start.unixSeconds + seconds).wholeSeconds)
        }
    }

    var written: JSON {
        switch self {
        case .at(let number): .number(number)
        case .after(let seconds): .string("\(JSONNumber(seconds))s")
        }
    }
}
