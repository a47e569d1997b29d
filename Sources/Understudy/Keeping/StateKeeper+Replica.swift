import Emulation

/// What a replica does for the others, and for itself after its lease has lapsed.
extension StateKeeper {
    /// Looks whether others ask for sandboxes, and whether the lease counts.
    func serveOthers() {
        guard let replica else { return }
        if !replica.lease.isValid { renewTenure(of: replica) }
        if state.withLock({ $0.settledTenure }) != replica.lease.tenure { takeAgain(replica) }
        handOverWanted(replica)
    }

    /// Begins a new session. Others may count the old one as gone, so whatever belongs to it has to be taken again.
    private func renewTenure(of replica: Replica) {
        restoreFolder()
        do {
            try replica.lease.begin()
        } catch {
            settle("the replica \(replica.name) cannot show in \(folder.path) that it is alive: \(error)")
            return
        }
        counts.withLock { $0.lapses += 1 }
        audience.withLock(\.self)?.logger?.warning(
            "The replica \(replica.name) could not show for a second that it is alive; it takes its sandboxes again.")
        settle(nil)
    }

    /// Takes the sandboxes of earlier tenures again, as they are in memory, and abandons those that others had
    /// meanwhile.
    private func takeAgain(_ replica: Replica) {
        let tenure = replica.lease.tenure
        var isComplete = true
        let (places, isAnew) = state.withLock { (Array($0.places.values), $0.isAnew) }
        for place in places {
            place.turn.wait()
            let content = place.content.withLock(\.self)
            guard let sandbox = content.sandbox, let claim = content.claim, sandbox.tenure != tenure else {
                place.turn.signal()
                continue
            }
            do throws(SandboxUnavailable) {
                let taken = try replica.retake(claim, isAnew: isAnew)
                if let taken {
                    place.content.withLock {
                        ($0.claim, $0.file, $0.isWritten) = (taken.claim, taken.claim.file, taken.hasFile)
                    }
                    sandbox.tenure = tenure
                }
                place.turn.signal()
                if taken == nil { abandon(sandbox, at: place) }
            } catch {
                place.turn.signal()
                isComplete = false
            }
        }
        if isComplete { state.withLock { ($0.settledTenure, $0.isAnew) = (tenure, false) } }
    }

    private func abandon(_ sandbox: Sandbox, at place: Place) {
        state.withLock { state in
            if state.places[sandbox.name] === place { state.places[sandbox.name] = nil }
        }
        let audience = audience.withLock(\.self)
        audience?.directory.abandon(sandbox)
        audience?.logger?.notice("Another replica has taken the sandbox \(sandbox.name) over.")
    }

    private func handOverWanted(_ replica: Replica) {
        let wanted = replica.wanted
        guard !wanted.isEmpty, let directory = audience.withLock(\.self)?.directory else { return }
        let places = state.withLock { state in wanted.map { (name: $0, place: state.places[$0]) } }
        directory.handOver(places.compactMap { $0.place?.content.withLock { $0.sandbox } })
        for (name, place) in places where state.withLock({ $0.places[name] }) == nil {
            // One that is just being opened stays wanted until it is.
            guard place != nil || !replica.owns(name) else { continue }
            replica.fulfil(name)
            if place != nil { counts.withLock { $0.handedOver += 1 } }
        }
    }
}
