import Emulation
import JSON
import Wire

/// The self-check of an app's push setup. Source: documented (seed), members observed in both SDKs.
extension Bloomreach {
    /// Takes the order for a push notification, which never comes: there is nobody to deliver it.
    static func sendSelfCheck(
        _ call: inout BloomreachCall, _ state: inout BloomreachState
    ) throws(BloomreachRefusal) -> Reply {
        let body = try call.bodyObject()
        let ids = try call.customerIDs(of: body)
        let push = try body.requiredText("push_notification_id")
        let platform = try body.requiredText("platform")
        guard ["ios", "android", "huawei"].contains(platform) else {
            throw .invalidField(
                "platform", because: "platform is \(platform.shown); expected ios, android or huawei")
        }
        let application = try body.text("application_id")
        let owner = try call.bind(ids)
        let check: JSON = [
            "customer_ids": owner.json, "push_notification_id": .string(push), "platform": .string(platform),
            "application_id": JSON(application), "timestamp": .seconds(call.moment.unixSeconds),
        ]
        let project = try call.project().token
        call.note(state.counting(project) { $0.change(project) { $0.add(selfCheck: check) } })
        return .json(["success": true])
    }
}
