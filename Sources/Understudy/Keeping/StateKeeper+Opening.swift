package import Emulation
import JSON

/// Reading sandboxes that somebody names, and what becomes of rows that cannot be read.
extension StateKeeper {
    /// Claims a fresh sandbox, and reads its rows.
    package func open(_ sandbox: Sandbox) throws(SandboxUnavailable) {
        if isLeaving.load(ordering: .relaxed) {
            throw SandboxUnavailable("This server is stopping, and has given its sandboxes to others; repeat the call.")
        }
        // Read first: what was claimed before a lapse may be another server's after it.
        let lapse = lapses.load(ordering: .acquiring)
        let old = state.withLock { $0.places[sandbox.name] }
        // Whoever still writes an earlier one finishes first.
        old?.turn.wait()
        defer { old?.turn.signal() }
        let place = Place(try claim(sandbox))
        state.withLock { $0.places[sandbox.name] = place }
        guard lapse == lapses.load(ordering: .acquiring) else {
            state.withLock { $0.places[sandbox.name] = nil }
            throw .lapsed
        }
        sandbox.takeChanges()
        // The next numbers of entries are reserved, and whatever differs from its stored form is rewritten.
        if place.content.withLock({ !$0.ledger.isEmpty }) {
            sandbox.returnChanges()
            changed(sandbox)
        }
    }

    /// Claims a fresh sandbox for this server, and restores it from its rows.
    private func claim(_ sandbox: Sandbox) throws(SandboxUnavailable) -> Place.Content {
        var claiming: StoreClaiming
        do throws(StoreProblem) {
            if let problem = deleteRemoved(sandbox.name) { throw problem }
            claiming = try store.claim(sandbox.name)
            if case .claimed(let claim, _, let expires?, _) = claiming, expires <= machine() {
                _ = try store.delete(claim)
                claiming = try store.claim(sandbox.name)
            }
        } catch {
            throw SandboxUnavailable(
                "The sandbox \(sandbox.name) cannot be read: \(error).",
                news: { try? await Task.sleep(for: .milliseconds(100)) })
        }
        switch claiming {
        case .claimed(let claim, let rows, _, let wasHeld):
            var content = Place.Content(claim: claim, wasHeld: wasHeld, ledger: StateLedger(rows), sandbox: sandbox)
            read(rows, into: sandbox, &content)
            return content
        case .held(let owner):
            throw SandboxUnavailable(
                "The sandbox \(sandbox.name) belongs to the replica \(owner), which has yet to give it up.",
                news: { try? await Task.sleep(for: .milliseconds(20)) })
        }
    }

    private func read(_ rows: [StateRow], into sandbox: Sandbox, _ content: inout Place.Content) {
        defer { sandbox.beginRows(&content.ledger, setAside: content.setAside) }
        if rows.isEmpty { return }
        let (salvage, secrets) = (Salvage(), audience.withLock { $0?.secrets() ?? [] })
        var parts: [SetAsidePart] = []
        let document = StateRow.document(of: rows) { row in
            let text = JSON.string(String(decoding: row.document, as: UTF8.self))
            let path = "kept.\(row.name.part.replacing("/", with: "."))"
            let part = Salvage.Part(path: path, problem: "\(path): is not JSON", value: text)
            parts.append(SetAsidePart(part, of: sandbox.name, secrets: secrets))
        }
        do {
            let root = FixtureNode(["kept": document], from: store.place, settingAside: salvage)
            let kept = try root.mapping("kept").required("kept").mapping(Sandbox.keptMembers)
            for part in try kept["set_aside"]?.elements() ?? [] { content.setAside.append(try part.verbatim()) }
            try sandbox.restore(kept)
            counts.withLock { $0.read += 1 }
        } catch {
            let part = Salvage.Part(path: "kept", problem: "\(error)", value: document)
            parts.append(SetAsidePart(part, of: sandbox.name, secrets: secrets))
        }
        if content.wasHeld { counts.withLock { $0.takenOver += 1 } }
        parts += salvage.parts.map { SetAsidePart($0, of: sandbox.name, secrets: secrets) }
        content.setAside += parts.map(\.json)
        guard let audience = audience.withLock(\.self) else { return }
        audience.setAside.add(content.setAside)
        for part in parts { audience.logger?.warning("Set aside: \(part)") }
    }

    /// Drops a sandbox that another server owns by now: it stops answering at once.
    func abandon(_ sandbox: Sandbox) {
        sandbox.lose()
        if let place = place(of: sandbox) {
            state.withLock { if $0.places[sandbox.name] === place { $0.places[sandbox.name] = nil } }
        }
        let audience = audience.withLock(\.self)
        audience?.logger?.notice("Another replica has taken over the sandbox \(sandbox.name).")
        // Whoever opens or hands over a sandbox of this place may wait for what called this.
        queue.async { audience?.directory?.abandon(sandbox) }
    }
}

extension StateKeeper: StoreMember {
    package func wanted(_ sandboxes: [String]) {
        guard let directory = audience.withLock({ $0?.directory }) else { return }
        let places = state.withLock { state in sandboxes.map { (name: $0, place: state.places[$0]) } }
        directory.handOver(places.compactMap { $0.place?.content.withLock { $0.sandbox } })
        for (name, place) in places {
            if place != nil, state.withLock({ $0.places[name] }) == nil { counts.withLock { $0.handedOver += 1 } }
        }
    }

    package func regained(_ held: [String: Int]) {
        lapses.add(1, ordering: .acquiringAndReleasing)
        counts.withLock { $0.lapses += 1 }
        audience.withLock { $0?.logger }?.warning(
            "The replica \(store.replica ?? "") could not renew its lease for a second, and checks which sandboxes are still its own."
        )
        for place in state.withLock({ Array($0.places.values) }) {
            let (claim, sandbox) = place.content.withLock { ($0.claim, $0.sandbox) }
            if held[claim.sandbox] != claim.epoch, let sandbox { abandon(sandbox) }
        }
    }

    package func told(_ problem: StoreProblem?) {
        state.withLock { $0.lapse = problem }
        tellHealth()
        if let problem { audience.withLock { $0?.logger }?.error("\(problem).") }
    }
}
