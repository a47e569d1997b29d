package import HTTPTypes
import JSON
import Synchronization

/// Finds the routes that a wrong path was probably meant for; computed only on reading.
///
/// The most common mistake is the base address: a prefix is dropped, doubled, or another vendor's. So paths are
/// compared segment by segment, and a surplus or missing segment at the start costs less than an unknown word.
public final class RouteGuide: Sendable {
    private struct Question: Hashable {
        let method: HTTPRequest.Method
        let path: [PathWord]
        let owner: String?
    }

    /// A journal repeats the same lost calls, and each search visits every route.
    private static let mostKept = 4096
    private static let longestKept = 20

    private let members: [RouteTable.Member]
    private let made = Mutex<RouteIndex?>(nil)
    private let answers = Mutex<[Question: RouteIndex.Answer]>([:])

    init(_ members: [RouteTable.Member]) { self.members = members }

    /// The closest endpoints, at most three, each as `VENDOR ROUTE: METHOD PATH`.
    ///
    /// - Parameter owner: the vendor that owns the path: others are suggested when nothing of it comes close.
    package func nearest(
        to method: HTTPRequest.Method, _ path: Substring, of owner: String? = nil, count: Int = RouteIndex.mostNearest
    ) -> [String] {
        let (index, answer) = answer(to: method, path, of: owner)
        return answer.nearest.prefix(count).map { index.rows[$0].neighbour.text }
    }

    /// The intended endpoint, when a few letters or the base address are wrong; `nil` when none comes close.
    func closest(to method: HTTPRequest.Method, _ path: Substring, of owner: String? = nil) -> RouteTable.Neighbour? {
        let (index, answer) = answer(to: method, path, of: owner)
        return answer.meant.map { index.rows[$0].neighbour }
    }

    /// What a path has too much to be that of an endpoint, such as “/v1 twice”; `nil` for other mistakes.
    func surplus(in path: Substring) -> String? { index.surplus(in: path) }

    private var index: RouteIndex { made.once { RouteIndex(members) } }

    private func answer(
        to method: HTTPRequest.Method, _ path: Substring, of owner: String?
    ) -> (RouteIndex, RouteIndex.Answer) {
        let index = index
        let question = Question(method: method, path: index.essence(of: path), owner: owner)
        if let known = answers.withLock({ $0[question] }) { return (index, known) }
        let answer = index.answer(to: method, question.path, of: owner)
        guard question.path.count <= Self.longestKept else { return (index, answer) }
        answers.withLock { answers in
            if answers.count >= Self.mostKept { answers = [:] }
            answers[question] = answer
        }
        return (index, answer)
    }
}

extension RouteTable {
    struct Neighbour: Sendable {
        let route: String
        let text: String
        fileprivate let vendor: String
        fileprivate let endpoint: Endpoint

        fileprivate init(vendor: String, route: String, endpoint: Endpoint) {
            (self.vendor, self.route, self.endpoint) = (vendor, route, endpoint)
            text = "\(vendor) \(route): \(endpoint)"
        }
    }
}

/// Every endpoint in the order of its text, with its path in numbered words.
private struct RouteIndex: Sendable {
    struct Row: Sendable {
        let neighbour: RouteTable.Neighbour
        let path: Int
    }

    /// Endpoints by their numbers in ``rows``.
    struct Answer: Sendable {
        var nearest: [Int] = []
        var meant: Int?
    }

    static let mostNearest = 3
    private static let otherMethod = 1
    /// Up to this distance, the endpoint was plausibly meant.
    private static let close = 8
    /// Up to this one, it is worth a look.
    private static let near = 16

    let rows: [Row]
    /// Each path once, with the numbers of its words: several endpoints have the same.
    private let paths: [[Int]]
    private let words: [PathWord]
    /// The words once more, to find equal ones.
    private let known: Set<PathWord>

    init(_ members: [RouteTable.Member]) {
        let neighbours = members.flatMap { member in
            member.routes.flatMap { route in
                route.endpoints.map { RouteTable.Neighbour(vendor: member.identity.id, route: route.id, endpoint: $0) }
            }
        }
        var (words, numbers): ([PathWord], [Substring: Int]) = ([], [:])
        var (paths, places): ([[Int]], [[Int]: Int]) = ([], [:])
        // Of equally near ones, that without parameters: they fit anything.
        let order = neighbours.map { ($0.text.utf8.count { $0 == UInt8(ascii: "{") }, $0) }
        rows = order.sorted { ($0.0, $0.1.text) < ($1.0, $1.1.text) }.map { _, neighbour in
            let path = neighbour.endpoint.pattern.split(separator: "/").map { word in
                if let known = numbers[word] { return known }
                numbers[word] = words.count
                words.append(PathWord(word))
                return words.count - 1
            }
            if places[path] == nil {
                places[path] = paths.count
                paths.append(path)
            }
            return Row(neighbour: neighbour, path: places[path] ?? 0)
        }
        (self.paths, self.words, known) = (paths, words, Set(words))
    }

    /// The path's segments, with those that resemble no word replaced: ids differ, and lead to the same answers.
    func essence(of path: Substring) -> [PathWord] {
        var strange: Substring?
        var count = 0
        // More segments than any route has cannot bring a path closer.
        return path.split(separator: "/", maxSplits: 20).map { segment in
            let own = PathWord(segment)
            if known.contains(own) || words.contains(where: { PathDistance.areSimilar(own, $0) }) {
                strange = nil
                return own
            }
            // One that repeats the segment before it stays the same as that one.
            if segment != strange { count += 1 }
            strange = segment
            return count.isMultiple(of: 2) ? PathWord.unknown.0 : PathWord.unknown.1
        }
    }

    func answer(to method: HTTPRequest.Method, _ path: [PathWord], of owner: String?) -> Answer {
        var distance = PathDistance(path, to: words)
        let steps = paths.map { distance.distance(to: $0) }
        let isNear = paths.indices.map { steps[$0] <= Self.near && distance.sharesWord(with: paths[$0]) }
        var near: [(distance: Int, row: Int)] = []
        for number in rows.indices where isNear[rows[number].path] {
            let own = rows[number].neighbour.endpoint.method
            // Nobody mistakes a browser's question for the call itself.
            if own == .options, method != .options { continue }
            near.append((steps[rows[number].path] + (own == method ? 0 : Self.otherMethod), number))
        }
        func isOwn(_ row: Int) -> Bool { rows[row].neighbour.vendor == owner }
        if near.contains(where: { $0.distance <= Self.close && isOwn($0.row) }) { near.removeAll { !isOwn($0.row) } }
        let nearest = near.sorted { ($0.distance, $0.row) < ($1.distance, $1.row) }.prefix(Self.mostNearest)
        return Answer(
            nearest: nearest.map(\.row), meant: nearest.first.flatMap { $0.distance <= Self.close ? $0.row : nil })
    }

    func surplus(in path: Substring) -> String? {
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let plain = segments.filter { !$0.isEmpty }
        // More segments than any route has.
        guard plain.count <= 20 else { return nil }
        if plain.count < segments.count, isKnown(plain) {
            let next = segments.drop { !$0.isEmpty }.first { !$0.isEmpty }
            return "a slash too many, " + (next.map { "before \($0)" } ?? "at its end")
        }
        for start in plain.indices {
            for end in plain.indices where start < end && 2 * end - start <= plain.count {
                let part = plain[start..<end]
                if plain[end...].starts(with: part), isKnown(Array(plain[..<start] + plain[end...])) {
                    return "/\(part.joined(separator: "/")) twice"
                }
            }
        }
        return nil
    }

    private func isKnown(_ segments: [Substring]) -> Bool {
        paths.contains { path in
            path.elementsEqual(segments) { words[$0].isParameter || words[$0].bytes.elementsEqual($1.utf8) }
        }
    }
}

private struct PathWord: Sendable, Hashable {
    let bytes: [UInt8]
    let lowercase: [UInt8]
    /// Which bytes it has, modulo 64.
    let letters: UInt64
    /// Whether any segment matches it.
    let isParameter: Bool
    /// Versions such as `v1` do not make a path similar, since they are everywhere.
    let isVersion: Bool

    /// Two that resemble no word, nor each other.
    static let unknown = (PathWord("{}"), PathWord("{?}"))

    init(_ text: Substring) {
        bytes = Array(text.utf8)
        lowercase = bytes.map(\.lowercased)
        letters = bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
        isParameter = bytes.first == UInt8(ascii: "{")
        isVersion = bytes.count > 1 && bytes[0] == UInt8(ascii: "v") && bytes.dropFirst().allSatisfy { $0.isDigit }
    }
}

/// How far a path is from path patterns, in steps that people are likely to take.
private struct PathDistance {
    private static let otherCase = 1
    /// A letter inserted, deleted or replaced.
    private static let letter = 2
    private static let mostLetters = 3
    private static let otherWord = 9
    /// A segment inserted or missing at the start: the base address is wrong.
    private static let prefix = 3
    private static let segment = 6

    private let count: Int
    /// The cost of each segment that a pattern does not have, at its start and elsewhere.
    private let surplus: (atStart: [Int], elsewhere: [Int])
    /// The cost of each segment in place of each word, word by word.
    private let costs: [Int]
    private let words: [PathWord]
    private var row: [Int]

    init(_ path: [PathWord], to words: [PathWord]) {
        count = path.count
        self.words = words
        var costs = Array(repeating: 0, count: words.count * path.count)
        for place in costs.indices where !words[place / count].isParameter {
            costs[place] = Self.difference(path[place % count], words[place / count])
        }
        self.costs = costs
        let elsewhere = path.indices.map { index in
            index > 0 && path[index].bytes == path[index - 1].bytes ? Self.prefix : Self.segment
        }
        surplus = (Array(repeating: Self.prefix, count: path.count), elsewhere)
        row = Array(repeating: 0, count: path.count + 1)
    }

    /// The minimum cost of turning the path into one of the pattern.
    mutating func distance(to pattern: [Int]) -> Int {
        // The Wagner–Fischer algorithm, with segments as letters.
        row[0] = 0
        for index in 0..<count { row[index + 1] = row[index] + surplus.atStart[index] }
        for (number, word) in pattern.enumerated() {
            var diagonal = row[0]
            row[0] += Self.prefix
            for index in 0..<count {
                var cost = costs[word * count + index]
                // A wrong prefix in place of the right one.
                if number == 0, index == 0 { cost = min(cost, 2 * Self.prefix) }
                let replaced = diagonal + cost
                diagonal = row[index + 1]
                row[index + 1] = min(replaced, diagonal + Self.segment, row[index] + surplus.elsewhere[index])
            }
        }
        return row[count]
    }

    func sharesWord(with pattern: [Int]) -> Bool {
        pattern.contains { word in
            !words[word].isParameter && !words[word].isVersion
                && costs[word * count..<(word + 1) * count].contains { $0 < Self.otherWord }
        }
    }

    /// Whether either may be a typo for the other.
    static func areSimilar(_ segment: PathWord, _ word: PathWord) -> Bool {
        !word.isParameter && difference(segment, word) < otherWord
    }

    private static func difference(_ segment: PathWord, _ word: PathWord) -> Int {
        if segment.bytes == word.bytes { return 0 }
        if segment.lowercase == word.lowercase { return otherCase }
        let most = min(mostLetters, word.bytes.count / 2)
        guard abs(segment.bytes.count - word.bytes.count) <= most,
            // Each letter that only one of them has takes a step.
            (segment.letters & ~word.letters).nonzeroBitCount <= most,
            (word.letters & ~segment.letters).nonzeroBitCount <= most
        else { return otherWord }
        let letters = Nearest.distance(segment.bytes, word.bytes)
        return letters <= most ? letter * letters : otherWord
    }
}
