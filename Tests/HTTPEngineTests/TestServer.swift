import Wire

@testable import HTTPEngine

/// A handler made of closures.
struct StubHandler: RequestHandler {
    var smallestBodyLimit = 0
    var limit: @Sendable (Request) -> Int = { _ in 1024 }
    var respond: @Sendable (Request) -> Answer = { .ready(.text(StubHandler.describe($0))) }
    var serve: @Sendable (ServerOccupancy) -> Void = { _ in }

    func admit(_ head: Request) -> Admission { Admission(bodyLimit: limit(head), answer: answer) }
    func answer(_ request: Request) -> Answer { respond(request) }
    func willServe(_ occupancy: ServerOccupancy) { serve(occupancy) }

    /// The handler's view of the request on one line.
    static func describe(_ request: Request) -> String {
        let body = request.bodyExceedsLimit ? "too much" : String(decoding: request.body, as: UTF8.self)
        return "\(request.method.rawValue) \(request.target) [\(body)]"
    }
}

/// The two kinds of connection; where a test covers both, any difference is a fault.
enum Way: CaseIterable, Sendable {
    case clear
    case secure

    /// A listener on a free port.
    func listener() throws -> ServerConfiguration.Listener {
        switch self {
        case .clear: .init(port: 0)
        case .secure: .init(port: 0, identity: try TestAuthority.sharedIdentity.get())
        }
    }
}

extension Limits {
    /// Limits that no client reaches, for tests whose tasks wait long while other tests keep both cores busy.
    static var patient: Limits {
        var limits = Limits()
        (limits.idle, limits.header, limits.body) = (.seconds(300), .seconds(300), .seconds(300))
        (limits.write, limits.linger) = (.seconds(300), .seconds(300))
        return limits
    }
}

/// Starts a server on a free port, runs `body` against it, and stops it.
func withServer<Result: Sendable>(
    _ handler: StubHandler = StubHandler(), limits: Limits = Limits(), loops: Int = 2, over way: Way = .clear,
    _ body: (Int) async throws -> Result
) async throws -> Result {
    let server = try Server(
        ServerConfiguration(listeners: [way.listener()], loops: loops, limits: limits), handler: handler)
    server.start()
    do {
        let result = try await body(server.addresses[0].port)
        await server.stop(within: .seconds(0))
        return result
    } catch {
        await server.stop(within: .seconds(0))
        throw error
    }
}

/// A signal that one side gives and the other waits for, in either order.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func give() {
        continuation.yield()
        continuation.finish()
    }

    func wait() async { for await _ in stream { return } }
}
