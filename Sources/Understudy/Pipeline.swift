import Emulation
public import HTTPEngine
import HTTPTypes
import JSON
import Logging
public import Wire

/// The way of every request from its arrival to its answer.
///
/// A value without sockets: tests call ``answer(_:)`` just as the engine does.
public struct Pipeline: RequestHandler {
    /// The longest content in bytes where a route says nothing else.
    public static let standardBodyLimit = RouteListing.standardBodyLimit

    /// What a listener answers.
    public enum Role: Sendable, Hashable {
        /// Vendors' calls and control calls.
        case everything
        /// Vendors' calls alone; control calls have a listener of their own.
        case vendors
        /// Control calls alone; the vendors are at that port.
        case control(vendorPort: Int)
    }

    let emulator: Emulator
    private let role: Role
    private let guide: RouteGuide
    private let control: ControlAPI
    /// By vendor and route.
    private let bodyLimits: [[Int]]
    /// The longest content that every route takes.
    public let smallestBodyLimit: Int
    /// What any vendor masks; whose path was meant, nobody knows when nobody owns it.
    private let secrets: Set<String>

    /// A pipeline in front of an emulator, for a listener of that role.
    public init(_ emulator: Emulator, as role: Role = .everything) {
        self.emulator = emulator
        self.role = role
        guide = RouteGuide(emulator.routes)
        if case .control(let port) = role {
            control = ControlAPI(emulator, vendorPort: port)
        } else {
            control = ControlAPI(emulator)
        }
        secrets = emulator.vendors.reduce(into: []) { $0.formUnion($1.secrets) }
        bodyLimits = emulator.vendors.map { vendor in
            vendor.routes.map { $0.bodyLimit ?? vendor.identity.bodyLimit ?? Self.standardBodyLimit }
        }
        smallestBodyLimit = bodyLimits.joined().min() ?? Self.standardBodyLimit
    }

    /// The longest content that the route of the request takes.
    public func bodyLimit(for request: Request) -> Int {
        // A request that selects no sandbox is refused, whatever its content.
        let request = (try? SandboxSelection.of(request))?.request ?? request
        if ControlAPI.owns(request) { return control.bodyLimit(for: request) }
        guard case .route(let vendor, let route, _) = emulator.routes.match(request.method, request.path) else {
            return Self.standardBodyLimit
        }
        return bodyLimits[vendor][route]
    }

    /// The answer to a request.
    public func answer(_ request: Request) -> Answer {
        let watch = Stopwatch()
        if role != .everything, let misplaced = misplaced(request) { return misplaced }
        do {
            guard let selection = try SandboxSelection.of(request) else {
                if ControlAPI.owns(request) { return control.answer(request, in: SandboxName.standard) }
                return exchange(request, in: emulator.sandboxes.standard, watch)
            }
            if ControlAPI.owns(selection.request) { return control.answer(selection.request, in: selection.name) }
            return exchange(selection.request, in: emulator.sandboxes.sandbox(selection.name), watch)
        } catch {
            return refuse(request, error, Measurement(watch: watch))
        }
    }

    /// The answer to a call that this listener does not take; it is in no journal.
    private func misplaced(_ request: Request) -> Answer? {
        let request = (try? SandboxSelection.of(request))?.request ?? request
        let isControl = ControlAPI.owns(request)
        guard isControl != (role != .vendors) else { return nil }
        let problem =
            isControl
            ? ControlProblem(.notFound, "no-control-here", "Control calls go to the port that --control-port names.")
            : ControlProblem(
                .notFound, "no-vendor-here", "This port takes control calls; the vendors are at another one.")
        var response = problem.response
        response.closeToPages()
        return .ready(response)
    }

    /// Logs what the engine refused before there was a request.
    public func noted(_ note: EngineNote) {
        emulator.logger?.notice("\(note)")
    }

    /// Takes the server's connections into the metrics.
    public func willServe(_ occupancy: ServerOccupancy) {
        // The connections that count are those of the vendors' clients.
        if case .control = role { return }
        emulator.metrics.observe(occupancy)
    }

    /// Refuses a request that selects no sandbox; whoever looks for it finds it in the standard one.
    private func refuse(_ request: Request, _ problem: ControlProblem, _ measurement: Measurement) -> Answer {
        let exchange = emulator.sandboxes.standard.beginExchange(request)
        var record = ExchangeRecord()
        record.secrets = secrets
        record.reason = problem.message
        var response = problem.response.masked(by: emulator.sandboxes.standard.redactor)
        response.closeToPages()
        return .ready(finish(exchange, response, record, measurement))
    }

    /// What the metrics need to know of an exchange at its end.
    private struct Measurement {
        let watch: Stopwatch
        var place = Metrics.Place()
    }

    private func exchange(_ request: Request, in sandbox: Sandbox, _ watch: Stopwatch) -> Answer {
        let exchange = sandbox.beginExchange(request)
        var measurement = Measurement(watch: watch)
        let step = step(exchange, &measurement.place)
        return advance(exchange, step, measurement)
    }

    /// The answer to a request, once it is there.
    public func response(to request: Request) async -> Response { await response(of: answer(request)) }

    /// The answer of a vendor to a request in a sandbox, whatever the request says of it, once it is there.
    func vendorResponse(to request: Request, in sandbox: Sandbox) async -> Response {
        await response(of: exchange(request, in: sandbox, Stopwatch()))
    }

    private func response(of answer: Answer) async -> Response {
        switch answer {
        case .ready(let response): response
        case .deferred(let work): await work()
        }
    }

    private func step(_ exchange: Exchange, _ counted: inout Metrics.Place) -> ExchangeStep {
        let request = exchange.request
        let (vendor, place): (Int, Destination.Place)
        switch emulator.routes.match(request.method, request.path) {
        case .route(let index, let route, let parameters):
            (vendor, place) = (index, .route(route, parameters))
            counted.route = route
        case .unknown(let index): (vendor, place) = (index, .nowhere)
        case .otherMethods(let index, let methods):
            (vendor, place) = (index, .otherMethods(allow: methods.map(\.rawValue).joined(separator: ", ")))
        case .unowned:
            var record = ExchangeRecord()
            record.secrets = secrets
            record.reason = "no vendor owns this path"
            return .finished(Self.unowned, record)
        }
        counted.vendor = vendor
        return emulator.mounting.vendor(vendor).answer(exchange, Destination(vendor: vendor, place: place))
    }

    /// What nobody answers for. ours: no vendor has a say in it.
    private static let unowned = ControlProblem(
        .notFound, "no-vendor", "No vendor owns this path; the journal names the nearest routes."
    ).response

    // What an exchange leaves behind holds a dozen things, so it is handed on and not copied.
    private func advance(_ exchange: Exchange, _ step: consuming ExchangeStep, _ measurement: Measurement) -> Answer {
        switch consume step {
        case .finished(let response, let record): return .ready(finish(exchange, response, record, measurement))
        case let unfinished:
            return .deferred { await exchange.sandbox.whileUsed { await wait(exchange, unfinished, measurement) } }
        }
    }

    private func wait(_ exchange: Exchange, _ first: ExchangeStep, _ measurement: Measurement) async -> Response {
        var step = first
        while true {
            switch step {
            case .finished(let response, let record): return finish(exchange, response, record, measurement)
            case .waiting(let job, let then):
                await job()
                step = then()
            case .fetching(let request, let then):
                step = then(await fetch(request, in: exchange.sandbox))
            }
        }
    }

    private func finish(
        _ exchange: Exchange, _ answer: Response, _ record: consuming ExchangeRecord, _ measurement: Measurement
    ) -> Response {
        var response = answer
        // A vendor's answer stays as it is for whoever is no frame in a page.
        if exchange.request.mayBeForFrame { response.refuseFrames() }
        let failure = record.failure
        if record.route == nil, record.mayBeMistyped { record.guide = guide }
        let entry = JournalEntry(
            sandbox: exchange.sandbox.name, moment: exchange.moment, request: exchange.request, response: response,
            record: record)
        let id = exchange.sandbox.journal.append(entry)
        emulator.metrics.count(
            at: measurement.place, status: response.status.code, failure: failure, after: measurement.watch)
        if let logger = emulator.logger, logger.logLevel <= .info {
            log(entry, id, MaskedExchange(entry, by: exchange.sandbox.redactor), measurement.watch, logger)
        }
        return response
    }

    private func log(
        _ entry: JournalEntry, _ id: Int, _ masked: MaskedExchange, _ watch: Stopwatch, _ logger: Logger
    ) {
        var metadata: Logger.Metadata = [
            "sandbox": "\(masked.sandbox)", "method": "\(entry.request.method.rawValue)",
            "path": "\(masked.path)", "status": "\(entry.response.status.code)", "entry": "\(id)",
            "duration_ms": "\(Double(watch.elapsedNanoseconds / 1000) / 1000)",
        ]
        metadata["intervention"] = masked.intervention.map { "\($0)" }
        metadata["vendor"] = entry.record.vendor.map { "\($0)" }
        metadata["route"] = entry.record.route.map { "\($0)" }
        metadata["failure"] = entry.record.failure.map { "\($0)" }
        metadata["reason"] = masked.reason.map { "\($0)" }
        logger.info("exchange", metadata: metadata)
    }
}
