import Expectations
package import HTTPTypes
import JSON
import Testing

extension VendorConformance {
    /// Checks the answer's status and type, and the journal's route; HEAD must be answered like GET. What the answers hold
    /// is said by the contract cases.
    package func check(_ route: RouteCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        let request = try await route.request(in: world)
        if route.status == 101 {
            _ = try await world.openSocket(request.target, request.fields)
            return
        }
        let answer = try await request.send(in: world)
        expect(answer.status, is: route.status, "\(answer.text) \(answer.entry?.explanation ?? "")")
        expect(answer.failure, is: route.failure)
        expect(answer.entry?.record.route, is: route.route)
        if route.status == 204 { expect(answer.text, is: "") }
        let type = answer.text.isEmpty ? nil : route.contentType ?? contentType
        expect(answer["content-type"], is: type)
        inspect(answer)
        guard route.method == .get else { return }
        let head = try await world.call(.head, request.target, request.fields)
        expect(head.status, is: answer.status)
        expect(head.entry?.record.route, is: route.route)
    }

    package func checkRefusal(_ route: RouteCase, _ depth: Depth) async throws {
        let world = try await world(depth)
        var request = try await route.request(in: world)
        dropCredentials(&request)
        let answer = try await request.send(in: world)
        expect(
            answer.failure, is: refusal(route),
            "\(answer.status) \(answer.text); the journal has \(world.sandbox.journal.count) entries")
        guard let failure = answer.failure else { return }
        #expect(try FailureSheet.read(id, in: server.fixtures).statuses(of: failure).contains(answer.status))
        expect(answer.entry?.record.route, is: route.route)
        if givesReasons { expect(answer.entry?.explanation?.isEmpty, is: false) }
    }

    package func checkRouteCoverage() throws {
        let listed = try mounted().routes
        expect(Set(routes.map(\.route)).subtracting(listed.map(\.id)), is: [], "cases of no route of \(id)")
        for route in listed {
            for endpoint in route.endpoints
            where !routes.contains(where: {
                $0.route == route.id && $0.method == endpoint.method && $0.shows(endpoint.pattern)
            }) {
                Issue.record("\(id): route \(route.id) has no case at \(endpoint.method.rawValue) \(endpoint.pattern)")
            }
        }
    }

    /// Checks that the vendor accepts any content or refuses it in its own shape, with a reason, and that a refused
    /// call changes nothing.
    ///
    /// A route gets every other content, so that neighbours, which read alike, share all of them.
    package func checkHostileBodies(of route: RouteCase) async throws {
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        var world = try await world()
        var request = try await route.request(in: world)
        var before = try wholeState(world)
        let contents = HostileBody.all(insteadOf: try route.body())
        let first = routes.firstIndex { $0.description == route.description } ?? 0
        for hostile in stride(from: first % 2, to: contents.count, by: 2).map({ contents[$0] }) {
            let answer = try await request.send(hostile, in: world)
            if answer.status < 400 {
                // Each content must meet the original state.
                if try wholeState(world) == before { continue }
                try await world.delete()
                world = try await self.world()
                request = try await route.request(in: world)
                before = try wholeState(world)
                continue
            }
            for problem in problems(of: answer, by: sheet) { Issue.record("\(id) \(route), \(hostile): \(problem)") }
            let after = try wholeState(world)
            if after != before {
                Issue.record("\(id) \(route), \(hostile) was refused, and changed \(before.text) to \(after.text)")
            }
        }
        try await world.delete()
    }

    /// The problems of a refusal; empty if it has a shape of its failure and a reason.
    private func problems(of answer: ReceivedAnswer, by sheet: FailureSheet) -> [String] {
        guard answer.status < 500 || answer.failure.map(serverFaults.contains) == true else {
            return ["status \(answer.status) is the server's fault; found \(answer.text)"]
        }
        guard let failure = answer.failure else { return ["status \(answer.status) without a failure in the journal"] }
        var problems: [String] = []
        let statuses = sheet.statuses(of: failure)
        if !statuses.contains(answer.status) {
            problems.append("\(failure) has status \(answer.status); expected one of \(statuses.sorted())")
        }
        let names = answer.json.object?.map(\.name) ?? []
        if !sheet.shapes(of: failure).contains(names) {
            problems.append("\(failure) has the members \(names); expected one of \(sheet.shapes(of: failure))")
        }
        if givesReasons, answer.entry?.explanation?.isEmpty != false {
            problems.append("\(failure) has no reason in the journal")
        }
        return problems
    }

    /// Checks that a content of the maximum length is read, and one that is a byte longer is refused.
    package func checkBodyLimit(of route: RouteCase) async throws {
        let world = try await world()
        let request = try await route.request(in: world)
        let limit = try server.stage().bodyLimit(route.method, request.target)
        let statuses = try FailureSheet.read(id, in: server.fixtures).statuses(of: bodyTooLarge)
        for (excess, isTooLong) in [(0, false), (1, true)] {
            let content = [UInt8](repeating: UInt8(ascii: " "), count: limit + excess - 2) + Array("{}".utf8)
            let answer = try await world.call(request.method, request.target, request.fields, bytes: content)
            expect((answer.failure == bodyTooLarge), is: isTooLong, "\(limit) + \(excess) bytes: \(answer.text)")
            expect(statuses.contains(answer.status), is: isTooLong, "\(limit) + \(excess) bytes: \(answer.text)")
        }
        // Its long journal would push out those of others.
        try await world.delete()
    }

    /// Checks that the sample request works, and that no sample is a secret.
    package func checkSamples(_ depth: Depth) async throws {
        let (world, vendor) = (try await world(depth), try mounted())
        if !vendor.tokenKinds.isEmpty {
            let request = try vendor.sampleRequest(at: world.sandbox.now, base: world.sandbox.identity.publicBase.text)
            let fields = request.fields.map { ($0.name, $0.value) }
            let answer = try await world.call(request.endpoint.method, request.endpoint.pattern, fields, request.body)
            expect(answer.status, is: 200, "\(answer.text)")
            let wrong = request.refused
            let refusal = try await world.call(
                wrong.endpoint.method, wrong.endpoint.pattern, wrong.fields.map { ($0.name, $0.value) }, wrong.body)
            #expect(refusal.failure != nil, "\(refusal.text)")
        }
        let shown = vendor.samples.map(\.value)
        expect(Set(samples).subtracting(shown), is: [])
        let secrets = vendor.secretTexts + ["PRIVATE", "operator", "secret"]
        for text in shown where secrets.contains(where: text.contains) { Issue.record("\(id) shows \(text)") }
    }
}

/// A call to a route, at one of its places, that the vendor answers as it should.
package struct RouteCase: Sendable, CustomStringConvertible {
    package let route: String
    package let method: HTTPRequest.Method
    /// The target; capital letters mark names that the preparation provides.
    package let target: String
    /// The fields, with names like the target's.
    package let fields: @Sendable () throws -> World.Fields
    /// The kind of token to mint and send as a bearer; `nil` for other credentials, or none.
    package let bearer: String?
    /// The content, with names like the target's.
    package let body: @Sendable () throws -> String
    package let status: Int
    /// The failure of a route that is there only to refuse; `nil` for all others.
    package let failure: String?
    /// The type of the answer's content; `nil` for the vendor's JSON.
    package let contentType: String?
    /// Makes what the call needs; returns values for the names in capital letters.
    package let prepare: @Sendable (World) async throws -> [String: String]

    package init(
        _ route: String, _ method: HTTPRequest.Method, _ target: String,
        fields: @autoclosure @escaping @Sendable () throws -> World.Fields = [], bearer: String? = nil,
        body: @autoclosure @escaping @Sendable () throws -> String = "", status: Int = 200,
        failure: String? = nil, contentType: String? = nil,
        prepare: @escaping @Sendable (World) async throws -> [String: String] = { _ in [:] }
    ) {
        (self.route, self.method, self.target, self.status) = (route, method, target, status)
        (self.fields, self.body, self.failure) = (fields, body, failure)
        (self.contentType, self.bearer, self.prepare) = (contentType, bearer, prepare)
    }

    package var description: String { "\(route) at \(method.rawValue) \(target)" }

    func request(in world: World) async throws -> PreparedRequest {
        let values = try await prepare(world)
        func filled(_ text: String) -> String { values.reduce(text) { $0.replacing($1.key, with: $1.value) } }
        var fields = try fields().map { ($0.0, filled($0.1)) }
        if let bearer { fields.append(("authorization", "Bearer " + (try await world.mint(bearer)))) }
        return PreparedRequest(method: method, target: filled(target), fields: fields, body: filled(try body()))
    }

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

package struct PreparedRequest: Sendable {
    let method: HTTPRequest.Method
    let target: String
    package var fields: World.Fields
    package var body: String

    func send(in world: World) async throws -> ReceivedAnswer { try await world.call(method, target, fields, body) }

    func send(_ hostile: HostileBody, in world: World) async throws -> ReceivedAnswer {
        try await world.call(method, target, fields + hostile.fields, bytes: hostile.bytes)
    }
}

/// A content that no reasonable client sends.
struct HostileBody: Sendable, CustomStringConvertible {
    let description: String
    let bytes: [UInt8]
    var fields: World.Fields = []

    private init(_ description: String, _ text: String, _ fields: World.Fields = []) {
        self.init(description, bytes: Array(text.utf8), fields)
    }

    private init(_ description: String, bytes: [UInt8], _ fields: World.Fields = []) {
        (self.description, self.bytes, self.fields) = (description, bytes, fields)
    }

    /// Contents that are hostile to every route, and variants of a good one with one member changed.
    static func all(insteadOf good: String) -> [HostileBody] {
        guard let object = try? JSON.parse(Array(good.utf8)).object else { return general + forms(insteadOf: good) }
        return general + object.flatMap { member in variants(of: member.name, in: object) } + [
            HostileBody("a good one with two members of each name", "{" + object.description(twice: true) + "}"),
            HostileBody("a good one with an unknown member", "{" + object.description() + #","x":{"y":[null]}}"#),
            HostileBody("half of a good one", bytes: Array(good.utf8.prefix(good.utf8.count / 2))),
        ]
    }

    private static let deep = String(repeating: "[", count: 5000)

    private static let general: [HostileBody] = [
        HostileBody("nothing", ""), HostileBody("an open object", "{"), HostileBody("an array", "[]"),
        HostileBody("null", "null"), HostileBody("a number", "7"), HostileBody("a string", #""x""#),
        HostileBody("text", "hello"), HostileBody("an empty object", "{}"), HostileBody("white space", " \n\t "),
        HostileBody("open arrays", deep), HostileBody("nested arrays", deep + deep.replacing("[", with: "]")),
        HostileBody("nested objects", String(repeating: #"{"a":"#, count: 5000)),
        HostileBody("no UTF-8", bytes: [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D]),
        HostileBody("a NUL", bytes: [0x7B, 0, 0x7D]), HostileBody("a lone surrogate", #"{"a":"\ud800"}"#),
        HostileBody("a byte-order mark", "\u{FEFF}{}"), HostileBody("a number without end", #"{"a":1e999999}"#),
        HostileBody("a form", "a=1&b=2", [("content-type", "application/x-www-form-urlencoded")]),
        HostileBody("multipart without an end", "--x\r\n", [("content-type", "multipart/form-data; boundary=x")]),
        HostileBody("multipart without a boundary", "--\r\n", [("content-type", "multipart/form-data")]),
        HostileBody("a type that is none", "{}", [("content-type", ";;;=\"")]),
        HostileBody("what claims to be compressed", "{}", [("content-encoding", "gzip")]),
    ]

    /// Variants of a good form; none for content that is no form.
    private static func forms(insteadOf good: String) -> [HostileBody] {
        let pairs = good.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        guard !pairs.isEmpty, pairs.allSatisfy({ $0.count == 2 }) else { return [] }
        func form(_ change: (String, String) -> String?) -> String {
            pairs.compactMap { change($0[0], $0[1]) }.joined(separator: "&")
        }
        return pairs.flatMap { pair in
            let name = pair[0]
            return [HostileBody("no \(name)", form { $0 == name ? nil : "\($0)=\($1)" })]
                + formValues.map { kind, value in
                    HostileBody("\(name) as \(kind)", form { "\($0)=\($0 == name ? value : $1)" })
                }
        } + [
            HostileBody("a good one with each parameter twice", good + "&" + good),
            HostileBody("a good one with an unknown parameter", good + "&x[y]=%00"),
            HostileBody("a thousand parameters", good + String(repeating: "&x=1", count: 1000)),
            HostileBody("half of a good one", bytes: Array(good.utf8.prefix(good.utf8.count / 2))),
        ]
    }

    private static let formValues: [(name: String, value: String)] = [
        ("nothing", ""), ("a broken escape", "%"), ("no UTF-8", "%FF%FE"), ("a NUL", "%00"), ("blanks", "+%20+"),
        ("line ends", "%0D%0Ax%3A+y"), ("quotes and brackets", "%22%27%3C%2Fscript%3E"), ("dots", "x.y.z"),
        ("a long text", String(repeating: "%C3%BC", count: 9000)), ("another sign", "%E2%80%AE"),
    ]

    private static let values: [(name: String, value: JSON)] = [
        ("null", .null), ("true", true), ("a number", 7), ("a huge number", JSON(Int.max)), ("a fraction", 1.5),
        ("an empty string", ""), ("a string", "x\u{0}\u{202E}"), ("an array", []), ("an array of nulls", [.null]),
        ("an object", [:]), ("an object in it", ["": ["": .null]]),
        ("a long string", .string(String(repeating: "ü", count: 9000))),
    ]

    private static func variants(of name: String, in object: JSONObject) -> [HostileBody] {
        var without = object
        without[name] = nil
        return [HostileBody("no \(name)", JSON.object(without).text)]
            + values.map { kind, value in
                var changed = object
                changed[name] = value
                return HostileBody("\(name) as \(kind)", JSON.object(changed).text)
            }
    }
}

extension JSONObject {
    /// The members as text, without the braces.
    fileprivate func description(twice: Bool = false) -> String {
        let members = map { "\(JSON.string($0.name).text):\($0.value.text)" }
        return (twice ? members + members : members).joined(separator: ",")
    }
}
