package import Emulation
import Expectations
import HTTPEngine
package import HTTPTypes
package import JSON
import Synchronization
package import Testing
package import Tokens
package import Understudy
import Wire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A separate sandbox, used through requests, as a client and a test suite would use it.
package struct World: Sendable {
    package typealias Fields = [(String, String)]

    /// A call of a case, in a sandbox of its own.
    package typealias Send = @Sendable (World) async throws -> ReceivedAnswer

    /// The time of the examples in the vendors' specs.
    package static let exampleMoment = 1_800_000_000

    package let name: String
    let depth: Depth
    package let stage: Stage

    private static let created = Atomic(0)

    /// A new sandbox, its clock frozen.
    package init(_ depth: Depth = .pipeline, on stage: Stage? = nil, at clock: Int? = exampleMoment) async throws {
        let number = Self.created.add(1, ordering: .relaxed).newValue
        name = "case-\(number)"
        self.depth = depth
        self.stage = try stage ?? .shared()
        if let clock { try await freeze(at: clock) }
    }

    private init(name: String, depth: Depth, stage: Stage) {
        (self.name, self.depth, self.stage) = (name, depth, stage)
    }

    package func moved(to stage: Stage) -> World { World(name: name, depth: depth, stage: stage) }

    package func named(_ name: String) -> World { World(name: name, depth: depth, stage: stage) }

    package var emulator: Emulator { stage.emulator }

    package var sandbox: Sandbox { emulator.sandboxes.sandbox(name) }

    /// The entry as the journal shows it.
    package func masked(_ entry: JournalEntry) -> JSON {
        MaskedExchange(entry, by: sandbox.redactor).json(routes: emulator.routes)
    }

    package func shown(_ entry: JournalEntry?) -> String { entry.map { masked($0).text } ?? "" }

    package func call(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields = [], _ body: String = ""
    ) async throws -> ReceivedAnswer {
        try await call(method, target, fields, bytes: Array(body.utf8))
    }

    /// A call with a new token of that kind.
    package func call(
        _ method: HTTPRequest.Method, _ target: String, minting kind: String, _ order: JSONObject = [:],
        _ body: String = ""
    ) async throws -> ReceivedAnswer {
        try await call(method, target, [("authorization", "Bearer " + (try await mint(kind, order)))], body)
    }

    package func call(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields = [], bytes: [UInt8]
    ) async throws -> ReceivedAnswer {
        try await send(method, target, fields + [("X-Understudy-Sandbox", name)], bytes, isJournaled: true)
    }

    @discardableResult
    package func control(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", fields: Fields = []
    ) async throws -> ReceivedAnswer {
        try await send(
            method, "/_understudy/" + path, fields + [("X-Understudy-Sandbox", name)], Array(body.utf8),
            isJournaled: false)
    }

    /// Deletes the sandbox, for tests whose long journal would push out those of others.
    package func delete() async throws { try await control(.delete, "sandboxes/" + name) }

    /// Sends a request without selecting a sandbox; the answer has no entry.
    package func bare(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields = [], _ body: String = ""
    ) async throws -> ReceivedAnswer {
        try await send(method, target, fields, Array(body.utf8), isJournaled: false)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields, _ body: [UInt8], isJournaled: Bool
    ) async throws -> ReceivedAnswer {
        let (status, received, content) =
            switch depth {
            case .pipeline: await ask(method, target, fields, body)
            case .socket: try await connect(method, target, fields, body)
            }
        return ReceivedAnswer(
            status: status, fields: received, body: content,
            entry: isJournaled ? sandbox.journal.last : nil)
    }

    private func ask(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields, _ body: [UInt8]
    ) async -> (Int, [(String, String)], [UInt8]) {
        let authority = fields.first { $0.0.lowercased() == "host" }?.1 ?? "127.0.0.1"
        var request = Request(method: method, target: target, authority: authority, fields: FieldLines(fields))
        // The engine asks for the limit once it knows that there is content.
        var head = request
        head.fields = FieldLines(fields + [("content-length", String(body.count))])
        request.bodyExceedsLimit = body.count > stage.pipeline.bodyLimit(for: head)
        request.body = request.bodyExceedsLimit ? [] : body
        let response = await stage.pipeline.response(to: request)
        return (response.status.code, response.fields.map { ($0.name.rawName, $0.value) }, response.body)
    }

    private func connect(
        _ method: HTTPRequest.Method, _ target: String, _ fields: Fields, _ body: [UInt8]
    ) async throws -> (Int, [(String, String)], [UInt8]) {
        var lines = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { lines.append(HTTPField(name: name, value: value)) }
        }
        let response = try await HTTPClient.send(
            method: method, url: "http://127.0.0.1:\(stage.port)\(target)", fields: lines, body: body,
            // Other tests may keep both cores of a small machine busy for long.
            within: .seconds(120),
            // The list of sandboxes contains those of all running tests.
            maximumBody: 64 << 20)
        return (response.status.code, response.fields.map { ($0.name, $0.value) }, response.body)
    }
}

// MARK: - Control calls

extension World {
    package func freeze(at seconds: Int) async throws {
        try await succeed(.put, "clock", ["now": JSON(seconds), "freeze": true])
    }

    package func advance(_ duration: String) async throws {
        try await succeed(.put, "clock", ["advance": .string(duration)])
    }

    /// Sets a switch; its name includes the vendor's.
    package func set(_ name: String, _ value: String) async throws {
        try await succeed(.put, "settings", ["switches": .object(JSONObject([(name, .string(value))]))])
    }

    package func set(profile: BehaviourProfile) async throws {
        try await succeed(.put, "settings", ["profile": .string(profile.rawValue)])
    }

    package func set(seed: Int) async throws { try await succeed(.put, "settings", ["seed": JSON(seed)]) }

    package func arm(_ failure: String, at route: String, call: Int = 1) async throws {
        try await succeed(.put, "faults", ["route": .string(route), "call": JSON(call), "fail": .string(failure)])
    }

    package func mint(_ kind: String, _ order: JSONObject = [:]) async throws -> String {
        let answer = try await succeed(.post, "tokens/" + kind, .object(order))
        return answer.json["token"]?.string ?? ""
    }

    @discardableResult
    private func succeed(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) async throws -> ReceivedAnswer {
        let answer = try await control(method, path, body.text)
        guard (200...299).contains(answer.status) else { throw ControlFailure(answer: answer.text) }
        return answer
    }
}

struct ControlFailure: Error, CustomStringConvertible {
    let answer: String

    var description: String { "the control API answered \(answer)" }
}

/// An emulator with the repository's fixtures, its pipeline, and a server in front of it.
package final class Stage: Sendable {
    package let emulator: Emulator
    let pipeline: Pipeline
    package let port: Int
    /// Where it keeps its sandboxes; `nil` if it keeps none.
    package let home: StoreHome?
    private let server: Server

    package convenience init(
        keeping home: StoreHome, _ fixtures: FixtureStore = Repository.fixtures,
        _ loaders: [VendorLoader] = Catalog.vendors
    ) throws {
        try self.init(Emulator(fixtures: fixtures, loaders: loaders, keeper: StateKeeper(home.open())), keeping: home)
    }

    /// A separate server for tests that need another emulator than the shared one.
    package init(_ emulator: Emulator, keeping home: StoreHome? = nil) throws {
        self.emulator = emulator
        self.home = home
        pipeline = Pipeline(emulator)
        // On a busy machine these tests are slow clients, too, who must not be sent away.
        var limits = Limits()
        for limit in [\Limits.idle, \.header, \.body, \.write] { limits[keyPath: limit] = .seconds(600) }
        server = try Server(
            ServerConfiguration(listeners: [.init(port: 0)], loops: 1, limits: limits), handler: pipeline)
        port = server.addresses[0].port
        server.start()
    }

    /// The maximum content length at a target, in bytes.
    func bodyLimit(_ method: HTTPRequest.Method, _ target: String) -> Int {
        pipeline.bodyLimit(for: Request(method: method, target: target, authority: "127.0.0.1", fields: FieldLines([])))
    }

    /// The stage shared by all cases, each in its own sandbox.
    package static func shared() throws -> Stage { try common.get() }

    private static let common = Result { try Stage(Emulator(fixtures: Repository.fixtures, recorder: recorder)) }

    /// Appends every exchange to the file that UNDERSTUDY_RECORD names, for those who judge the answers afterwards.
    private static let recorder: (@Sendable (JSON) -> Void)? = {
        guard let path = getenv("UNDERSTUDY_RECORD").map({ String(cString: $0) }),
            let descriptor = try? Files.descriptor(of: path, O_WRONLY | O_CREAT | O_APPEND)
        else { return nil }
        return { try? Files.put(Array(($0.text + "\n").utf8), into: descriptor) }
    }()
}

/// A machine clock that a test advances.
package final class MachineClock: Sendable {
    private let moment = Mutex(Moment(unixSeconds: 1_800_000_000))

    package init() {}

    package var now: Moment { moment.withLock { $0 } }

    package func advance(_ duration: Duration) { moment.withLock { $0 = $0 + duration } }
}

/// At which level of the server a case is run; any difference between the two is a fault.
package enum Depth: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The pipeline is called as the engine calls it, without a socket.
    case pipeline
    /// A client calls the server over a TCP connection.
    case socket

    package var description: String { rawValue }
}

/// The answer to one request, and the journal's entry about it.
package struct ReceivedAnswer: Sendable {
    package let status: Int
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]
    /// The journal's entry; `nil` for control calls.
    package let entry: JournalEntry?

    /// Text received over a socket, in the form of an answer.
    package static func heard(_ texts: [String]) -> ReceivedAnswer {
        ReceivedAnswer(status: 200, fields: [], body: Array(texts.joined(separator: " ").utf8), entry: nil)
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package var json: JSON { (try? JSON.parse(body)) ?? .null }

    package var failure: String? { entry?.record.failure }

    package var findings: [Finding] { entry?.findings ?? [] }

    /// The outcome of a check in the journal; `nil` when it was not made.
    package func outcome(of check: String) -> Finding.Outcome? { findings.first { $0.check == check }?.outcome }

    /// The value of the field with that name, ignoring case.
    package subscript(field: String) -> String? {
        fields.first { $0.name.lowercased() == field.lowercased() }?.value
    }
}

extension ReceivedAnswer {
    /// Expects a success, with exactly this content if one is given.
    package func expect(_ status: Int, _ body: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        Expectations.expect(
            self.status, is: status, "\(text) \(failure ?? "") \(entry?.explanation ?? "")",
            sourceLocation: sourceLocation)
        if let body { Expectations.expect(text, is: body, sourceLocation: sourceLocation) }
        Expectations.expect(failure, is: nil, sourceLocation: sourceLocation)
    }

    /// Expects a refusal: status, exact content, and the failure's name in the journal.
    package func expect(
        _ status: Int, _ body: String, _ failure: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        Expectations.expect(self.status, is: status, sourceLocation: sourceLocation)
        Expectations.expect(text, is: body, sourceLocation: sourceLocation)
        Expectations.expect(
            self.failure, is: failure, "\(entry?.explanation ?? "") \(findings)", sourceLocation: sourceLocation)
    }
}
