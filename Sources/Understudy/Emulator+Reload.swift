package import Emulation

extension Emulator {
    /// Reloads the fixtures and answers with them from then on.
    ///
    /// All are read and checked as at startup, and only then put in force at once: exchanges in progress finish with
    /// the old ones, and no answer mixes both. State is kept as ``Vendor/adopt(_:startedFrom:)`` describes; a scenario
    /// continues in the state of the same name, and ends if that is gone.
    ///
    /// - Throws: the first problem with them; the old ones then stay in force.
    package func reload(_ fixtures: FixtureStore) throws(FixtureProblem) {
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
        // A sandbox that was unused since the last reload still retains the fixtures before that. It is not moved to
        // the new ones here, so that exchanges in progress can finish: there are never more than two versions.
        for sandbox in sandboxes.all { sandbox.adoptLoadedVendors() }
        inForce.replace(with: loaded)
        var ended: Set<String> = []
        for sandbox in sandboxes.all { ended.formUnion(sandbox.replaceScenarios(loaded.scenario)) }
        reloads.succeed(with: loaded, at: machine())
        logger?.notice("The fixtures were reloaded: \(loaded.fingerprint).")
        for warning in loaded.layers.flatMap(\.warnings) { logger?.warning("\(warning)") }
        for name in ended.sorted() {
            logger?.warning("Scenario \(name) ended where it was active: it, or the state it was in, is gone.")
        }
    }

    /// Records that fixtures cannot be used.
    func refuse(_ problem: FixtureProblem) {
        reloads.fail(problem)
        logger?.error("The fixtures were not reloaded; the old ones stay active. \(problem)")
    }
}
