import HTTPTypes

/// The paths of one vendor as a tree of segments; literals go before parameters.
struct RouteTrie: Sendable {
    private struct Node: Sendable {
        var literals: [Substring: Int] = [:]
        var parameter: Int?
        var ends: [End] = []
    }

    private struct End: Sendable {
        let method: HTTPRequest.Method
        let route: Int
        let names: [String]
    }

    /// What a path and method lead to.
    enum Match {
        case route(Int, PathParameters)
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    private var nodes = [Node()]

    /// Adds an endpoint.
    ///
    /// - Returns: the route that already has the same method and the same shape of path, in which case nothing is added.
    mutating func insert(_ endpoint: Endpoint, route: Int) -> Int? {
        var node = 0
        var names: [String] = []
        for segment in endpoint.pattern.split(separator: "/") {
            if segment.hasPrefix("{") {
                names.append(String(segment.dropFirst().dropLast()))
                node = nodes[node].parameter ?? grow { nodes, new in nodes[node].parameter = new }
            } else {
                node = nodes[node].literals[segment] ?? grow { nodes, new in nodes[node].literals[segment] = new }
            }
        }
        if let other = nodes[node].ends.first(where: { $0.method == endpoint.method }) { return other.route }
        nodes[node].ends.append(End(method: endpoint.method, route: route, names: names))
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
        guard let end = find(segments[...], from: 0, wanted, &values, &others) else {
            return others.isEmpty ? .nothing : .otherMethods(others)
        }
        return .route(end.route, PathParameters(names: end.names, values: values))
    }

    private func find(
        _ segments: ArraySlice<Substring>, from index: Int, _ method: HTTPRequest.Method,
        _ values: inout [String], _ others: inout [HTTPRequest.Method]
    ) -> End? {
        let node = nodes[index]
        guard let segment = segments.first else {
            if let end = node.ends.first(where: { $0.method == method }) { return end }
            others += node.ends.map(\.method)
            return nil
        }
        if let literal = node.literals[segment],
            let end = find(segments.dropFirst(), from: literal, method, &values, &others)
        {
            return end
        }
        guard let parameter = node.parameter, !segment.isEmpty else { return nil }
        values.append(String(segment))
        if let end = find(segments.dropFirst(), from: parameter, method, &values, &others) { return end }
        values.removeLast()
        return nil
    }
}
