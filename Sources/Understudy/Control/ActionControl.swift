import Emulation
import HTTPTypes
import JSON
import Wire

/// Performing actions on a vendor's state that no client requests.
extension ControlAPI {
    @Sendable static func listActions(_ call: ControlCall) throws(ControlProblem) -> Answer {
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
        return .ready(.json(["actions": .array(actions)]))
    }

    @Sendable static func act(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        let vendor = call.emulator.vendors[index]
        let action = call.parameters["action"]
        guard vendor.actions.contains(where: { $0.name == action }) else {
            let hint = Nearest.hint(to: action, among: vendor.actions.map(\.name))
            throw ControlProblem(.notFound, "no-such-action", "\(vendor.identity.id) has no action \(action)\(hint)")
        }
        let members = call.request.body.isEmpty ? [:] : try call.object()
        // Off the event loop: an action may read a million events, and others should not wait for it.
        return .deferred {
            await call.sandbox.whileUsed {
                let outcome = await call.emulator.readings.run {
                    Result { () throws(ActionRefusal) in
                        try call.sandbox.vendor(index).perform(action, members, in: call.sandbox, by: call.selector)
                    }
                }
                do throws(ActionRefusal) {
                    return .json(try outcome.get())
                } catch {
                    return ControlProblem(.badRequest, error.code, error.description).response
                }
            }
        }
    }
}
