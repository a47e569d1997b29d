package import HTTPTypes
import Synchronization

/// Finds the routes that a wrong path was probably meant for; computed only on reading.
///
/// The most common mistake is the base address: a prefix is dropped, doubled, or another vendor's. So paths are
/// compared segment by segment, and a surplus or missing segment at the start costs less than an unknown word.
public final class RouteGuide: Sendable {
    private struct Question: Hashable {
        let method: HTTPRequest.Method
        let path: [PathWord]
    }

    private struct Memory {
        var index: RouteIndex?
        var answers: [Question: RouteIndex.Answer] = [:]
    }

    /// A journal repeats the same lost calls, and each search visits every route.
    private static let mostKept = 4096
    private static let longestKept = 20

    private let members: [RouteTable.Member]
    private let memory = Mutex(Memory())

    init(_ members: [RouteTable.Member]) {
        self.members = members
    }

    /// The three closest endpoints, each as `VENDOR ROUTE: METHOD PATH`, or the first of them.
    package func nearest(
        to method: HTTPRequest.Method, _ path: Substring, count: Int = RouteIndex.mostNearest
    ) -> [String] {
        let (index, answer) = answer(to: method, path)
        return answer.nearest.prefix(count).map { index.rows[$0].neighbour.text }
    }

    /// The intended endpoint, when a few letters or the base address are wrong; `nil` when none comes close.
    func closest(to method: HTTPRequest.Method, _ path: Substring) -> RouteTable.Neighbour? {
        let (index, answer) = answer(to: method, path)
        return answer.meant.map { index.rows[$0].neighbour }
    }

    private func answer(to method: HTTPRequest.Method, _ path: Substring) -> (RouteIndex, RouteIndex.Answer) {
        let index = memory.withLock { memory in
            let index = memory.index ?? RouteIndex(members)
            memory.index = index
            return index
        }
        let question = Question(method: method, path: index.essence(of: path))
        if let known = memory.withLock({ $0.answers[question] }) { return (index, known) }
        let answer = index.answer(to: method, question.path)
        guard question.path.count <= Self.longestKept else { return (index, answer) }
        memory.withLock { memory in
            if memory.answers.count >= Self.mostKept { memory.answers = [:] }
            memory.answers[question] = answer
        }
        return (index, answer)
    }
}

extension RouteTable {
    /// An endpoint near a path that matched none.
    struct Neighbour: Sendable {
        let route: String
        /// The endpoint for people.
        let text: String
        fileprivate let endpoint: Endpoint

        fileprivate init(vendor: String, route: String, endpoint: Endpoint) {
            (self.route, self.endpoint) = (route, endpoint)
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
        /// The closest ones, closest first.
        var nearest: [Int] = []
        var meant: Int?
    }

    static let mostNearest = 3
    private static let otherMethod = 1
    /// Up to this distance, the endpoint was plausibly meant.
    private static let close = 8

    let rows: [Row]
    /// Each path once, with the numbers of its words: several endpoints have the same.
    private let paths: [[Int]]
    private let words: [PathWord]
    /// The words once more, to find equal ones.
    private let known: Set<PathWord>

    init(_ members: [RouteTable.Member]) {
        let neighbours = members.flatMap { member in
            member.routes.flatMap { route in
                route.endpoints.map {
                    RouteTable.Neighbour(vendor: member.identity.id, route: route.id, endpoint: $0)
                }
            }
        }
        var (words, numbers): ([PathWord], [Substring: Int]) = ([], [:])
        var (paths, places): ([[Int]], [[Int]: Int]) = ([], [:])
        rows = neighbours.sorted { $0.text < $1.text }.map { neighbour in
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
            return count.isMultiple(of: 2) ? PathWord.strangers.0 : PathWord.strangers.1
        }
    }

    func answer(to method: HTTPRequest.Method, _ path: [PathWord]) -> Answer {
        var distance = PathDistance(path, to: words)
        let steps = paths.map { distance.distance(to: $0) }
        var answer = Answer()
        var distances: [Int] = []
        var leastMeant = Self.close + 1
        for number in rows.indices {
            let path = rows[number].path
            if distances.count == Self.mostNearest, steps[path] >= max(distances[2], leastMeant) { continue }
            let isSameMethod = rows[number].neighbour.endpoint.method == method
            let steps = steps[path] + (isSameMethod ? 0 : Self.otherMethod)
            let place = distances.firstIndex { steps < $0 } ?? distances.count
            if place < Self.mostNearest {
                distances.insert(steps, at: place)
                answer.nearest.insert(number, at: place)
                if distances.count > Self.mostNearest {
                    distances.removeLast()
                    answer.nearest.removeLast()
                }
            }
            if steps < leastMeant, distance.sharesWord(with: paths[path]) {
                (leastMeant, answer.meant) = (steps, number)
            }
        }
        return answer
    }
}

private struct PathWord: Sendable, Hashable {
    let bytes: [UInt8]
    let lowercase: [UInt8]
    /// Which bytes it has, modulo 64.
    let letters: UInt64
    /// Whether any segment stands in its place.
    let isParameter: Bool
    /// Versions such as `v1` do not make a path similar, since they are everywhere.
    let isVersion: Bool

    /// Two that resemble no word, nor each other.
    static let strangers = (PathWord("{}"), PathWord("{?}"))

    init(_ text: Substring) {
        bytes = Array(text.utf8)
        lowercase = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        letters = bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
        isParameter = bytes.first == UInt8(ascii: "{")
        let isNumbered = bytes.count > 1 && bytes.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        isVersion = isNumbered && bytes[0] == UInt8(ascii: "v")
    }
}

/// How far a path is from path patterns, in steps that people are likely to take.
private struct PathDistance {
    /// A difference in case.
    private static let otherCase = 1
    /// A letter inserted, deleted or replaced.
    private static let letter = 2
    private static let mostLetters = 3
    private static let otherWord = 9
    /// A segment inserted or missing at the start: the base address is wrong.
    private static let prefix = 3
    private static let segment = 6

    /// The number of the path's segments.
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

    /// Whether the path has a word of the pattern, or nearly.
    func sharesWord(with pattern: [Int]) -> Bool {
        pattern.contains { word in
            !words[word].isParameter && !words[word].isVersion
                && costs[word * count..<(word + 1) * count].contains { $0 < Self.otherWord }
        }
    }

    /// Whether one may have been meant by the other.
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
