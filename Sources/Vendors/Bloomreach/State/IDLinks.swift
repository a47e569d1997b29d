import Emulation
import JSON
import Wire

/// Linking hard ids to a cookie. Source: observed, both SDKs.
extension Bloomreach {
    /// Links hard ids to the customer of the path's cookie, as a write with all of them would.
    static func linkIDs(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let value = try call.body {
            $0.value("external_ids", isRequired: true, expecting: "an object of ids") { $0 } ?? .null
        }
        var ids = try call.ids(value, of: "external_ids")
        // A cookie in the body is ignored: the path names it.
        ids.cookie = nil
        guard !ids.isEmpty else {
            throw .invalidField("external_ids", because: "external_ids holds no hard id; expected at least one")
        }
        ids.cookie = call.parameters["cookie"]
        // The token's ids are compared with the external ids (ours): nothing else names the customer.
        ids = try call.bind(ids, isWrite: true)
        let project = try call.project().token
        let placement = try state.customers(of: call.project()).placement(of: ids)
        state.settle(placement, in: project)
        return .json(["success": true])
    }
}
