import HTTPTypes

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

    /// The result of matching a path and method.
    enum Match {
        case route(Int, PathParameters)
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    private var nodes = [Node()]

    /// Adds an endpoint.
    ///
    /// - Returns: the route that already has the same method and path shape, in which case nothing is added.
    mutating func insert(_ endpoint: Endpoint, route: Int) -> Int? {
        var node = 0
        var names: [String] = []
        var coversRest = false
        for bytes in endpoint.pattern.utf8.split(separator: UInt8(ascii: "/")) {
            let segment = Substring(bytes)
            if segment.utf8.first != UInt8(ascii: "{") {
                node = nodes[node].literals[segment] ?? grow { nodes, new in nodes[node].literals[segment] = new }
            } else if segment.hasSuffix("...}") {
                coversRest = true
                names.append(String(segment.dropFirst().dropLast(4)))
            } else {
                names.append(String(segment.dropFirst().dropLast()))
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
