import Emulation
import JSON

extension Okta {
    /// What administrators do with trusted origins (ours, in place of their management API).
    static let originActions: [VendorAction<Okta>] = [
        VendorAction(
            "trusted-origin", about: "Registers an origin from which browsers may call, changes or removes it.",
            members: [
                ActionMember("origin", "scheme, host and port, as in http://localhost:3000", isRequired: true),
                ActionMember("cors", "whether it may make calls; true"),
                ActionMember("remove", "true removes it"),
            ], body: changeTrustedOrigin)
    ]

    @Sendable private static func changeTrustedOrigin(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        let (text, allowsCORS, isRemoved) = try call.read { reader in
            (reader.text("origin"), reader.bool("cors") ?? true, reader.bool("remove") ?? false)
        }
        let origin = OktaTrustedOrigin(text, allowsCORS: allowsCORS)
        guard text.contains("://"), OktaAddress(text).map({ $0.path.text == "/" }) ?? true else {
            throw ActionRefusal("origin is \(text); expected scheme, host and port, such as http://localhost:3000")
        }
        if isRemoved {
            guard state.trustedOrigins[origin.origin] != nil else {
                let hint = Nearest.hint(to: origin.origin, among: state.trustedOrigins.all.map(\.origin))
                throw ActionRefusal("\(origin.origin) is not a trusted origin\(hint)")
            }
            state.trustedOrigins.remove(origin.key)
        } else {
            state.trustedOrigins.add(origin, within: OktaTrustedOrigin.bound)
        }
        return ["origins": .array(state.trustedOrigins.all.map { $0.json(.whole) })]
    }
}
