import Emulation
import JSON

/// Counts the bytes of a list in a response, so that a short request cannot ask for an unbounded response.
struct AnswerBound {
    /// The maximum number of bytes (ours).
    static let maximumBytes = 8 << 20

    private var bytes = 0

    /// - Throws: ``BloomreachFailure/bodyTooLarge`` (ours) if there is no room for another entry.
    mutating func add(_ entry: JSON) throws(BloomreachRefusal) {
        bytes += entry.bytes.count
        try BloomreachRefusal.require(
            bytes <= Self.maximumBytes, .bodyTooLarge,
            "the answer would be longer than \(Self.maximumBytes) bytes; expected an order of less")
    }
}
