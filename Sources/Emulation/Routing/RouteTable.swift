public import HTTPTypes
import Synchronization
import Wire

/// Maps paths to vendors: the routes of all vendors and the prefixes they own.
public struct RouteTable: Sendable {
    public enum Match: Sendable {
        /// The route with that index, of the vendor with that index.
        case route(vendor: Int, route: Int, PathParameters)
        case otherMethods(vendor: Int, [HTTPRequest.Method])
        /// The path is under a prefix of the vendor, which has no route there.
        case unknown(vendor: Int)
        case unowned

        public var vendor: Int? {
            switch self {
            case .route(let vendor, _, _), .otherMethods(let vendor, _), .unknown(let vendor): vendor
            case .unowned: nil
            }
        }
    }

    package struct Member: Sendable {
        package let identity: VendorIdentity
        package let routes: [(id: String, endpoints: [Endpoint])]

        package init(identity: VendorIdentity, routes: [(id: String, endpoints: [Endpoint])]) {
            (self.identity, self.routes) = (identity, routes)
        }
    }

    private let members: [Member]
    private let ownGuide: RouteGuide
    private let added = AddedRoutes()

    private struct Ending {
        let vendor: Int
        let method: HTTPRequest.Method
        let route: Int
    }

    private struct Literal {
        let path: String
        var endings: [Ending]
    }

    /// Literal paths without parameters, by their length in bytes: most requests match one, and then nothing needs
    /// splitting. Lengths are nearly unique, so this is faster than hashing.
    private var literals: [[Literal]] = []
    private var prefixes: [(segments: [Substring], vendor: Int)] = []
    private let tries: [LazyTrie]
    /// Recent matches by path, with the request's method: clients repeat the same paths.
    private let recentMatches = RecentReadings<(method: HTTPRequest.Method, match: Match)>()

    package init(_ members: [Member]) {
        self.members = members
        ownGuide = RouteGuide(members)
        tries = members.map(LazyTrie.init)
        for (index, member) in members.enumerated() {
            prefixes += member.identity.prefixes.map { ($0.split(separator: "/"), index) }
            for (route, listed) in member.routes.enumerated() {
                for endpoint in listed.endpoints where !endpoint.pattern.utf8.contains(UInt8(ascii: "{")) {
                    add(Ending(vendor: index, method: endpoint.method, route: route), at: endpoint.pattern)
                }
            }
        }
    }

    private mutating func add(_ ending: Ending, at path: String) {
        let length = path.utf8.count
        while literals.count <= length { literals.append([]) }
        if let place = literals[length].firstIndex(where: { $0.path == path }) {
            literals[length][place].endings.append(ending)
        } else {
            literals[length].append(Literal(path: path, endings: [ending]))
        }
    }

    private func ending(_ method: HTTPRequest.Method, _ path: Substring) -> Ending? {
        let length = path.utf8.count
        guard length < literals.count else { return nil }
        for index in literals[length].indices where literals[length][index].path == path {
            return literals[length][index].endings.first { $0.method == method }
        }
        return nil
    }

    /// The routes of a vendor are part of its code, so a start does without this, and a test sees to it.
    ///
    /// - Throws: a clash when two routes match the same requests, two vendors own the same paths, or a route lies
    ///   outside its vendor's prefixes.
    package func check() throws(RouteClash) {
        for member in members { try Self.check(member) }
        let owned = members.map(\.identity).flatMap { identity in
            identity.prefixes.map { (prefix: $0, owner: identity.id) }
        }
        for (index, one) in owned.enumerated() {
            for other in owned[(index + 1)...] where one.owner != other.owner {
                let isShorter = one.prefix.utf8.count < other.prefix.utf8.count
                let (short, long) = isShorter ? (one, other) : (other, one)
                if Self.lies(long.prefix, under: short.prefix) {
                    throw RouteClash(
                        "\(short.owner) owns \(short.prefix), below which \(long.owner) owns \(long.prefix)")
                }
            }
        }
    }

    private static func lies(_ path: String, under prefix: String) -> Bool {
        path.hasPrefix(prefix) && path.utf8.dropFirst(prefix.utf8.count).first ?? UInt8(ascii: "/") == UInt8(ascii: "/")
    }

    private static func check(_ member: Member) throws(RouteClash) {
        var trie = RouteTrie()
        for (index, route) in member.routes.enumerated() {
            for endpoint in route.endpoints {
                guard member.identity.prefixes.contains(where: { lies(endpoint.pattern, under: $0) }) else {
                    throw RouteClash("\(route.id) at \(endpoint) lies under no prefix of \(member.identity.id)")
                }
                if let other = trie.insert(endpoint, route: index) {
                    throw RouteClash("\(member.routes[other].id) and \(route.id) both answer to \(endpoint)")
                }
            }
        }
    }

    public func match(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        let match = ownMatch(method, path)
        if case .route = match { return match }
        return added.match(method, path) ?? match
    }

    /// The match without routes that a reload may replace.
    package func ownMatch(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        if let ending = ending(method, path) {
            return .route(vendor: ending.vendor, route: ending.route, PathParameters())
        }
        let recent = recentMatches.reading(of: Array(path.utf8)[...]) { _ in (method, find(method, path)) }
        return recent.method == method ? recent.match : find(method, path)
    }

    private func find(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        let path = TargetPath(path)
        guard let vendor = owner(of: path) else { return .unowned }
        // ours: no id contains a NUL, so no vendor owns such a path.
        if path.holdsNUL { return .unknown(vendor: vendor) }
        switch tries[vendor].trie.match(path.segments(by: members[vendor].identity.pathRules), method) {
        case .route(let route, let parameters): return .route(vendor: vendor, route: route, parameters)
        case .otherMethods(let methods): return .otherMethods(vendor: vendor, methods)
        case .nothing: return .unknown(vendor: vendor)
        }
    }

    /// The methods that a path supports, whatever the request's method; `nil` when there is nothing at the path.
    package func methods(at path: Substring) -> [HTTPRequest.Method]? {
        // No route has TRACE: the engine answers it itself.
        guard case .otherMethods(_, let methods) = match(.trace, path) else { return nil }
        return methods
    }

    /// Repeated slashes do not affect ownership; whether the vendor accepts them is its own rule.
    private func owner(of path: TargetPath) -> Int? {
        let segments = path.segments.lazy.filter { !$0.isEmpty }
        return prefixes.first { segments.starts(with: $0.segments) }?.vendor
    }
}

/// Routes that a reload may replace, looked up where no other matches.
private final class AddedRoutes: Sendable {
    typealias Content = (
        table: RouteTable?, guide: RouteGuide?, vendor: Int,
        // All so far, so that counts stay with their route; and the places of the table's routes among them.
        names: [String], places: [Int]
    )
    let content = Mutex<Content>((nil, nil, 0, [], []))

    func match(_ method: HTTPRequest.Method, _ path: Substring) -> RouteTable.Match? {
        let content = content.withLock { $0 }
        switch content.table?.match(method, path) {
        case .route(_, let route, let found)?:
            return .route(vendor: content.vendor, route: content.places[route], found)
        case .otherMethods(_, let methods)?: return .otherMethods(vendor: content.vendor, methods)
        case .unknown?, .unowned?, nil: return nil
        }
    }
}

extension RouteTable {
    package var guide: RouteGuide { added.content.withLock { $0.guide } ?? ownGuide }

    /// All routes so far that ``add(from:)`` has added; a match has their places here.
    package var addedNames: [String] { added.content.withLock { $0.names } }

    /// Puts the routes that these vendors' fixtures describe in the place of those added before.
    package func add(from vendors: [any AnyLoadedVendor]) {
        for (index, vendor) in vendors.enumerated() {
            guard let table = vendor.addedRoutes, let member = table.members.first else { continue }
            let (ids, guide) = (member.routes.map(\.id), RouteGuide(members + [member]))
            added.content.withLock {
                let names = $0.names + ids.filter { [names = $0.names] in !names.contains($0) }
                let places = ids.compactMap { names.firstIndex(of: $0) }
                $0 = ids.isEmpty ? (nil, nil, index, names, []) : (table, guide, index, names, places)
            }
        }
    }

    package init(of vendors: [any AnyLoadedVendor]) {
        self.init(
            vendors.filter { $0.addedRoutes == nil }.map { vendor in
                Member(identity: vendor.identity, routes: vendor.routes.map { ($0.id, $0.endpoints) })
            })
    }
}

/// Why a set of vendors cannot be mounted together.
package struct RouteClash: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The tree of a vendor, made for the first path that is no literal of a route.
private final class LazyTrie: Sendable {
    private final class Made: Sendable {
        let trie: RouteTrie

        init(_ member: RouteTable.Member) {
            var trie = RouteTrie()
            for (index, route) in member.routes.enumerated() {
                for endpoint in route.endpoints { _ = trie.insert(endpoint, route: index) }
            }
            self.trie = trie
        }
    }

    private let made = AtomicLazyReference<Made>()
    private let member: RouteTable.Member

    init(_ member: RouteTable.Member) { self.member = member }

    var trie: RouteTrie { made.load()?.trie ?? made.storeIfNil(Made(member)).trie }
}

/// The paths of one vendor as a tree of segments; literals take precedence over parameters, and those over a rest
/// parameter.
struct RouteTrie: Sendable {
    private struct Node: Sendable {
        var literals: [Substring: Int] = [:]
        var parameter: Int?
        var ends: [End] = []
        /// Endpoints that match any remaining segments.
        var covers: [End] = []
    }

    private struct End: Sendable {
        let method: HTTPRequest.Method
        let route: Int
        let names: [String]
    }

    enum Match {
        case route(Int, PathParameters)
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    private var nodes = [Node()]

    /// - Returns: the route that already has the same method and path shape, in which case nothing is added.
    mutating func insert(_ endpoint: Endpoint, route: Int) -> Int? {
        var node = 0
        var names: [String] = []
        var coversRest = false
        for bytes in Array(endpoint.pattern.utf8).split(separator: UInt8(ascii: "/")) {
            if bytes.first != UInt8(ascii: "{") {
                let segment = Substring(decoding: bytes, as: UTF8.self)
                node = nodes[node].literals[segment] ?? grow { nodes, new in nodes[node].literals[segment] = new }
            } else if bytes.suffix(4).elementsEqual("...}".utf8) {
                coversRest = true
                names.append(String(decoding: bytes.dropFirst().dropLast(4), as: UTF8.self))
            } else {
                names.append(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self))
                node = nodes[node].parameter ?? grow { nodes, new in nodes[node].parameter = new }
            }
        }
        let ends = coversRest ? nodes[node].covers : nodes[node].ends
        if let other = ends.first(where: { $0.method == endpoint.method }) { return other.route }
        let end = End(method: endpoint.method, route: route, names: names)
        if coversRest { nodes[node].covers.append(end) } else { nodes[node].ends.append(end) }
        return nil
    }

    private mutating func grow(_ link: (inout [Node], Int) -> Void) -> Int {
        nodes.append(Node())
        link(&nodes, nodes.count - 1)
        return nodes.count - 1
    }

    /// Finds the route; HEAD follows GET.
    func match(_ segments: [Substring], _ method: HTTPRequest.Method) -> Match {
        var values: [String] = []
        var others: [HTTPRequest.Method] = []
        let wanted = method == .head ? .get : method
        var covers: [HTTPRequest.Method] = []
        guard let end = find(segments[...], from: 0, wanted, &values, &others, &covers) else {
            // A catch-all endpoint makes no path known. Two patterns may match one path and share a method.
            return others.isEmpty ? .nothing : .otherMethods(Self.once(others + covers))
        }
        return .route(end.route, PathParameters(names: end.names, values: values))
    }

    private static func once(_ methods: [HTTPRequest.Method]) -> [HTTPRequest.Method] {
        methods.indices.filter { !methods[..<$0].contains(methods[$0]) }.map { methods[$0] }
    }

    private func find(
        _ segments: ArraySlice<Substring>, from index: Int, _ method: HTTPRequest.Method,
        _ values: inout [String], _ others: inout [HTTPRequest.Method], _ covers: inout [HTTPRequest.Method]
    ) -> End? {
        if let end = findExactly(segments, at: index, method, &values, &others, &covers) { return end }
        guard !nodes[index].covers.isEmpty else { return nil }
        if let cover = nodes[index].covers.first(where: { $0.method == method }) {
            values.append(segments.joined(separator: "/"))
            return cover
        }
        covers += nodes[index].covers.map(\.method)
        return nil
    }

    /// Nodes are read in place: copying one would retain its contents.
    private func findExactly(
        _ segments: ArraySlice<Substring>, at index: Int, _ method: HTTPRequest.Method,
        _ values: inout [String], _ others: inout [HTTPRequest.Method], _ covers: inout [HTTPRequest.Method]
    ) -> End? {
        guard let segment = segments.first else {
            if let end = nodes[index].ends.first(where: { $0.method == method }) { return end }
            others += nodes[index].ends.map(\.method)
            return nil
        }
        if let literal = nodes[index].literals[segment],
            let end = find(segments.dropFirst(), from: literal, method, &values, &others, &covers)
        {
            return end
        }
        guard let parameter = nodes[index].parameter, !segment.isEmpty else { return nil }
        values.append(String(segment))
        if let end = find(segments.dropFirst(), from: parameter, method, &values, &others, &covers) { return end }
        values.removeLast()
        return nil
    }
}

/// How a vendor reads the path of a request.
public struct PathRules: Sendable {
    /// The treatment of empty segments, caused by repeated slashes.
    package enum RepeatedSlashes: Sendable {
        case collapse
        /// They count as one slash only at the start of the path.
        case collapseLeading
    }

    package let repeatedSlashes: RepeatedSlashes
    package let ignoresTrailingSlash: Bool
    /// Rewrites the decoded segments before route lookup: replaces spellings that clients are known to send by those of
    /// the route table.
    let rewrite: (@Sendable (inout [Substring]) -> Void)?
}

/// The segments of a path, split at literal slashes and then decoded once each.
struct TargetPath {
    /// The decoded segments; `a//b/` has an empty one in the middle and one at the end.
    let segments: [Substring]

    init(_ path: Substring) {
        segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // A segment with a broken escape stays as sent, so it matches only a parameter.
            .map { PercentEncoding.decode(Substring($0)) ?? Substring($0) }
    }

    /// Whether it contains a NUL, which RFC 3986 section 7.3 warns of: code that treats a segment as a C string would
    /// see another path.
    var holdsNUL: Bool { segments.contains { $0.utf8.contains(0) } }

    func segments(by rules: PathRules) -> [Substring] {
        let repeated = self.segments.contains(where: \.isEmpty) ? rules.repeatedSlashes : nil
        var segments =
            switch repeated {
            case .collapse where rules.ignoresTrailingSlash: self.segments.filter { !$0.isEmpty }
            case .collapse: self.segments.dropLast().filter { !$0.isEmpty } + self.segments.suffix(1)
            case .collapseLeading: Array(self.segments.drop { $0.isEmpty })
            case nil: self.segments
            }
        if rules.ignoresTrailingSlash, segments.last?.isEmpty == true { segments.removeLast() }
        rules.rewrite?(&segments)
        return segments
    }
}
