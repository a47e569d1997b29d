package import HTTPTypes

/// A call to a route, at one of its places, that the vendor answers as it should.
package struct RouteCase: Sendable, CustomStringConvertible {
    /// The route's id.
    package let route: String
    /// The method.
    package let method: HTTPRequest.Method
    /// The target; capital letters mark names that the preparation provides.
    package let target: String
    /// The fields, with names like the target's.
    package let fields: @Sendable () throws -> World.Fields
    /// The content, with names like the target's.
    package let body: @Sendable () throws -> String
    /// The status code of the answer.
    package let status: Int
    /// The exact content of the answer; `nil` if part of it differs each time.
    package let answer: String?
    /// The failure of a route that is there only to refuse; `nil` for all others.
    package let failure: String?
    /// The type of the answer's content; `nil` for the vendor's JSON.
    package let contentType: String?
    /// Makes what the call needs; returns values for the names in capital letters.
    package let prepare: @Sendable (World) async throws -> [String: String]

    /// A call to a route, and its answer.
    package init(
        _ route: String, _ method: HTTPRequest.Method, _ target: String,
        fields: @autoclosure @escaping @Sendable () throws -> World.Fields = [],
        body: @autoclosure @escaping @Sendable () throws -> String = "", status: Int = 200, answer: String? = nil,
        failure: String? = nil, contentType: String? = nil,
        prepare: @escaping @Sendable (World) async throws -> [String: String] = { _ in [:] }
    ) {
        (self.route, self.method, self.target, self.status) = (route, method, target, status)
        (self.fields, self.body, self.answer, self.failure) = (fields, body, answer, failure)
        self.contentType = contentType
        self.prepare = prepare
    }

    /// The route, with method and target.
    package var description: String { "\(route) at \(method.rawValue) \(target)" }

    /// The request with all preparations done.
    func request(in world: World) async throws -> PreparedRequest {
        let values = try await prepare(world)
        func filled(_ text: String) -> String {
            values.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }
        return PreparedRequest(
            method: method, target: filled(target), fields: try fields().map { ($0.0, filled($0.1)) },
            body: filled(try body()))
    }

    /// The path of its target.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// Whether this case covers that place of its route.
    func shows(_ pattern: String) -> Bool {
        let (segments, places) = (Self.segments(target), Self.segments(pattern))
        if places.last?.hasSuffix("...}") == true { return segments.starts(with: places.dropLast(), by: Self.fits) }
        return segments.count == places.count && zip(segments, places).allSatisfy(Self.fits)
    }

    private static func segments(_ target: String) -> [Substring] {
        target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func fits(_ segment: Substring, _ place: Substring) -> Bool {
        place.hasPrefix("{") || segment.lowercased() == place.lowercased()
    }
}

/// A request that is ready to be sent.
package struct PreparedRequest: Sendable {
    let method: HTTPRequest.Method
    let target: String
    /// The fields.
    package var fields: World.Fields
    /// The content.
    package var body: String

    /// Sends it.
    func send(in world: World) async throws -> ReceivedAnswer { try await world.call(method, target, fields, body) }

    /// Sends it with another content.
    func send(_ hostile: HostileBody, in world: World) async throws -> ReceivedAnswer {
        try await world.call(method, target, fields + hostile.fields, bytes: hostile.bytes)
    }
}
