import Emulation
import HTTPTypes
import JSON
import Wire

/// Making calls fail, once or repeatedly.
extension ControlAPI {
    /// ours: every fault is checked for every call.
    private static let mostFaults = 100

    static func listFaults(_ call: ControlCall) -> Answer { .json(["faults": .array(call.sandbox.faults)]) }

    /// Replaces the armed faults with the one that the content describes, or with the list in its member `faults`.
    static func setFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.object()
        var faults: [Fault] = []
        if let elements = try onlyList("faults", in: body) {
            guard elements.count <= mostFaults else {
                throw .invalid("there are \(elements.count) faults; at most \(mostFaults) can be armed")
            }
            for element in elements {
                guard let object = element.object else { throw .invalid("a fault is an object, not \(element.text)") }
                faults.append(try fault(object, call))
            }
        } else {
            faults = [try fault(body, call)]
        }
        call.sandbox.arm(faults)
        return listFaults(call)
    }

    static func clearFaults(_ call: ControlCall) -> Answer {
        call.sandbox.arm([])
        return .ready(.empty())
    }

    /// The list of that name, beside which there may be no other member; `nil` if there is none.
    private static func onlyList(_ name: String, in body: JSONObject) throws(ControlProblem) -> [JSON]? {
        guard let list = body[name] else { return nil }
        guard let elements = list.array, body.count == 1 else {
            throw .invalid("\(name) must be a list, and the only member")
        }
        return elements
    }

    private static func fault(_ object: JSONObject, _ call: ControlCall) throws(ControlProblem) -> Fault {
        try call.check(object, Fault.members)
        let vendor = try vendor(object, call)
        return try call.read(.object(object)) { (node) throws(FixtureProblem) in
            try Fault(node, InterventionScope(vendor))
        }
    }

    /// The named vendor, or else the one that has the route.
    private static func vendor(_ object: JSONObject, _ call: ControlCall) throws(ControlProblem) -> any AnyLoadedVendor
    {
        let vendors = call.emulator.vendors
        if let index = try call.namedVendor(object, .badRequest) { return vendors[index] }
        guard let route = object["route"] else {
            throw .invalid("route must name a route, such as addressbook.list, or vendor a vendor, for all its routes")
        }
        // The first route of a list determines the vendor; the others are then looked up there.
        guard let name = route.string ?? route[0]?.string else {
            throw .invalid("route must name a route, such as addressbook.list, or be a list of names")
        }
        guard let owner = vendors.first(where: { InterventionScope($0).hasRoute(name) }) else {
            throw .unknown("no route is called", name, among: vendors.flatMap { $0.routes.map(\.id) })
        }
        return owner
    }
}

/// Activating scenarios, and reading their current states.
extension ControlAPI {
    static func listScenarios(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let hasRules = try call.query.read { $0.flag("rules") } ?? false
        let available = call.emulator.scenarios.map { scenario -> JSON in
            var json: JSONObject = [
                "scenario": .string(scenario.name), "vendor": .string(scenario.vendor),
                "about": .string(scenario.about), "states": .array(scenario.stateNames.map(JSON.string)),
            ]
            if hasRules { json["rules"] = .array(scenario.rules) }
            return .object(json)
        }
        return .json(["active": .array(call.sandbox.activeScenarios), "available": .array(available)])
    }

    /// Activates the scenario that the content names, or those in the list of its member `scenarios`, the first one
    /// first.
    static func setScenarios(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("scenario", "state", "scenarios").object
        var chosen: [(scenario: Scenario, state: Int)] = []
        if let elements = try onlyList("scenarios", in: body) {
            for element in elements { chosen.append(try scenario(element, call)) }
        } else {
            chosen = [try scenario(.object(body), call)]
        }
        for (index, (scenario, _)) in chosen.enumerated() where chosen[..<index].contains(where: { $0.0 === scenario })
        {
            throw .invalid("scenario \(scenario.name) occurs twice")
        }
        call.sandbox.activate(chosen)
        return try listScenarios(call)
    }

    static func clearScenarios(_ call: ControlCall) -> Answer {
        call.sandbox.activate([])
        return .ready(.empty())
    }

    /// A name, or an object with `scenario` and optionally the `state` to start in.
    private static func scenario(
        _ value: JSON, _ call: ControlCall
    ) throws(ControlProblem) -> (scenario: Scenario, state: Int) {
        if let object = value.object { try call.check(object, ["scenario", "state"]) }
        guard let name = value.string ?? value["scenario"]?.string else {
            throw .invalid("scenario must name a scenario")
        }
        guard let scenario = call.emulator.scenario(name) else {
            throw .unknown("no scenario is called", name, among: call.emulator.scenarios.map(\.name))
        }
        guard let state = value["state"] else { return (scenario, 0) }
        let place = try ControlProblem.place(
            of: state.string ?? state.text, among: scenario.stateNames, "scenario \(name) has no state")
        return (scenario, place)
    }
}

/// Performing actions on a vendor's state that no client requests.
extension ControlAPI {
    static func listActions(_ call: ControlCall) -> Answer {
        let actions = call.emulator.vendors.flatMap { vendor in
            vendor.actions.map { action -> JSON in
                let members = action.members.map { member -> JSON in
                    [
                        "name": .string(member.name), "about": .string(member.about),
                        "required": .bool(member.isRequired),
                    ]
                }
                return [
                    "vendor": .string(vendor.identity.id), "action": .string(action.name),
                    "about": .string(action.about), "members": .array(members),
                ]
            }
        }
        return .json(["actions": .array(actions)])
    }

    static func act(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        let vendor = call.emulator.vendors[index]
        let action = call.parameters["action"]
        _ = try ControlProblem.place(
            of: action, among: vendor.actions.map(\.name), "\(vendor.identity.id) has no action", .notFound,
            "no-such-action")
        let members = call.request.body.isEmpty ? [:] : try call.object()
        // Off the event loop: an action may read a million events, and others should not wait for it.
        return .deferred {
            await call.sandbox.whileUsed {
                await call.emulator.readings.run {
                    do throws(ControlRefusal) {
                        return .json(
                            try call.sandbox.vendor(index).perform(action, members, in: call.sandbox, by: call.selector)
                        )
                    } catch {
                        return ControlProblem.invalid(error.description).response
                    }
                }
            }
        }
    }
}
