import Emulation
import JSON
import Wire

/// Making calls fail, once or repeatedly.
extension ControlAPI {
    /// ours: every fault is checked for every call.
    private static let mostFaults = 100

    @Sendable static func listFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(["faults": .array(call.sandbox.faults)]))
    }

    /// Replaces the armed faults with the one that the content describes, or with the list in its member `faults`.
    @Sendable static func setFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.object()
        var faults: [Fault] = []
        if let list = body["faults"] {
            guard let elements = list.array, body.count == 1 else {
                throw call.invalid("faults must be a list, and then the only member")
            }
            guard elements.count <= mostFaults else {
                throw call.invalid("there are \(elements.count) faults; at most \(mostFaults) can be armed")
            }
            for element in elements {
                guard let object = element.object else {
                    throw call.invalid("a fault is an object, not \(element.text)")
                }
                faults.append(try fault(object, call))
            }
        } else {
            faults = [try fault(body, call)]
        }
        call.sandbox.arm(faults)
        return try listFaults(call)
    }

    @Sendable static func clearFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.arm([])
        return .ready(.empty())
    }

    private static func fault(_ object: JSONObject, _ call: ControlCall) throws(ControlProblem) -> Fault {
        try call.check(object, Fault.members)
        let vendor = try vendor(object, call)
        return try call.read(.object(object)) { (node) throws(FixtureProblem) in
            try Fault(node, InterventionScope(vendor))
        }
    }

    /// The named vendor, or else the one that has the route.
    private static func vendor(_ object: JSONObject, _ call: ControlCall) throws(ControlProblem) -> any LoadedVendor {
        let vendors = call.emulator.vendors
        if let name = object["vendor"] { return vendors[try call.vendor(name.string ?? name.text, .badRequest)] }
        guard let route = object["route"] else {
            throw call.invalid(
                "route must name a route, such as addressbook.list, or vendor a vendor, for all its routes")
        }
        // The first route of a list determines the vendor; the others are then looked up there.
        guard let name = route.string ?? route[0]?.string else {
            throw call.invalid("route must name a route, such as addressbook.list, or be a list of names")
        }
        guard let owner = vendors.first(where: { InterventionScope($0).hasRoute(name) }) else {
            let known = vendors.flatMap { $0.routes.map(\.id) }
            throw call.invalid("no route is called \(name)\(Nearest.hint(to: name, among: known))")
        }
        return owner
    }
}
