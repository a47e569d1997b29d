public import HTTPTypes

/// Maps paths to vendors: the routes of all vendors and the prefixes they own.
public struct RouteTable: Sendable {
    /// The result of matching a request.
    public enum Match: Sendable {
        /// The route with that index, of the vendor with that index.
        case route(vendor: Int, route: Int, PathParameters)
        case otherMethods(vendor: Int, [HTTPRequest.Method])
        /// The path is under a prefix of the vendor, which has no route there.
        case unknown(vendor: Int)
        /// No vendor owns the path.
        case unowned

        /// The index of the vendor that owns the path.
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
            self.identity = identity
            self.routes = routes
        }
    }

    private let members: [Member]
    /// Finds the routes that wrong paths were meant for.
    package let guide: RouteGuide

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
    private var tries: [RouteTrie] = []
    /// Recent matches by path, with the request's method: clients repeat the same paths.
    private let recentMatches = RecentReadings<(method: HTTPRequest.Method, match: Match)>()

    /// Creates a table of these vendors.
    ///
    /// - Throws: a clash when two routes match the same requests, two vendors own the same paths, or a route lies
    ///   outside its vendor's prefixes.
    package init(_ members: [Member]) throws(RouteClash) {
        self.members = members
        guide = RouteGuide(members)
        try Self.checkPrefixes(members)
        for (index, member) in members.enumerated() {
            prefixes += member.identity.prefixes.map { ($0.split(separator: "/"), index) }
            tries.append(try Self.trie(member))
        }
        for (vendor, member) in members.enumerated() {
            for (route, listed) in member.routes.enumerated() {
                for endpoint in listed.endpoints where !endpoint.pattern.utf8.contains(UInt8(ascii: "{")) {
                    add(Ending(vendor: vendor, method: endpoint.method, route: route), at: endpoint.pattern)
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

    private static func checkPrefixes(_ members: [Member]) throws(RouteClash) {
        let owned = members.map(\.identity).flatMap { identity in
            identity.prefixes.map { (prefix: $0, owner: identity.id) }
        }
        for (index, one) in owned.enumerated() {
            for other in owned[(index + 1)...] where one.owner != other.owner {
                let (short, long) = one.prefix.count < other.prefix.count ? (one, other) : (other, one)
                if (long.prefix + "/").hasPrefix(short.prefix + "/") {
                    throw RouteClash(
                        "\(short.owner) owns \(short.prefix), below which \(long.owner) owns \(long.prefix)")
                }
            }
        }
    }

    private static func trie(_ member: Member) throws(RouteClash) -> RouteTrie {
        var trie = RouteTrie()
        for (index, route) in member.routes.enumerated() {
            for endpoint in route.endpoints {
                guard member.identity.prefixes.contains(where: { (endpoint.pattern + "/").hasPrefix($0 + "/") }) else {
                    throw RouteClash("\(route.id) at \(endpoint) lies under no prefix of \(member.identity.id)")
                }
                if let other = trie.insert(endpoint, route: index) {
                    throw RouteClash("\(member.routes[other].id) and \(route.id) both answer to \(endpoint)")
                }
            }
        }
        return trie
    }

    public func match(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
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
        switch tries[vendor].match(path.segments(by: members[vendor].identity.pathRules), method) {
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

/// Why a set of vendors cannot be mounted together.
package struct RouteClash: Error, CustomStringConvertible {
    /// Which routes or prefixes clash.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
