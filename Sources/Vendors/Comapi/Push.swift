import Emulation
import JSON
import Wire

/// Where a device gets its pushes. Source: observed, all SDKs.
enum ComapiRegistration {
    /// Reads a registration: exactly one of `fcm` and `apns`, complete.
    static func read(_ value: JSON) throws(ComapiRefusal) -> JSON {
        guard let object = value.object else {
            throw ComapiFaults.invalid("push", because: "is a JSON \(value.typeName), not an object")
        }
        let members = ComapiMembers(object)
        let found = kinds.filter { members[$0.name] != nil }
        guard found.count == 1, let kind = found.first, let registration = members[kind.name]?.object else {
            throw ComapiFaults.invalid("push", because: "needs exactly one object of fcm and apns")
        }
        var kept = JSONObject()
        for name in kind.members {
            guard let text = registration[name]?.string, !text.utf8.isEmpty, text.utf8.count <= 4096 else {
                throw ComapiFaults.invalid("push", because: "has no text \(kind.name).\(name)")
            }
            if name == "environment", text != "development", text != "production" {
                throw ComapiFaults.invalid("push", because: "has the environment \(text.prefix(40))")
            }
            kept.append(name, .string(text))
        }
        return .object(JSONObject([(kind.name, .object(kept))]))
    }

    private static let kinds = [
        (name: "fcm", members: ["package", "registrationId"]),
        (name: "apns", members: ["bundleId", "environment", "token"]),
    ]
}

extension Comapi {
    static func registerPush(_ call: inout ComapiCall, _ state: inout ComapiState) throws(ComapiRefusal) -> Reply {
        let body = try call.bodyObject()
        let registration = try ComapiRegistration.read(.object(body.object))
        let session = try ownSession(call, state)
        state.sessions.register(registration, for: session.id)
        return .empty(.ok)
    }

    static func removePush(_ call: inout ComapiCall, _ state: inout ComapiState) throws(ComapiRefusal) -> Reply {
        state.sessions.register(nil, for: try ownSession(call, state).id)
        return .empty()
    }

    /// A state that the app hands to Facebook's messenger: any fresh text. Source: observed, all SDKs; quoted is inferred.
    static func stateForFacebook(_ call: inout ComapiCall, _ state: inout ComapiState) throws(ComapiRefusal) -> Reply {
        _ = try call.bodyObject()
        return .json(.string(call.identifiers.uuid()))
    }
}
