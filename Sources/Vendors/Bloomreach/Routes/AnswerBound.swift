import Emulation
import JSON

/// Counts what a list in an answer takes, so that a short request cannot ask for an answer without end.
struct AnswerBound {
    /// The most bytes (ours).
    static let maximumBytes = 8 << 20

    private var bytes = 0

    /// - Throws: ``BloomreachFailure/bodyTooLarge`` (ours) when there is no room for one more entry.
    mutating func add(_ entry: JSON) throws(BloomreachRefusal) {
        bytes += entry.bytes.count
        guard bytes <= Self.maximumBytes else {
            throw Refusal(
                .bodyTooLarge,
                because: "the answer would be longer than \(Self.maximumBytes) bytes; expected an order of less")
        }
    }
}
