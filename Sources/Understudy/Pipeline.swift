import Emulation
package import HTTPEngine
import HTTPTypes
import JSON
import Logging
package import Wire

/// The path of every request from arrival to answer, which this file shows from top to bottom.
///
/// The engine calls ``admit(_:)`` for the head of a request with long content, and ``answer(_:)`` for a request. The
/// pipeline finds the sandbox and route; the sandbox's ``AnySandboxedVendor`` has the vendor authenticate, intervene,
/// authorize and handle, as `SandboxedVendor` shows; the result is awaited, recorded in the journal, and sent by the
/// engine.
///
/// A value without sockets: tests call ``answer(_:)`` just as the engine does.
package struct Pipeline: RequestHandler {
    /// The longest content in bytes when a route sets no limit.
    package static let standardBodyLimit = RouteListing.standardBodyLimit

    package enum Role: Sendable, Hashable {
        case everything
        /// Only vendors' calls; control calls have a listener of their own.
        case vendors
        case control(vendorPort: Int)
    }

    let emulator: Emulator
    private let role: Role
    private let control: ControlAPI
    /// By vendor and route, without those that fixtures describe.
    private let bodyLimits: [[Int]]
    /// The longest content that every route accepts.
    package let smallestBodyLimit: Int
    /// What any vendor masks; a path that no vendor owns may have been meant for any of them.
    private let unowned: VendorTraits

    package init(_ emulator: Emulator, as role: Role = .everything) {
        self.emulator = emulator
        self.role = role
        let vendorPort: Int? = if case .control(let port) = role { port } else { nil }
        control = ControlAPI(emulator, vendorPort: vendorPort)
        unowned = VendorTraits(secrets: emulator.vendors.reduce(into: []) { $0.formUnion($1.secrets) })
        bodyLimits = emulator.inForce.loaded.vendors.filter { $0.addedRoutes == nil }.map { vendor in
            vendor.routes.map { $0.bodyLimit ?? vendor.identity.bodyLimit ?? Self.standardBodyLimit }
        }
        smallestBodyLimit = bodyLimits.joined().min() ?? Self.standardBodyLimit
    }

    /// Where a request leads, determined once from its head.
    private enum Destination: Sendable {
        case control(SandboxSelection?, RouteTable.Match)
        case vendor(SandboxSelection?, RouteTable.Match)
        /// The request selects no sandbox.
        case nowhere(ControlProblem)
    }

    private func destination(of head: Request) -> Destination {
        do throws(ControlProblem) {
            let selection = try SandboxSelection.of(head)
            let request = selection?.request(head) ?? head
            if ControlAPI.owns(request) { return .control(selection, control.match(request)) }
            return .vendor(selection, emulator.routes.match(request.method, request.path))
        } catch {
            return .nowhere(error)
        }
    }

    /// How long a request's content may be, and who answers it.
    package func admit(_ head: Request) -> Admission {
        let destination = destination(of: head)
        let limit =
            switch destination {
            case .control(let selection, let match): control.bodyLimit(for: selection?.request(head) ?? head, at: match)
            case .vendor(_, .route(let vendor, let route, _)) where vendor < bodyLimits.count:
                bodyLimits[vendor][route]
            case .vendor, .nowhere: Self.standardBodyLimit
            }
        return Admission(bodyLimit: limit) { answer($0, at: destination, Stopwatch()) }
    }

    package func answer(_ request: Request) -> Answer {
        let watch = Stopwatch()
        return answer(request, at: destination(of: request), watch)
    }

    private func answer(_ request: Request, at destination: consuming Destination, _ watch: Stopwatch) -> Answer {
        if role != .everything, let misplaced = misplaced(request, at: destination) { return misplaced }
        switch consume destination {
        case .control(let selection, let match):
            let name = selection?.name ?? SandboxName.standard
            return control.answer(
                selection?.request(request) ?? request, at: match, in: name, by: selection?.selector ?? .none)
        case .vendor(nil, let match): return exchange(request, at: match, in: SandboxName.standard, watch)
        case .vendor(let selection?, let match):
            return exchange(selection.request(request), at: match, in: selection.name, by: selection.selector, watch)
        case .nowhere(let problem): return refuse(request, problem, Measurement(watch: watch))
        }
    }

    /// The answer to a call that this listener does not accept; no journal records it.
    private func misplaced(_ request: Request, at destination: borrowing Destination) -> Answer? {
        let isControl =
            switch destination {
            case .control: true
            case .vendor: false
            case .nowhere: ControlAPI.owns(request)
            }
        guard isControl != (role != .vendors) else { return nil }
        let problem =
            isControl
            ? ControlProblem(.notFound, "no-control-here", "Control calls go to the port that --control-port names.")
            : ControlProblem(
                .notFound, "no-vendor-here", "This port takes control calls; the vendors listen on another port.")
        var response = problem.response
        response.closeToPages()
        return .ready(response)
    }

    /// Logs what the engine refused before there was a request.
    package func noted(_ note: EngineNote) { emulator.logger?.notice("\(note)") }

    package func willServe(_ occupancy: ServerOccupancy) {
        // Only connections of the vendors' clients count.
        if case .control = role { return }
        emulator.metrics.observe(occupancy)
    }

    /// Refuses a request that selects no sandbox; unless it is a control call, it is recorded in the standard one.
    private func refuse(_ request: Request, _ problem: ControlProblem, _ measurement: Measurement) -> Answer {
        let exchange = emulator.sandboxes.standard.beginExchange(request)
        var record = ExchangeRecord(unowned)
        record.reason = problem.message
        record.mayBeMistyped = false
        var response = problem.response.masked(by: emulator.sandboxes.standard.redactor)
        response.closeToPages()
        if request.path.firstRange(of: ControlOperation.prefix) != nil { return .ready(response) }
        return .ready(finish(exchange, response, record, measurement))
    }

    /// What the metrics need at the end of an exchange.
    private struct Measurement {
        let watch: Stopwatch
        /// Whether the exchange begins for the second time.
        var isRepeated = false
        var place = ExchangeLabel()
    }

    private func exchange(
        _ request: Request, at match: RouteTable.Match, in name: String, by selector: SandboxSelector = .none,
        _ watch: Stopwatch
    ) -> Answer {
        if let sandbox = emulator.sandboxes.ready(name) {
            return exchange(request, at: match, in: sandbox, by: selector, watch)
        }
        return .deferred { await emulator.fetching(name) { exchange(request, at: match, in: $0, by: selector, watch) } }
    }

    private func exchange(
        _ request: Request, at match: RouteTable.Match, in sandbox: Sandbox, by selector: SandboxSelector = .none,
        _ watch: Stopwatch, isRepeated: Bool = false
    ) -> Answer {
        let exchange = sandbox.beginExchange(request, by: emulator.placed(selector, of: request, in: sandbox))
        var measurement = Measurement(watch: watch, isRepeated: isRepeated)
        guard let vendor = match.vendor else {
            var record = ExchangeRecord(unowned)
            record.reason = "no vendor owns this path"
            return .ready(finish(exchange, Self.noVendor, record, measurement))
        }
        measurement.place.vendor = vendor
        if case .route(_, let route, _) = match { measurement.place.route = route }
        return advance(exchange, sandbox.vendor(vendor).answer(exchange, at: match), measurement)
    }

    /// The refusal of a path that no one answers. ours: no vendor is involved.
    private static let noVendor = ControlProblem(
        .notFound, "no-vendor", "No vendor owns this path; the journal names the nearest routes."
    ).response

    package func response(to request: Request) async -> Response { await Emulator.response(of: answer(request)) }

    /// The answer of a vendor to a request in a sandbox, whatever sandbox the request selects, once it is available.
    func vendorResponse(to request: Request, in sandbox: Sandbox) async -> Response {
        await Emulator.response(
            of: exchange(request, at: emulator.routes.match(request.method, request.path), in: sandbox, Stopwatch()))
    }

    // What an exchange leaves behind has a dozen parts, so it is moved, not copied.
    private func advance(_ exchange: Exchange, _ step: consuming ExchangeStep, _ measurement: Measurement) -> Answer {
        switch consume step {
        case .finished(let response, let record):
            // Not in a `where` clause, which would copy the parts first.
            guard emulator.sandboxes.mayAnswer(in: exchange.sandbox) else {
                return .deferred { await confirm(exchange, response, record, measurement) }
            }
            return .ready(finish(exchange, response, record, measurement))
        case .moved: return .deferred { await again(exchange, measurement) }
        case let unfinished:
            return .deferred { await exchange.sandbox.whileUsed { await wait(exchange, unfinished, measurement) } }
        }
    }

    private func wait(_ exchange: Exchange, _ first: ExchangeStep, _ measurement: Measurement) async -> Response {
        var step = first
        while true {
            switch step {
            case .finished(let response, let record): return await confirm(exchange, response, record, measurement)
            case .moved: return await again(exchange, measurement)
            case .waiting(let job): step = await job()
            case .fetching(let request, let then):
                step = then(await fetch(request, in: exchange.sandbox))
            }
        }
    }

    private func confirm(
        _ exchange: Exchange, _ response: Response, _ record: ExchangeRecord, _ measurement: Measurement
    ) async -> Response {
        await emulator.confirmed(in: exchange.sandbox) {
            finish(exchange, response, record, measurement)
        } or: {
            await again(exchange, measurement)
        }
    }

    /// Repeats an exchange whose sandbox was handed over before anything that counts was done.
    private func again(_ exchange: Exchange, _ measurement: Measurement) async -> Response {
        let (request, name) = (exchange.request, exchange.sandbox.name)
        // ours: only once; a sandbox that moves again at once is better requested elsewhere.
        guard !measurement.isRepeated else { return Emulator.moving(name) }
        return await emulator.fetching(name) { sandbox in
            self.exchange(
                request, at: emulator.routes.match(request.method, request.path), in: sandbox, by: exchange.selector,
                measurement.watch, isRepeated: true)
        }
    }

    private func finish(
        _ exchange: Exchange, _ answer: Response, _ record: consuming ExchangeRecord, _ measurement: Measurement
    ) -> Response {
        var response = answer
        // A vendor's answer is changed only for requests that may come from a frame.
        if exchange.request.mayBeForFrame { response.refuseFrames() }
        if !exchange.isMachineTime { response.date = exchange.moment.wholeSeconds }
        let (failure, parts) = (record.failure, record.parts)
        if record.route == nil, record.mayBeMistyped { record.guide = emulator.routes.guide }
        var entry = JournalEntry(
            sandbox: exchange.sandbox.name, moment: exchange.moment, request: exchange.request, response: response,
            record: record)
        let metrics = emulator.metrics
        let label = metrics.label(at: measurement.place, status: response.status.code, failure: failure)
        let id = exchange.sandbox.journal.append(entry, meeting: metrics.marks(of: label))
        if let parts { note(parts, exchange, measurement) }
        metrics.count(label, after: measurement.watch)
        if let record = emulator.recorder {
            entry.id = id ?? 0
            record(MaskedExchange(entry, by: exchange.sandbox.redactor).json(routes: emulator.routes))
        }
        if let logger = emulator.logger, logger.logLevel <= .info {
            log(entry, id, MaskedExchange(entry, by: exchange.sandbox.redactor), measurement.watch, logger)
        }
        return response
    }

    private func note(_ parts: ExchangeParts, _ exchange: Exchange, _ measurement: Measurement) {
        for part in parts.refused {
            let label = emulator.metrics.label(at: measurement.place, status: 0, failure: part.failure)
            exchange.sandbox.journal.meet(emulator.metrics.marks(of: label).failure)
        }
    }

    private func log(
        _ entry: JournalEntry, _ id: Int?, _ masked: MaskedExchange, _ watch: Stopwatch, _ logger: Logger
    ) {
        var metadata: Logger.Metadata = [
            "sandbox": "\(masked.sandbox)", "method": "\(entry.request.method.rawValue)",
            "path": "\(masked.path)", "status": "\(entry.response.status.code)",
            "duration_ms": "\(Double(watch.elapsedNanoseconds / 1000) / 1000)",
        ]
        metadata["entry"] = id.map { "\($0)" }
        metadata["intervention"] = masked.intervention.map { "\($0)" }
        metadata["vendor"] = entry.record.vendor.map { "\($0)" }
        metadata["route"] = entry.record.route.map { "\($0)" }
        metadata["failure"] = entry.record.failure.map { "\($0)" }
        metadata["reason"] = masked.reason.map { "\($0)" }
        metadata["note"] = masked.note.map { "\($0)" }
        logger.info("exchange", metadata: metadata)
    }
}

extension HTTPField.Name {
    static let sandbox = Self("X-Understudy-Sandbox") ?? .from
}

/// Which sandbox a request selects.
///
/// Path prefix `/~NAME/`, else header `X-Understudy-Sandbox`, else host `NAME.localhost`, else the standard one.
struct SandboxSelection {
    let name: String
    let selector: SandboxSelector
    /// The target without the prefix; `nil` when it has none.
    let target: String?

    /// What the head of a request selects; `nil` when it names no sandbox, which is the usual case and copies nothing.
    static func of(_ request: Request) throws(ControlProblem) -> SandboxSelection? {
        let prefix = request.targetBegins(with: "/~") ? prefixName(request.target) : nil
        let header = request.fields[.sandbox]
        let host = hostName(request.authority)
        guard let name = prefix ?? header ?? host else { return nil }
        let others = [header, host].compactMap { $0 }.filter { $0 != name }
        if let other = others.first {
            throw ControlProblem(
                .badRequest, "sandbox-conflict", "The request names the sandboxes \(name) and \(other).")
        }
        guard SandboxName.isValid(name) else { throw invalid(name) }
        guard let prefix else {
            return SandboxSelection(name: name, selector: SandboxSelector(header == nil ? .host : .field), target: nil)
        }
        let rest = request.target.dropFirst(2 + prefix.count)
        return SandboxSelection(
            name: name, selector: SandboxSelector(.path), target: rest.hasPrefix("/") ? String(rest) : "/" + rest)
    }

    func request(_ request: Request) -> Request {
        guard let target else { return request }
        var request = request
        request.target = target
        return request
    }

    static func invalid(_ name: String) -> ControlProblem {
        ControlProblem(
            .badRequest, "sandbox-name-invalid", "“\(name)” is not a sandbox name: 1 to 63 of a-z, 0-9 and hyphen.")
    }

    /// The name after the two characters of the prefix.
    private static func prefixName(_ target: String) -> String {
        String(target.dropFirst(2).prefix { $0 != "/" && $0 != "?" })
    }

    /// The label before `.localhost`; the port is ignored.
    private static func hostName(_ authority: String?) -> String? {
        guard let authority else { return nil }
        // Compared as bytes: nearly every host differs, and this runs for each request.
        let length = authority.utf8.withContiguousStorageIfAvailable(nameLength) ?? nameLength(Array(authority.utf8))
        return length.map { String(Substring(authority.utf8.prefix($0)).lowercased()) }
    }

    /// The length in bytes of the label before `.localhost`, if there is one.
    private static func nameLength(_ authority: some RandomAccessCollection<UInt8>) -> Int? {
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        let domain: StaticString = ".localhost"
        let length = host.count - domain.utf8CodeUnitCount
        guard length > 0 else { return nil }
        let isLocal = domain.withUTF8Buffer { host.dropFirst(length).elementsEqual($0) { $0 | 0x20 == $1 | 0x20 } }
        return isLocal ? length : nil
    }
}

extension Emulator {
    /// How a request names its sandbox; with the address that it was sent to, where the sandbox's base follows that and
    /// control calls would accept its host.
    ///
    /// - Parameter port: that of the vendors; `nil` for that of the request.
    func placed(
        _ selector: SandboxSelector, of request: Request, at port: Int? = nil, in sandbox: Sandbox
    ) -> SandboxSelector {
        guard sandbox.identity.publicBase.followsRequests, controlAccess.isOwn(request.authority ?? ""),
            let origin = request.origin(port: port), sandbox.isReached(at: origin)
        else { return selector }
        return SandboxSelector(selector.form, at: origin)
    }
}
