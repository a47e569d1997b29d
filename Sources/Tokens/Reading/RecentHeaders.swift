internal import JSON
internal import Synchronization

/// The headers that came last: the tokens of one signer have the same one byte for byte, so it is read once.
///
/// What a header says depends on its bytes and the permitted depth alone, so nobody can tell whether it was read anew.
final class RecentHeaders: Sendable {
    private struct Entry {
        let text: [UInt8]
        let depth: Int
        let part: ObjectPart
    }

    /// A place has a lock of its own, so that event loops seldom wait for each other.
    private final class Place: Sendable {
        let entry = Mutex<Entry?>(nil)
    }

    /// Those of the whole process.
    static let shared = RecentHeaders()

    /// Enough for the signers that a server has to do with at a time.
    private static let placeCount = 32
    /// The longest header that is kept, in bytes; one with a certificate in it is none that saves anything.
    private static let longest = 512

    private let places = (0..<placeCount).map { _ in Place() }

    /// The header in that text.
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

    /// Bytes from all over the header, since the names of keys may be all that differs.
    private static func place(of text: ArraySlice<UInt8>) -> Int {
        var hash = UInt(text.count)
        for index in stride(from: text.startIndex, to: text.endIndex, by: 6) { hash = hash &* 31 &+ UInt(text[index]) }
        return Int(hash % UInt(placeCount))
    }
}
