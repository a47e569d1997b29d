import Emulation
import JSON
import Wire

/// Arming documented failures for single calls.
extension ControlAPI {
    static let faultOperations: [ControlOperation] = [
        ControlOperation(
            "faults.list", .get, "/faults", "The armed faults.", gives: .json("The armed faults.", .faults),
            handler: listFaults),
        ControlOperation(
            "faults.set", .put, "/faults", "Replaces the armed faults.", content: .required(NamedSchema.faultContent),
            gives: .json("The armed faults.", .faults), handler: setFaults),
        ControlOperation(
            "faults.clear", .delete, "/faults", "Disarms all faults.", gives: .done, handler: clearFaults),
    ]

    @Sendable static func listFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(["faults": .array(call.sandbox.faults.map(\.json))]))
    }

    /// Replaces the armed faults by the one that the content describes, or by the list in its member `faults`.
    @Sendable static func setFaults(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("faults", "vendor", "route", "call", "fail")
        var faults: [ArmedFault] = []
        if let list = body["faults"] {
            guard let elements = list.array, body.count == 1 else {
                throw call.invalid("faults must be a list, and then the only member")
            }
            for element in elements {
                guard let object = element.object else {
                    throw call.invalid("a fault is an object, not \(element.text)")
                }
                try call.check(object, ["vendor", "route", "call", "fail"])
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

    private static func fault(_ object: JSONObject, _ call: ControlCall) throws(ControlProblem) -> ArmedFault {
        guard let route = object["route"]?.string else {
            throw call.invalid("route must name a route, such as addressbook.list")
        }
        let vendor = try vendor(of: route, named: object["vendor"], call)
        guard let failure = object["fail"]?.string else {
            throw call.invalid("fail must name a failure of \(vendor.identity.id)")
        }
        let failures = vendor.failures.map(\.name)
        guard failures.contains(failure) else {
            throw call.invalid(
                "\(vendor.identity.id) has no failure \(failure)\(Nearest.hint(to: failure, among: failures))")
        }
        let number = object["call"] ?? 1
        guard let count = number.int, count > 0 else {
            throw call.invalid("call is \(number.text); expected a whole number from 1")
        }
        return ArmedFault(vendor: vendor.identity.id, route: route, call: count, failure: failure)
    }

    /// The vendor that has the route; `vendor` decides where several have one of that id.
    private static func vendor(
        of route: String, named name: JSON?, _ call: ControlCall
    ) throws(ControlProblem) -> any MountedVendor {
        let candidates = call.emulator.vendors.filter { name == nil || $0.identity.id == name?.string }
        if let name, candidates.isEmpty {
            let id = name.string ?? name.text
            let hint = Nearest.hint(to: id, among: call.emulator.vendors.map(\.identity.id))
            throw call.invalid("no vendor is called \(id)\(hint)")
        }
        guard let vendor = candidates.first(where: { $0.routes.contains { $0.id == route } }) else {
            let known = candidates.flatMap { $0.routes.map(\.id) }
            throw call.invalid("no route is called \(route)\(Nearest.hint(to: route, among: known))")
        }
        return vendor
    }
}
