package import Emulation
import JSON

/// Reading sandboxes that somebody names, and what becomes of files that cannot be read.
extension StateKeeper {
    /// Reads the file of a fresh sandbox, and sets it aside if it cannot be read.
    package func open(_ sandbox: Sandbox) throws(SandboxUnavailable) {
        // Read first: what was taken in an earlier tenure has to be taken again.
        let tenure = replica?.lease.tenure ?? 0
        let old = state.withLock { $0.places[sandbox.name] }
        // Whoever still writes an earlier one finishes first.
        old?.turn.wait()
        defer { old?.turn.signal() }
        var content = try find(sandbox)
        if content.isWritten { try read(into: sandbox, &content) }
        if content.wasInUse { counts.withLock { $0.takenOver += 1 } }
        let place = Place(content)
        sandbox.tenure = tenure
        state.withLock { $0.places[sandbox.name] = place }
        sandbox.takeChanges()
    }

    /// Looks for the file of a sandbox, which from now on belongs to this server.
    private func find(_ sandbox: Sandbox) throws(SandboxUnavailable) -> Place.Content {
        if let replica {
            let (claim, hasFile, wasInUse) = try replica.take(sandbox.name)
            return Place.Content(
                file: claim.file, claim: claim, isWritten: hasFile, wasInUse: wasInUse, sandbox: sandbox)
        }
        let files: [StateFolder.File]
        do {
            files = try folder.files(of: sandbox.name)
        } catch {
            throw SandboxUnavailable("The sandbox \(sandbox.name) cannot be read: \(folder.path): \(error).")
        }
        for stale in files.dropFirst() { folder.remove(stale) }
        let file = files.first ?? StateFolder.File(sandbox: sandbox.name, fence: 1)
        return Place.Content(file: file, isWritten: !files.isEmpty, sandbox: sandbox)
    }

    /// Reads a file that is there.
    private func read(into sandbox: Sandbox, _ content: inout Place.Content) throws(SandboxUnavailable) {
        let (salvage, file) = (Salvage(), content.file)
        content.isWritten = false
        do {
            let (bytes, changed) = try folder.content(of: file)
            let document = try KeptSandbox(bytes, of: file, settingAside: salvage)
            if let duration = try document.timeToLive(or: timeToLive),
                max(document.used, Moment(unixSeconds: changed)) + duration <= machine()
            {
                folder.remove(file)
                return
            }
            try sandbox.restore(document.kept)
            (content.isWritten, content.setAside) = (true, document.setAside)
            counts.withLock { $0.read += 1 }
        } catch {
            let path = setAside(file, because: "\(error)")
            if content.claim == nil {
                // The sandbox begins anew, under a number that the file never had.
                content.file = StateFolder.File(sandbox: file.sandbox, fence: file.fence + 1)
            } else if path == nil {
                // A claim has one number, and the file that cannot be moved is not to be replaced.
                throw SandboxUnavailable("The file \(file.name) cannot be read, and not be moved to set-aside.")
            }
        }
        note(salvage, of: sandbox, &content)
    }

    private func note(_ salvage: Salvage, of sandbox: Sandbox, _ content: inout Place.Content) {
        guard let audience = audience.withLock(\.self) else { return }
        let parts = salvage.parts.map { SetAsidePart($0, of: sandbox.name, secrets: audience.secrets()) }
        content.setAside += parts.map(\.json)
        audience.setAside.add(content.setAside)
        for part in parts { audience.logger?.warning("Set aside: \(part)") }
    }

    /// Moves a file out of the way.
    ///
    /// - Returns: its new path; `nil` if it stays where it is.
    private func setAside(_ file: StateFolder.File, because problem: String) -> String? {
        let place = folder.setAside(file)
        let told = "\(problem); the file is kept as \(place ?? file.name)"
        guard let audience = audience.withLock(\.self) else { return place }
        let part: JSON = [
            "sandbox": .string(file.sandbox), "vendor": nil, "record": "", "problem": .string(told), "value": nil,
        ]
        audience.setAside.add([part])
        audience.logger?.warning("Set aside: \(SetAsidePart(part))")
        return place
    }
}
