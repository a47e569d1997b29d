import JSON
import Tokens

public enum KeyDrill: String, Sendable, CaseIterable {
    case overlap
    case retire
    case replace
    case sameKID = "same-kid"
    case `break`
    case repair

    /// Whether it needs an unused key pair.
    package var needsPair: Bool {
        switch self {
        case .overlap, .replace, .sameKID: true
        case .retire, .break, .repair: false
        }
    }

    package var about: String {
        switch self {
        case .overlap: "Another key signs; the old one stays published."
        case .retire: "The old key leaves the published set."
        case .replace: "Another key signs, and the old ones leave at once."
        case .sameKID: "Another key signs under the name of the old one."
        case .break: "Requests for the published keys get an error."
        case .repair: "Requests for the published keys get the keys again."
        }
    }
}

extension VendorAction {
    /// Rotates or breaks the keys of an issuer, with its spare pairs: an action cannot wait for a new one.
    ///
    /// - Parameter noun: the vendor's word for an issuer of keys.
    package static func drillKeys(of noun: String) -> VendorAction {
        VendorAction(
            "drill-keys", about: "Rotates or breaks the keys of one \(noun).",
            members: [
                ActionMember("issuer", "name of the \(noun)", isRequired: true),
                ActionMember(
                    "drill",
                    KeyDrill.allCases.map(\.rawValue).joined(separator: ", ") + "; without a spare pair only those "
                        + "that need none", isRequired: true),
            ]
        ) { (call, state) throws(ActionRefusal) in
            let (name, text) = (try call.required("issuer"), try call.required("drill"))
            guard let drill = KeyDrill(rawValue: text) else {
                let hint = Nearest.hint(to: text, among: KeyDrill.allCases.map(\.rawValue))
                throw ActionRefusal("no drill is called \(text)\(hint)")
            }
            let issuers = call.vendor.issuers(in: state)
            guard var keys = issuers.first(where: { $0.name == name }) else {
                let hint = Nearest.hint(to: name, among: issuers.map(\.name))
                throw ActionRefusal("no \(noun) is called \(name)\(hint)")
            }
            guard keys.perform(drill, with: nil, call.identifiers) else {
                throw ActionRefusal(
                    "\(name) has no spare pair; the call keys/\(V.identity.id)/\(name)/\(text) waits for a new one")
            }
            call.vendor.store(keys, in: &state)
            return ["issuer": .string(name), "kids": .array(keys.published.map { JSON($0.key.id) })]
        }
    }
}
