import ArgumentParser
import Emulation
import Understudy

struct ScenarioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A scenario to activate in the sandbox “default” at the start; may be repeated, in order of priority.",
            discussion: "understudy routes --scenarios lists them.", valueName: "scenario"),
        completion: .scenarios)
    var scenario: [String] = []

    /// Activates them in the default sandbox; a reset activates them again.
    func activate(in emulator: Emulator, _ sources: OptionSources) throws {
        var scenarios: [Scenario] = []
        for name in try sources.texts("scenario", flags: scenario) {
            guard let scenario = emulator.scenario(name) else {
                let hint = Nearest.hint(to: name, among: emulator.scenarios.map(\.name))
                let origin = scenario.isEmpty ? " (named by UNDERSTUDY_SCENARIO or the configuration file)" : ""
                throw Misuse("no scenario is called \(name)\(hint)\(origin).")
            }
            guard !scenarios.contains(where: { $0 === scenario }) else {
                throw Misuse("scenario \(name) is named twice.")
            }
            scenarios.append(scenario)
        }
        emulator.sandboxes.activateInitially(scenarios)
    }
}
