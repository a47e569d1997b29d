public import Emulation

extension Emulator {
    /// Reads the fixtures anew and answers by them from then on.
    ///
    /// All are read and checked as at the start, and only then put in force at once: what has begun finishes by the old
    /// ones, and every answer is wholly by the one or by the other. State is lost as little as ``Vendor/adopt(_:startedFrom:)``
    /// says; a scenario goes on in the state of the same name, and ends where that is gone.
    ///
    /// - Throws: the first thing that is wrong with them; then the old ones stay in force.
    public func reload(_ fixtures: FixtureStore) throws(FixtureProblem) {
        let loaded: LoadedVendors
        do {
            loaded = try LoadedVendors(of: loaders, fixtures: fixtures)
        } catch {
            refuse(error)
            throw error
        }
        install(loaded)
    }

    /// Answers with other vendors from now on.
    func install(_ loaded: LoadedVendors) {
        // A sandbox that nobody has used since the last time still keeps the fixtures of before. Not moved on to these ones
        // here, so that what has begun in it can finish: there are never more than two readings.
        for sandbox in sandboxes.all { sandbox.adoptLoadedVendors() }
        inForce.replace(with: loaded)
        var ended: Set<String> = []
        for sandbox in sandboxes.all { ended.formUnion(sandbox.replaceScenarios(loaded.scenario)) }
        reloads.succeed(with: loaded, at: machine())
        logger?.notice("The fixtures were read anew: \(loaded.fingerprint).")
        for warning in loaded.layers.flatMap(\.warnings) { logger?.warning("\(warning)") }
        for name in ended.sorted() {
            logger?.warning("Scenario \(name) ended where it was active: it, or the state it was in, is gone.")
        }
    }

    /// Notes that fixtures cannot be used.
    func refuse(_ problem: FixtureProblem) {
        reloads.fail(problem)
        logger?.error("The fixtures were not read anew, and the old ones stay in force. \(problem)")
    }
}
