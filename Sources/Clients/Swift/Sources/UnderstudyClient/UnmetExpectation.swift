import Foundation

/// The journal does not hold the calls that a test expects.
public struct UnmetExpectation: Error, Sendable, Hashable {
    /// How many calls there are, the bounds, and the nearest calls with what each of them missed.
    public let verdict: Control.Unfulfilled
}

extension UnmetExpectation: CustomStringConvertible, LocalizedError {
    /// What was expected and found, then the nearest calls and what each missed.
    public var description: String {
        let calls = verdict.nearest.flatMap { call in
            ["  #\(call.id) \(call.summary)"]
                + call.missed.map { miss in
                    "      \(miss.condition): expected \(miss.expected), found \(miss.found ?? "nothing")"
                }
        }
        return ([verdict.message] + calls).joined(separator: "\n")
    }

    /// The same words, for frameworks that ask for these.
    public var errorDescription: String? { description }
}
