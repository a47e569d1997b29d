import Emulation
import Expectations
import HTTPTypes
import JSON
package import Support
import Synchronization
import Testing
import Tokens
import Understudy
import Wire

/// A test vendor with WebSockets and with sessions that expire.
final class Switchboard: Vendor {
    enum Failure: String, RouteFailure {
        case routeNotFound = "nothing-here"
        case sessionUnknown = "session-unknown"
        case upgradeRequired = "upgrade-required"
        case refused

        static let (methodNotAllowed, bodyTooLarge) = (routeNotFound, routeNotFound)
    }

    typealias Access = Void
    typealias Credentials = Void
    typealias SocketLabel = String

    struct State: Sendable {
        var sessions: [String: Moment] = [:]
        var count = 0
        var gone: [String] = []
        var passed: [Moment] = []
    }

    struct Switches: VendorSwitches {
        mutating func code(_ coder: inout SwitchCoder) {}
    }

    static let identity = VendorIdentity(
        id: "switchboard", title: "Switchboard", prefixes: ["/switchboard"],
        repeatedSlashes: .collapse, ignoresTrailingSlash: true)

    static let everybody = SocketTopic("everybody")
    static func topic(_ session: String) -> SocketTopic { SocketTopic("session:\(session)") }

    static let routes: [Route<Switchboard>] = [
        Route(
            "start", .post("/switchboard/sessions/{session}"), access: (), evidence: .ours, source: "tests",
            handler: start),
        Route(
            "socket", .get("/switchboard/sessions/{session}/socket"), access: (), evidence: .ours, source: "tests",
            secrets: ["secret"], handler: open),
        Route("count", .post("/switchboard/count"), access: (), evidence: .ours, source: "tests") {
            (call, state) throws(Refusal<Failure>) in
            state.count += 1
            call.outbox.send(.text("\(state.count)"), to: [everybody])
            return .json(["count": JSON(state.count), "sessions": JSON(state.sessions.count)])
        },
        Route("tell", .post("/switchboard/tell"), access: (), evidence: .ours, source: "tests", handler: tell),
    ]

    private static func start(
        _ call: inout Call<Switchboard>, _ state: inout State
    ) throws(Refusal<Failure>) -> Reply {
        let life = call.request.queryItems.first { $0.name == "life" }.flatMap { Double($0.value) } ?? 3600
        state.sessions[call.parameters["session"]] = Moment(unixSeconds: call.moment.unixSeconds + life)
        return .empty()
    }

    private static func open(_ call: inout Call<Switchboard>, _ state: inout State) throws(Refusal<Failure>) -> Reply {
        let session = call.parameters["session"]
        guard state.sessions[session] != nil else { throw Refusal(.sessionUnknown) }
        guard let handshake = try? WebSocketHandshake(call.request) else { throw Refusal(.upgradeRequired) }
        return call.openSocket(handshake, SocketOpening(topics: [topic(session), everybody], label: session))
    }

    /// Sends a text to the sessions in `to`, then does what `and` says.
    private static func tell(_ call: inout Call<Switchboard>, _ state: inout State) throws(Refusal<Failure>) -> Reply {
        let items = call.request.queryItems
        let value = { (name: String) in items.first { $0.name == name }?.value ?? "" }
        let topics = value("to").split(separator: ",").map { topic(String($0)) }
        call.outbox.send(.text(value("text")), to: value("to") == "*" ? topics + [everybody] : topics)
        switch value("and") {
        case "refuse": throw Refusal(.refused)
        case "wait" where state.count == 0:
            state.count = 1
            return .wait {}
        default: return .empty()
        }
    }

    static let actions = [
        action(
            "drop", about: "Drops a session's sockets.",
            members: [.required("session", "the session")]
        ) { (call, state, outbox) throws(ControlRefusal) in
            let session = try call.required("session")
            outbox.send(.text("good bye"), to: [topic(session)])
            outbox.close(WebSocketClosure(.normal, reason: "dropped"), at: topic(session))
            if state.sessions[session] == nil { throw ControlRefusal("no session \(session)") }
            return .null
        },
        action("begin", about: "Begins a session that counts for many records.", members: []) {
            (call, state) throws(ControlRefusal) in
            state.sessions["heavy action"] = call.moment
            return .null
        },
        action("forget", about: "Forgets all sessions.", members: []) {
            (call, state) throws(ControlRefusal) in
            state.sessions = [:]
            return .null
        },
    ]

    let initialState = State()
    private let motto: String

    static let living = Mutex<[String: Int]>([:])

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        motto = try fixtures.document("accounts.yaml").mapping("motto").required("motto").string()
        Self.living.withLock { [motto] in $0[motto, default: 0] += 1 }
    }

    deinit { Self.living.withLock { [motto] in $0[motto, default: 0] -= 1 } }

    // MARK: - Sockets

    func socketOpened(_ call: inout SocketCall<Switchboard>, _ state: inout State) {
        guard state.sessions[call.label] != nil else {
            return call.close(WebSocketClosure(.policyViolation, reason: "no session"))
        }
        call.reply(.text("hello \(call.label), \(motto)"))
    }

    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Switchboard>, _ state: inout State) {
        guard case .text(let text) = message else {
            return call.close(WebSocketClosure(.unsupportedData, reason: "bytes"))
        }
        switch text {
        case "echo": call.reply(message)
        case "count":
            state.count += 1
            call.outbox.send(.text("\(state.count)"), to: [Self.everybody])
            call.reply(.text("counted"))
        case "motto": call.reply(.text(motto))
        default: call.note(Finding("frame-ignored", .noted, found: .text(text), source: "tests"))
        }
    }

    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Switchboard>, _ state: inout State) {
        call.note(Finding("farewell", .noted, source: "tests"))
        state.gone.append("\(call.label) \(closure.code.rawValue)")
    }

    // MARK: - Deadlines

    func nextDeadline(in state: State) -> Moment? { state.sessions.values.min() }

    func deadlinePassed(_ call: inout DeadlineCall<Switchboard>, _ state: inout State) {
        state.passed.append(call.deadline)
        // The session named `stuck` never ends, as if the vendor had forgotten to handle it.
        for (session, end) in state.sessions where end <= call.moment && session != "stuck" {
            state.sessions[session] = nil
            call.outbox.close(WebSocketClosure(.policyViolation, reason: "expired"), at: Self.topic(session))
        }
    }

    // MARK: - The rest

    func size(of state: State) -> StateSize {
        StateSize(records: state.sessions.keys.count { $0.hasPrefix("heavy") } * StateSize.most.records / 2)
    }

    func export(_ state: State, _ extent: StateExtent) -> JSON? {
        [
            "count": JSON(state.count), "gone": .array(state.gone.map(JSON.string)),
            "passed": JSON(state.passed.count), "sessions": .array(state.sessions.keys.sorted().map(JSON.string)),
        ]
    }

    func state(importing node: FixtureNode, _ extent: StateExtent, over current: State) throws(FixtureProblem) -> State
    { current }

    static func fixtures(_ motto: String = "at your service") throws -> TemporaryFolder {
        try TemporaryFolder([
            "switchboard/accounts.yaml": "motto: \"\(motto)\"\n",
            "switchboard/failures.yaml": failureSheet([
                "nothing-here": 404, "session-unknown": 401, "upgrade-required": 426, "refused": 409,
            ]),
        ])
    }
}

struct SwitchboardWorld: Sendable {
    let world: World
    let emulator: Emulator
    private let fixtures: TemporaryFolder

    init(
        _ depth: Depth, at clock: Int? = World.exampleMoment, limits: SandboxLimits = SandboxLimits(),
        keeper: StateKeeper? = nil, machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) async throws {
        fixtures = try Switchboard.fixtures()
        emulator = try Emulator(
            fixtures: FixtureStore(layers: [fixtures.path]), loaders: [VendorLoader(Switchboard.self)],
            sandboxes: limits, machine: machine, keeper: keeper)
        world = try await World(depth, on: Stage(emulator), at: clock)
    }

    func open(_ session: String, life: Double = 3600) async throws -> LiveSocket {
        _ = try await world.call(.post, "/switchboard/sessions/\(session)?life=\(life)")
        return try await again(session)
    }

    func again(_ session: String) async throws -> LiveSocket {
        let socket = try await world.openSocket("/switchboard/sessions/\(session)/socket")
        expect(await socket.next(), is: .text("hello \(session), at your service"))
        return socket
    }

    @discardableResult
    func tell(_ text: String, to sessions: String, and: String = "") async throws -> ReceivedAnswer {
        try await world.call(.post, "/switchboard/tell?to=\(sessions)&text=\(text)&and=\(and)")
    }

    func state() async throws -> JSONObject { try await world.control(.get, "state/switchboard").json.object ?? [:] }

    /// The entries of handshakes, once the condition holds.
    func handshakes(_ isEnough: ([JournalEntry]) -> Bool) async -> [JournalEntry] {
        let journal = world.sandbox.journal
        return await journal.first(within: .seconds(60)) {
            journal.entries().filter { $0.record.route == "socket" }
        } where: {
            isEnough($0)
        }
    }

    func sockets(_ count: Int) async -> Bool {
        let sandbox = world.sandbox
        return await sandbox.journal.first(within: .seconds(60)) {
            sandbox.sockets
        } where: {
            $0 == count
        } == count
    }
}

extension VendorConformance {
    private static let switchboardFixtures = Result { try Switchboard.fixtures() }

    /// The switchboard's description for the conformance kit; it imports no state.
    package static let switchboard = {
        var vendor = VendorConformance(id: "switchboard")
        vendor.server = ConformanceServer(
            fixtures: (try? switchboardFixtures.get().path) ?? "", loaders: [VendorLoader(Switchboard.self)])
        vendor.givesReasons = false
        vendor.actions = ["drop session!", "begin", "forget"]
        vendor.bodyTooLarge = "nothing-here"
        vendor.routes = [
            RouteCase("start", .post, "/switchboard/sessions/a", status: 204),
            RouteCase("socket", .get, "/switchboard/sessions/a/socket", status: 101) {
                _ = try await $0.call(.post, "/switchboard/sessions/a")
                return [:]
            },
            RouteCase("count", .post, "/switchboard/count"),
            RouteCase("tell", .post, "/switchboard/tell?to=a&text=x", status: 204),
        ]
        vendor.refusal = { $0.route == "socket" ? "upgrade-required" : nil }
        return vendor
    }()
}
