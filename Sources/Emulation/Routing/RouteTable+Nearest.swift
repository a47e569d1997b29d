package import HTTPTypes

/// Finds the route that a wrong path was meant for.
///
/// The most common mistake is the base address: a prefix is dropped, doubled, or another vendor's. So paths are
/// compared segment by segment, and a surplus or missing segment at the start costs less than an unknown word.
extension RouteTable {
    /// An endpoint near a path that matched none.
    struct Neighbour: Sendable {
        /// The vendor's id.
        let vendor: String
        /// The route's id.
        let route: String
        let endpoint: Endpoint
        /// How much the path differs from the endpoint's.
        let distance: Int

        var text: String { "\(vendor) \(route): \(endpoint)" }
    }

    /// The endpoints closest to a method and path, to help people find their mistake.
    package func nearest(to method: HTTPRequest.Method, _ path: Substring, count: Int = 3) -> [String] {
        neighbours(of: method, path).prefix(count).map(\.text)
    }

    /// The intended endpoint, when a few letters or the base address are wrong; `nil` when none comes close.
    func closest(to method: HTTPRequest.Method, _ path: Substring) -> Neighbour? {
        var distance = PathDistance(path)
        return neighbours(of: method, path).prefix { $0.distance <= PathDistance.close }
            .first { distance.sharesWord(with: $0.endpoint.pattern) }
    }

    private func neighbours(of method: HTTPRequest.Method, _ path: Substring) -> [Neighbour] {
        var distance = PathDistance(path)
        var neighbours: [Neighbour] = []
        for member in members {
            for route in member.routes {
                for endpoint in route.endpoints {
                    neighbours.append(
                        Neighbour(
                            vendor: member.identity.id, route: route.id, endpoint: endpoint,
                            distance: distance.distance(to: endpoint.pattern)
                                + (endpoint.method == method ? 0 : PathDistance.otherMethod)))
                }
            }
        }
        return neighbours.sorted { ($0.distance, $0.text) < ($1.distance, $1.text) }
    }
}

/// How far a path is from path patterns, in steps that people are likely to take.
private struct PathDistance {
    static let otherMethod = 1
    /// Up to this distance, the pattern was plausibly meant.
    static let close = 8
    /// A difference in case.
    private static let otherCase = 1
    /// A letter inserted, deleted or replaced.
    private static let letter = 2
    private static let mostLetters = 3
    private static let otherWord = 9
    /// A segment inserted or missing at the start: the base address is wrong.
    private static let prefix = 3
    private static let segment = 6

    private let path: [Substring]
    /// The known costs of each segment and word.
    private var words: [Substring: [Int]] = [:]

    init(_ path: Substring) {
        // More segments than any route has cannot bring a path closer.
        self.path = path.split(separator: "/", maxSplits: 20)
    }

    /// The minimum cost of turning the path into one of the pattern.
    mutating func distance(to pattern: String) -> Int {
        let pattern = pattern.split(separator: "/")
        // The Wagner–Fischer algorithm, with segments as letters.
        var row = Array(repeating: 0, count: path.count + 1)
        for index in path.indices { row[index + 1] = row[index] + surplus(index, before: 0) }
        for (number, word) in pattern.enumerated() {
            var costs = costs(of: word)
            // A wrong prefix in place of the right one.
            if number == 0, !costs.isEmpty { costs[0] = min(costs[0], 2 * Self.prefix) }
            var diagonal = row[0]
            row[0] += Self.prefix
            for index in path.indices {
                let replaced = diagonal + costs[index]
                diagonal = row[index + 1]
                let lacking = row[index + 1] + Self.segment
                row[index + 1] = min(replaced, lacking, row[index] + surplus(index, before: number + 1))
            }
        }
        return row[path.count]
    }

    /// Whether the path has a word of the pattern, or nearly; versions do not count, since they are everywhere.
    mutating func sharesWord(with pattern: String) -> Bool {
        pattern.split(separator: "/").contains { word in
            !word.hasPrefix("{") && word.wholeMatch(of: /v[0-9]+/) == nil
                && costs(of: word).contains { $0 < Self.otherWord }
        }
    }

    /// The cost of a segment that the pattern does not have.
    private func surplus(_ index: Int, before number: Int) -> Int {
        let isDoubled = index > 0 && path[index] == path[index - 1]
        return number == 0 || isDoubled ? Self.prefix : Self.segment
    }

    /// The cost of each path segment in place of a pattern's word.
    private mutating func costs(of word: Substring) -> [Int] {
        if let known = words[word] { return known }
        let costs = path.map { word.hasPrefix("{") ? 0 : Self.difference($0, word) }
        words[word] = costs
        return costs
    }

    private static func difference(_ segment: Substring, _ word: Substring) -> Int {
        if segment == word { return 0 }
        guard abs(segment.utf8.count - word.utf8.count) <= mostLetters else { return otherWord }
        if segment.lowercased() == word.lowercased() { return otherCase }
        let letters = Nearest.distance(segment, word)
        return letters <= min(mostLetters, word.count / 2) ? letter * letters : otherWord
    }
}
