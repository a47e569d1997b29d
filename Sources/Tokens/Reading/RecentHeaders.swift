internal import JSON
internal import Synchronization

/// A cache of recent headers: tokens of one signer share theirs byte for byte, so it is parsed once.
///
/// The result depends only on the header's bytes and the nesting limit, so caching is invisible.
final class RecentHeaders: Sendable {
    private struct Entry {
        let text: [UInt8]
        let depth: Int
        let part: ObjectPart
    }

    /// One lock per slot, so that event loops seldom wait for each other.
    private final class Place: Sendable {
        let entry = Mutex<Entry?>(nil)
    }

    /// The cache of the process.
    static let shared = RecentHeaders()

    /// Enough for the signers that a server deals with at a time.
    private static let placeCount = 32
    /// The longest header to keep, in bytes; one that contains a certificate is not worth it.
    private static let longest = 512

    private let places = (0..<placeCount).map { _ in Place() }

    func header(_ text: ArraySlice<UInt8>, depth: Int) -> ObjectPart {
        guard text.count <= Self.longest else { return ObjectPart(text, depth: depth) }
        let place = places[Self.place(of: text)]
        let known = place.entry.withLock { entry -> ObjectPart? in
            guard let entry, entry.depth == depth, text.hasSameBytes(as: entry.text[...]) else { return nil }
            return entry.part
        }
        if let known { return known }
        let entry = Entry(text: Array(text), depth: depth, part: ObjectPart(text, depth: depth))
        place.entry.withLock { $0 = entry }
        return entry.part
    }

    /// Samples the whole header, since headers may differ only in the key's name.
    private static func place(of text: ArraySlice<UInt8>) -> Int {
        var hash = UInt(text.count)
        for index in stride(from: text.startIndex, to: text.endIndex, by: 6) { hash = hash &* 31 &+ UInt(text[index]) }
        return Int(hash % UInt(placeCount))
    }
}
