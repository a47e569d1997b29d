import JSON
import Tokens

public enum KeyDrill: String, Sendable, CaseIterable {
    case overlap
    case retire
    case replace
    case sameKID = "same-kid"
    case `break`
    case repair

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
            let drill = try ActionRefusal.require(
                KeyDrill(rawValue: text), "no drill is called", text, among: KeyDrill.allCases.map(\.rawValue))
            let issuers = call.vendor.issuers(in: state)
            var keys = try ActionRefusal.require(
                issuers.first(where: { $0.name == name }), "no \(noun) is called", name, among: issuers.map(\.name))
            try ActionRefusal.require(
                keys.perform(drill, with: nil, call.identifiers),
                "\(name) has no spare pair; the call keys/\(V.identity.id)/\(name)/\(text) waits for a new one")
            call.vendor.store(keys, in: &state)
            return ["issuer": .string(name), "kids": .array(keys.published.map { JSON($0.key.id) })]
        }
    }
}
