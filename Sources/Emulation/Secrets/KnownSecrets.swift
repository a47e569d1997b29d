import JSON
import Synchronization
import Tokens
import Wire

/// Strings that must not be shown, found in any text in one pass.
///
/// A long one is found anywhere, including inside other words. A short one, or one that could be a word,
/// counts only as a whole value, since it occurs in half of all texts by chance.
final class KnownSecrets: Sendable {
    /// ours: a shorter string is a secret only in members with a secret's name.
    static let shortest = 6
    /// ours: strings of this length are found inside others; the first bytes index them.
    static let window = 8
    /// ours: letters alone do not count as a word beyond this length.
    private static let longestWord = 15

    /// ours: only this many bytes of a longer one are hidden; the rest is worthless without them.
    private static let longest = 256

    /// What is searched for inside texts, sorted by bytes.
    private let patterns: [[UInt8]]
    /// For each pattern, the index of the longest other pattern that is its prefix; -1 for none.
    private let beginnings: [Int]
    /// A few bits of each start, checked first: nearly all positions fail.
    private let filter: StartFilter
    /// Secrets that count only as whole values.
    let wholes: Set<[UInt8]>
    let texts: Set<String>

    init(_ texts: some Sequence<String>) {
        self.texts = Set(texts)
        var (patterns, wholes): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        for text in self.texts {
            let bytes = Array(text.utf8.prefix(Self.longest))
            guard bytes.count >= Self.shortest else { continue }
            if Self.isFoundInside(bytes) { patterns.insert(bytes) } else { wholes.insert(bytes) }
        }
        self.wholes = wholes
        self.patterns = patterns.sorted { $0.lexicographicallyPrecedes($1) }
        beginnings = Self.beginnings(of: self.patterns)
        filter = StartFilter(patterns.map(Self.start))
    }

    private static func beginnings(of patterns: [[UInt8]]) -> [Int] {
        // A pattern's prefixes sort before it, and everything between has the same prefix.
        var (beginnings, open): ([Int], [Int]) = ([], [])
        for (index, pattern) in patterns.enumerated() {
            while let last = open.last, !pattern.starts(with: patterns[last]) { open.removeLast() }
            beginnings.append(open.last ?? -1)
            open.append(index)
        }
        return beginnings
    }

    var count: Int { texts.count }

    private static func isFoundInside(_ bytes: [UInt8]) -> Bool {
        let isWord = bytes.allSatisfy(\.isLetter)
        return bytes.count >= window && !(isWord && bytes.count <= longestWord)
    }

    private static func start(_ bytes: [UInt8]) -> UInt64 { bytes.prefix(window).reduce(0) { $0 << 8 | UInt64($1) } }

    func find(in bytes: UnsafeBufferPointer<UInt8>, _ found: inout [Range<Int>]) {
        guard !patterns.isEmpty, bytes.count >= Self.window else { return }
        var start: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            start = start << 8 | UInt64(byte)
            guard index >= Self.window - 1, filter.mayHold(start) else { continue }
            let first = index - Self.window + 1
            if let length = longestMatch(bytes[first...]), !isPartOfNumber(first..<(first + length), bytes) {
                found.append(first..<(first + length))
            }
        }
    }

    /// The length of the longest pattern that the text begins with; `nil` when there is none.
    ///
    /// A binary search: thousands of passwords may share a beginning.
    private func longestMatch(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var (low, high) = (0, patterns.count)
        while low < high {
            let middle = (low + high) / 2
            if text.lexicographicallyPrecedes(patterns[middle]) { high = middle } else { low = middle + 1 }
        }
        guard low > 0 else { return nil }
        let common = zip(patterns[low - 1], text).prefix { $0 == $1 }.count
        var candidate = low - 1
        while candidate >= 0 {
            if patterns[candidate].count <= common { return patterns[candidate].count }
            candidate = beginnings[candidate]
        }
        return nil
    }

    /// Whether a run of digits is part of a larger number by chance.
    private func isPartOfNumber(_ place: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes[place].allSatisfy(\.isDigit) else { return false }
        return place.lowerBound > 0 && bytes[place.lowerBound - 1].isDigit
            || place.upperBound < bytes.count && bytes[place.upperBound].isDigit
    }
}

/// Rejects nearly every position that starts no pattern, without a table lookup.
private struct StartFilter: Sendable {
    private let bits: [UInt64]

    init(_ starts: [UInt64]) {
        // Sixteen bits per start leave one position in sixteen to the table.
        var words = 16
        while words * 64 < starts.count * 16 { words *= 2 }
        var bits = [UInt64](repeating: 0, count: words)
        for start in starts {
            let bit = Self.bit(start, of: words)
            bits[bit >> 6] |= 1 << UInt64(bit & 63)
        }
        self.bits = bits
    }

    func mayHold(_ start: UInt64) -> Bool {
        let bit = Self.bit(start, of: bits.count)
        return bits[bit >> 6] >> UInt64(bit & 63) & 1 == 1
    }

    private static func bit(_ start: UInt64, of words: Int) -> Int {
        Int(truncatingIfNeeded: (start &* 0x9E37_79B9_7F4A_7C15) >> 32) & (words * 64 - 1)
    }
}

/// The known secrets of a sandbox: those of the fixtures, and those its states have learned since.
///
/// Built on reading, and only extended afterwards: checking for new secrets costs one lock per vendor.
final class SecretIndex: Sendable {
    private struct Content {
        var layers: [KnownSecrets] = []
        var marks: [SecretMark?] = []
        var count = 0
    }

    /// ours: above this number all are collected again, dropping those that the states have forgotten.
    private static let capacity = 400_000

    private let content = Mutex(Content())

    /// The secrets that the vendors have learned, in layers, each several times as large as the next.
    func layers(of vendors: [any AnySandboxedVendor]) -> [KnownSecrets] {
        content.withLock { content in
            if content.marks.count != vendors.count || content.count > Self.capacity {
                content = Content(marks: vendors.map { _ in nil })
            }
            for (index, vendor) in vendors.enumerated() {
                guard let (texts, mark) = vendor.secrets(since: content.marks[index]) else { continue }
                content.marks[index] = mark
                Self.add(texts, &content)
            }
            return content.layers
        }
    }

    private static func add(_ texts: [String], _ content: inout Content) {
        if texts.isEmpty { return }
        content.count += texts.count
        content.layers.append(KnownSecrets(texts))
        // Each secret moves only a few times, in whatever order they arrive.
        while let last = content.layers.last, let other = content.layers.dropLast().last, other.count < 2 * last.count {
            content.layers.removeLast(2)
            content.layers.append(KnownSecrets(other.texts.union(last.texts)))
        }
    }
}

extension String {
    /// A secret as it is, in base64, and as form-decoding changes it.
    fileprivate var spellings: [String] {
        let bytes = Array(utf8)
        let spellings = [self, Base64.encode(bytes), Base64URL.encode(bytes)]
        guard bytes.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }) else { return spellings }
        let decoded = PercentEncoding.decode(replacing("+", with: " ")[...]).map(String.init)
        return spellings + [decoded].compactMap(\.self)
    }
}

/// The secret and public strings of the fixtures; combined on reading.
final class FixtureSecrets: Sendable {
    private let vendors: [any AnyLoadedVendor]
    private let made = Mutex<(secrets: KnownSecrets, published: Set<String>)?>(nil)

    init(of vendors: [any AnyLoadedVendor]) { self.vendors = vendors }

    var texts: (secrets: KnownSecrets, published: Set<String>) {
        made.once {
            let secrets = KnownSecrets(vendors.flatMap(\.secretTexts).flatMap(\.spellings))
            return (secrets, published: Set(vendors.flatMap { $0.samples.map(\.value) }))
        }
    }
}

/// The secrets that a state has learned, such as passwords of registered users, in the order it learned them.
///
/// Replaced secrets stay: journals show what was sent before. Readers ask only for secrets added since their last read,
/// so a read without new ones costs nothing.
public struct SecretLedger: Sendable {
    /// ours: beyond this number the older half is dropped, so that a load test cannot exhaust the memory.
    private static let capacity = 100_000

    private var entries: [(number: Int, text: String)] = []

    public init() {}

    public mutating func add(_ text: String) {
        if entries.count >= Self.capacity { entries.removeFirst(Self.capacity / 2) }
        entries.append((Generation.next(), text))
    }

    var latest: Int { entries.last?.number ?? 0 }

    func texts(after number: Int) -> [String] { entries.reversed().prefix { $0.number > number }.map(\.text) }
}

/// How much of a vendor's ledger in a sandbox has been read: up to which secret of which state.
public struct SecretMark: Hashable, Sendable {
    let era: Int
    let number: Int
}
