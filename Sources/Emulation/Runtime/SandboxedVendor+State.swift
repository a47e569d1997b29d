public import JSON
public import Synchronization
import Tokens
import Wire

/// The state under its lock, and the actions on it.
extension SandboxedVendor {
    // Read under the lock: with a copy of the state around, the next change would copy all of it.
    @usableFromInline
    func secrets(since mark: SecretMark?) -> (texts: [String], mark: SecretMark)? {
        content.withLock { content in
            let ledgers = content.loaded.vendor.secrets(in: content.state)
            // Their numbers are those of one count.
            let now = SecretMark(era: content.live.era, number: ledgers.reduce(0) { max($0, $1.latest) })
            if now == mark { return nil }
            let last = mark?.era == now.era ? mark?.number ?? 0 : 0
            return (ledgers.flatMap { $0.texts(after: last) }, now)
        }
    }

    /// Notes a change of the state, while its lock is held.
    @inlinable
    func noteChange(_ content: inout Content) {
        content.isChanged = true
        changes.set()
        countUploads(in: &content)
    }

    @inlinable
    func countUploads(in content: inout Content) {
        guard let bytes = content.loaded.vendor.uploads(in: content.state), bytes != content.countedUploads else {
            return
        }
        vendors.uploads.add(bytes - content.countedUploads)
        content.countedUploads = bytes
    }

    /// The state with its loaded, which is the one in force or a later one.
    func snapshot() -> Content {
        let loaded = loaded
        return content.withLock { content in
            _ = content.catchUp(with: loaded)
            return content
        }
    }

    /// That loaded, or a later one if the state has moved on.
    func latest(_ loaded: LoadedVendor<V>) -> LoadedVendor<V> {
        content.withLock { $0.loaded.generation > loaded.generation ? $0.loaded : loaded }
    }

    @inlinable
    func authenticationContext(at loaded: LoadedVendor<V>) -> V.AuthenticationContext {
        // The compiler decides this for each vendor.
        if let nothing = () as? V.AuthenticationContext { return nothing }
        return content.withLock { content in
            if content.loaded !== loaded { _ = content.catchUp(with: loaded) }
            return content.loaded.vendor.authenticationContext(in: content.state)
        }
    }

    /// Changes the state as the vendor of that loaded or a later one.
    func change<Value: Sendable>(
        at loaded: LoadedVendor<V>, _ change: (LoadedVendor<V>, inout V.State) -> Value
    ) -> Value {
        content.withLock { content in
            _ = content.catchUp(with: loaded)
            defer {
                content.lookAhead()
                noteChange(&content)
            }
            return change(content.loaded, &content.state)
        }
    }

    /// Replaces the state with one from the vendor of that loaded; the old state's sockets are closed.
    func replace(_ state: V.State, madeAt loaded: LoadedVendor<V>) {
        let replaced = content.withLock { content in
            let (latest, replaced) = (content.loaded, content.state)
            content.live.clear(WebSocketClosure(.goingAway, reason: "the state was replaced"))
            (content.loaded, content.state) = (loaded, state)
            _ = content.catchUp(with: latest)
            // Set even if unchanged, since the clock may be another one too.
            content.live.name(content.loaded.vendor.nextDeadline(in: content.state))
            content.isChanged = true
            countUploads(in: &content)
            changes.setAnew()
            return replaced
        }
        // Destroyed after unlocking: a million records take a while.
        withExtendedLifetime(replaced) {}
    }

    @usableFromInline
    func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox, by selector: SandboxSelector
    ) throws(ControlRefusal) -> JSON {
        try perform(action, members, as: loaded, at: sandbox.now, sandbox.identifiers, by: selector)
    }

    /// Performs an action as the vendor of that loaded or a later one; under the lock, unless it only reads.
    func perform(
        _ name: String, _ members: JSONObject, as loaded: LoadedVendor<V>, at moment: Moment,
        _ identifiers: IdentifierSource, by selector: SandboxSelector
    ) throws(ControlRefusal) -> JSON {
        let switches = switches
        let action = try ControlRefusal.require(
            V.actions.first(where: { $0.listing.name == name }), "\(V.identity.id) has no action", name,
            among: V.actions.map(\.listing.name))
        if let problem = action.listing.problem(with: members.map(\.name)) { throw ControlRefusal(problem) }
        let order = { [sandbox] (vendor: V) in
            ActionCall<V>(
                vendor: vendor, members: members, moment: moment, identifiers: identifiers, switches: switches,
                sandbox: sandbox, selector: selector)
        }
        switch action.work {
        case .reads(let body):
            let (vendor, state) = content.withLock { content in
                content.prepare(for: moment, at: loaded, identifiers, switches)
                return (content.loaded.vendor, content.state)
            }
            return try body(order(vendor), state)
        case .changes(let body):
            return try content.withLock { (content) throws(ControlRefusal) in
                content.prepare(for: moment, at: loaded, identifiers, switches)
                var outbox = Outbox()
                let vendor = content.loaded.vendor
                let full = vendor.fullCopy(of: content.state, among: vendors.uploads)
                let told = try body(order(vendor), &content.state, &outbox)
                if let full, let reason = vendor.undo(&content.state, since: full, among: vendors.uploads) {
                    throw ControlRefusal(reason)
                }
                content.settle(&outbox, isRefused: false, at: moment)
                content.lookAhead()
                noteChange(&content)
                return told
            }
        }
    }
}

/// Export, import and reset of the state.
extension SandboxedVendor {
    @usableFromInline
    func export(_ extent: StateExtent) -> JSON? {
        let content = snapshot()
        return content.loaded.vendor.export(content.state, extent)
    }

    @usableFromInline
    func write(to rows: RowWriter) {
        let loaded = loaded
        let whole = content.withLock { content -> Content? in
            _ = content.catchUp(with: loaded)
            if rows.pass == .changes, !content.isChanged { return nil }
            if rows.pass != .marking { content.isChanged = false }
            guard rows.pass == .everything else {
                content.loaded.vendor.write(&content.state, to: rows)
                return nil
            }
            // A large state is written outside the lock, and from here on its tables note what changes.
            content.loaded.vendor.write(&content.state, to: RowWriter(.marking))
            return content
        }
        guard let whole else { return }
        var state = whole.state
        whole.loaded.vendor.write(&state, to: rows)
    }

    @usableFromInline
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void {
        let content = snapshot()
        let vendor = content.loaded.vendor
        let state = try vendor.state(importing: node, extent, over: content.state)
        let (size, most) = (vendor.size(of: state), StateSize.most)
        // What a store has was within the bound, or one call beyond it.
        guard extent == .changes || size.records <= most.records && size.bytes <= most.bytes else {
            throw node.problem(
                "it has \(size.records) records of \(size.bytes) bytes besides the fixtures; at most \(most.records) of "
                    + "\(most.bytes) are kept")
        }
        // What a store has comes back whole.
        let uploads = vendors.uploads.bytes - content.countedUploads + (vendor.uploads(in: state) ?? 0)
        guard extent == .changes || uploads <= max(UploadTotal.most, vendors.uploads.bytes) else {
            throw node.problem(
                "with it the uploads of all sandboxes have \(uploads) bytes; at most \(UploadTotal.most) are kept")
        }
        return { self.replace(state, madeAt: content.loaded) }
    }

    @usableFromInline
    func reset() {
        let loaded = loaded
        replace(loaded.vendor.state(afterResetting: snapshot().state), madeAt: loaded)
    }
}

/// Minting and explaining tokens.
extension SandboxedVendor {
    @usableFromInline
    func mint(
        _ order: MintRequest, at moment: Moment, by selector: SandboxSelector, _ identifiers: IdentifierSource
    ) throws(ControlRefusal) -> MintedToken {
        let content = snapshot()
        let vendor = content.loaded.vendor
        let setting = TokenSetting<V>(
            state: content.state, moment: moment, switches: switches, sandbox: sandbox, selector: selector,
            identifiers: identifiers)
        let own = V.tokenKinds.first { $0.name == order.kind }?.defects ?? []
        // A defect of the vendor's own may only show with the request, such as another customer's path.
        guard let defect = order.members["defect"]?.string, !own.contains(defect) else {
            return MintedToken(token: try vendor.mint(order.kind, order.members, in: setting))
        }
        try Self.check(defect, of: order, own)
        let minted = try vendor.mint(order.kind, order.members, in: setting)
        var members = order.members
        members["defect"] = nil
        let sound = try vendor.mint(order.kind, members, in: setting)
        func marks(_ token: String) -> [String] {
            var findings = Findings<V.Failure>()
            _ = vendor.explain(token, knowing: [:], in: setting, &findings)
            return findings.all.map {
                "\($0.check) \($0.outcome) \($0.found == nil || $0.found == .absent) \($0.note ?? "")"
            }
        }
        if marks(minted) != marks(sound) { return MintedToken(token: minted) }
        // A test with such a token would prove nothing.
        throw ControlRefusal(
            "the defect \(defect) changes nothing in this token of kind \(order.kind): \(V.identity.title) finds the same "
                + "without it")
    }

    private static func check(_ defect: String, of order: MintRequest, _ own: [String]) throws(ControlRefusal) {
        do throws(MintError) {
            _ = try Defect(named: defect)
        } catch {
            let hint = Nearest.hint(to: defect, among: own + Defect.names)
            throw ControlRefusal("a token of kind \(order.kind) has no defect \(defect)\(hint)")
        }
    }

    @usableFromInline
    func explain(_ token: String, knowing context: JSONObject, at moment: Moment) -> TokenExplanation {
        let (content, switches) = (snapshot(), switches)
        var findings = Findings<V.Failure>()
        let (kind, account) = content.loaded.vendor.explain(
            token, knowing: context,
            in: TokenSetting(state: content.state, moment: moment, switches: switches, sandbox: sandbox), &findings)
        let (catalog, values) = (loaded.catalog, switchValues)
        let response = findings.refusal.map {
            catalog.response($0.failure, $0.parameters, route: nil, switches: values)
        }
        let compact = CompactToken(token)
        let settings = content.loaded.vendor.checkerSettings(in: content.state, switches)
        return TokenExplanation(
            vendor: V.identity.id, kind: kind, account: account, failure: findings.failure?.rawValue,
            response: response, findings: findings.all,
            clients: V.checkers.map { ($0.name, $0.verdict(on: compact, at: moment, settings)) })
    }
}

// Sockets and deadlines: changes to a state without a request.
extension SandboxedVendor.Content {
    /// Finishes a vendor's work on the state by sending its messages to sockets.
    ///
    /// - Parameter isRefused: whether to discard the messages.
    @usableFromInline
    mutating func settle(_ outbox: inout Outbox, isRefused: Bool, at moment: Moment) {
        let cause = isRefused ? nil : FrameCause()
        if let cause { live.registry.commit(outbox, from: nil, at: moment, because: cause) }
        outbox = Outbox()
        outbox.cause = cause
    }

    /// Reads the deadline that the vendor names now, and updates the alarm.
    @inlinable
    mutating func lookAhead() {
        let deadline = loaded.vendor.nextDeadline(in: state)
        if deadline != live.named { live.name(deadline) }
    }

    /// Brings the state to a moment, using the vendor of that loaded or a later one.
    mutating func prepare(
        for moment: Moment, at loaded: LoadedVendor<V>, _ identifiers: IdentifierSource, _ switches: V.Switches
    ) {
        _ = catchUp(with: loaded)
        passDeadlines(until: moment, identifiers, switches)
    }

    @usableFromInline
    mutating func passDeadlines(until moment: Moment, _ identifiers: IdentifierSource, _ switches: V.Switches) {
        // ours: a vendor with endless successive deadlines must not block access to the state.
        for _ in 0..<1000 {
            guard let deadline = live.armed, deadline <= moment else { return }
            let vendor = loaded.vendor
            var call = DeadlineCall(
                vendor: vendor, deadline: deadline, moment: moment, identifiers: identifiers, switches: switches)
            vendor.deadlinePassed(&call, &state)
            live.registry.commit(call.outbox, from: nil, at: moment)
            let next = vendor.nextDeadline(in: state)
            live.named = next
            // A deadline that does not advance would stay due forever; it counts again once the vendor names another.
            live.arm(next.flatMap { $0 > deadline ? $0 : nil })
        }
    }
}

extension SandboxedVendor {
    @usableFromInline
    func passDeadlines(in sandbox: Sandbox) {
        let (switches, loaded) = (switches, loaded)
        content.withLock { content in
            _ = content.catchUp(with: loaded)
            content.lookAhead()
            guard content.live.armed != nil, !content.isSealed else { return }
            content.passDeadlines(until: sandbox.now, sandbox.identifiers, switches)
            content.live.arm(content.live.armed)
            noteChange(&content)
        }
    }

    @usableFromInline
    func end() { content.withLock { $0.live.end() } }

    @usableFromInline
    func seal() {
        content.withLock { content in
            content.live.end()
            content.isSealed = true
        }
    }

    @usableFromInline
    func unseal() {
        content.withLock { content in
            content.isSealed = false
            content.live.resume()
            content.live.name(content.loaded.vendor.nextDeadline(in: content.state))
        }
    }
}

extension SandboxedVendor {
    /// Registers a socket whose handshake was answered, and lets the vendor greet it.
    func open(_ socket: WebSocket, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            guard connection.era == content.live.era, !content.live.isOver else {
                return socket.close(WebSocketClosure(.goingAway, reason: "the sandbox was reset"))
            }
            content.live.registry.add(socket, OpenSocket(topics: connection.opening.topics, log: connection.log))
            content.loaded.vendor.socketOpened(&call, &content.state)
            connection.log.noted(call.notes)
            content.live.registry.commit(call.outbox, from: socket, at: call.moment)
        }
    }

    func receive(_ message: WebSocketMessage, on socket: WebSocket, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            // The message may cross the server's own close.
            guard content.live.registry.sockets[socket]?.isClosing == false else { return }
            content.loaded.vendor.socketReceived(message, &call, &content.state)
            connection.log.received(message, call.notes, at: call.moment)
            content.live.registry.commit(call.outbox, from: socket, at: call.moment)
        }
    }

    func forget(_ socket: WebSocket, _ closure: WebSocketClosure, _ connection: SocketConnection<V>) {
        work(connection) { content, call in
            connection.log.closed(closure, at: call.moment)
            guard content.live.registry.remove(socket) != nil else { return }
            content.loaded.vendor.socketClosed(closure, &call, &content.state)
            connection.log.noted(call.notes)
            content.live.registry.commit(call.outbox, from: nil, at: call.moment)
        }
    }

    private func work(_ connection: SocketConnection<V>, _ work: (inout Content, inout SocketCall<V>) -> Void) {
        let (switches, identifiers, loaded) = (switches, connection.sandbox.identifiers, loaded)
        content.withLock { content in
            guard !content.isSealed else { return }
            _ = content.catchUp(with: loaded)
            // Read under the lock, so that moments follow the order of events.
            let moment = connection.sandbox.now
            content.passDeadlines(until: moment, identifiers, switches)
            var call = SocketCall<V>(
                vendor: content.loaded.vendor, label: connection.opening.label, moment: moment,
                identifiers: identifiers, switches: switches)
            work(&content, &call)
            content.lookAhead()
            noteChange(&content)
        }
    }
}
