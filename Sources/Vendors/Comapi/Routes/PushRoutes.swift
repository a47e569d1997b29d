import Emulation
import JSON
import Wire

/// The push registration of a device. Source: observed, all SDKs.
enum ComapiRegistration {
    /// Reads a registration: exactly one of `fcm` and `apns`, with all its members.
    static func read(_ value: JSON) throws(ComapiRefusal) -> JSON {
        guard let object = value.object else {
            throw Comapi.refusal("push", "is a JSON \(value.typeName), not an object")
        }
        let found = kinds.filter { object.present($0.name) != nil }
        guard found.count == 1, let kind = found.first, let registration = object[kind.name]?.object else {
            throw Comapi.refusal("push", "has \(found.count) of fcm and apns; expected exactly one, an object")
        }
        var kept = JSONObject()
        for name in kind.members {
            guard let text = registration[name]?.string, !text.utf8.isEmpty, text.utf8.count <= 4096 else {
                throw Comapi.refusal("push", "has no usable \(kind.name).\(name); expected a text of 1 to 4096 bytes")
            }
            if name == "environment", text != "development", text != "production" {
                throw Comapi.refusal(
                    "push", "has the environment \(text.prefix(40)); expected development or production")
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
    static func registerPush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let registration = try ComapiRegistration.read(.object(try call.body().object))
        let session = try ownSession(call, state)
        state.sessions.register(registration, for: session.id)
        return .empty(.ok)
    }

    static func removePush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        state.sessions.register(nil, for: try ownSession(call, state).id)
        return .empty()
    }

    /// A state to pass to Facebook's messenger: any new text. Source: observed, all SDKs; quoted is inferred.
    static func stateForFacebook(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        _ = try call.body()
        return .json(.string(call.identifiers.uuid()))
    }
}

/// The data of a push besides its alert.
///
/// Source: that a client calls a URL from the push with GET and no token once the user has opened it: JS SDK 1.3,
/// Android SDK 1.4. The URL, its place in the push's data and the response are ours.
enum ComapiPush {
    /// The URL to call when a push is opened.
    static func url(of push: String, _ occasion: ComapiOccasion) -> String {
        "\(occasion.base)/apispaces/\(ComapiPath.encoded(occasion.space.id.text))/pushes/\(push)/click"
    }

    /// The data of a push: the link that the sender put into the alert, plus the tracking URL.
    static func data(of alert: JSON, tracking url: String) -> JSON {
        let given = alert["platforms"]?["fcm"]?["data"]?["dd_deepLink"]?.string
        var link = given.flatMap { (try? JSON.parse($0.utf8))?.object } ?? [:]
        link["trackingUrl"] = .string(url)
        return ["dd_deepLink": .string(JSON.object(link).text)]
    }
}

extension Comapi {
    /// Records that a push was opened. The URL is the secret, so no token is required.
    static func clickPush(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let id = call.parameters["push"]
        try Refused.require(
            state[call.space.id].noteClick(ofPush: id, at: call.moment), .unknownPush,
            "no push of the space has the id \(id); expected one of the state's list pushes, which has the newest "
                + "\(ComapiSpaceState.pushCapacity)")
        return .empty(.ok)
    }
}
