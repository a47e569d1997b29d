import Emulation
import JSON
import Wire

/// Activating scenarios, and reading their current states.
extension ControlAPI {
    @Sendable static func listScenarios(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let hasRules = try call.query.read { $0.flag("rules") } ?? false
        let available = call.emulator.scenarios.map { scenario -> JSON in
            var json: JSONObject = [
                "scenario": .string(scenario.name), "vendor": .string(scenario.vendor),
                "about": .string(scenario.about), "states": .array(scenario.stateNames.map(JSON.string)),
            ]
            if hasRules { json["rules"] = .array(scenario.rules) }
            return .object(json)
        }
        return .ready(
            .json(["active": .array(call.sandbox.activeScenarios), "available": .array(available)]))
    }

    /// Activates the scenario that the content names, or those in the list of its member `scenarios`, the first one
    /// first.
    @Sendable static func setScenarios(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("scenario", "state", "scenarios").object
        var chosen: [(scenario: Scenario, state: Int)] = []
        if let list = body["scenarios"] {
            guard let elements = list.array, body.count == 1 else {
                throw call.invalid("scenarios must be a list, and then the only member")
            }
            for element in elements { chosen.append(try scenario(element, call)) }
        } else {
            chosen = [try scenario(.object(body), call)]
        }
        for (index, (scenario, _)) in chosen.enumerated() where chosen[..<index].contains(where: { $0.0 === scenario })
        {
            throw call.invalid("scenario \(scenario.name) occurs twice")
        }
        call.sandbox.activate(chosen)
        return try listScenarios(call)
    }

    @Sendable static func clearScenarios(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.activate([])
        return .ready(.empty())
    }

    /// A name, or an object with `scenario` and optionally the `state` to start in.
    private static func scenario(
        _ value: JSON, _ call: ControlCall
    ) throws(ControlProblem) -> (scenario: Scenario, state: Int) {
        if let object = value.object { try call.check(object, ["scenario", "state"]) }
        guard let name = value.string ?? value["scenario"]?.string else {
            throw call.invalid("scenario must name a scenario")
        }
        guard let scenario = call.emulator.scenario(name) else {
            let hint = Nearest.hint(to: name, among: call.emulator.scenarios.map(\.name))
            throw call.invalid("no scenario is called \(name)\(hint)")
        }
        guard let state = value["state"] else { return (scenario, 0) }
        let stateName = state.string ?? state.text
        guard let index = scenario.stateNames.firstIndex(of: stateName) else {
            let hint = Nearest.hint(to: stateName, among: scenario.stateNames)
            throw call.invalid("scenario \(name) has no state \(stateName)\(hint)")
        }
        return (scenario, index)
    }
}
