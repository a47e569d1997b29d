import Emulation
import JSON

/// A time in content: Unix seconds, or a duration that counts from when a sandbox first answers with content (ours).
///
/// The second keeps fixtures fresh in every year: an inbox whose messages all expired in the past would be empty.
enum ContentTime: Sendable, Hashable {
    /// Unix seconds, as they were written.
    case at(JSONNumber)
    /// Seconds since the sandbox began; negative for what came before.
    case after(seconds: Double)

    /// Reads a number, or a text such as `30d` or `-90s`.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        guard let text = try node.json().string else {
            _ = try node.moment()
            // What the moment was read from is a number.
            self = .at(try node.json().number ?? JSONNumber(0))
            return
        }
        guard let duration = Duration(text: text) else {
            throw node.problem("“\(text)” is neither Unix seconds nor a duration such as 30d or -90s")
        }
        // Nobody is told less than a millisecond, and so it is written without an exponent.
        self = .after(seconds: (duration.inSeconds * 1000).rounded() / 1000)
    }

    /// Unix seconds in a sandbox that began at that moment, to the millisecond.
    func number(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(((start.unixSeconds + seconds) * 1000).rounded() / 1000)
        }
    }

    /// The same without fraction, rounded down.
    func whole(since start: Moment) -> JSONNumber {
        switch self {
        case .at(let number): number
        case .after(let seconds): JSONNumber(Moment(unixSeconds: start.unixSeconds + seconds).wholeSeconds)
        }
    }

    /// The time as it stands in a fixture.
    var json: JSON {
        switch self {
        case .at(let number): .number(number)
        case .after(let seconds): .string("\(JSONNumber(seconds))s")
        }
    }
}
